// Package metadata defines the nouns of a repository, and the contract of the store that keeps
// their records. The contract contains everything that an engine implements, and no rule of the
// repository. Package metadatatest tests implementations.
//
// A store runs a function over a [Tx]: a struct of tables, each a [Table] with the finders of its
// indexes. A table keeps its indexes consistent and knows no rule. So permissions, conflicts and
// cascades are implemented only once, in package repository.
package metadata

import (
	"context"
	"io"
	"time"
)

// Reader reads the tables in transactions.
//
// The function of a transaction may run in another goroutine. It may be restarted as long as it has
// read nothing. It must not use the Tx after it returns and must not start another transaction. It
// may keep the rows, which are copies, except those of Resources.Page, which are borrowed.
type Reader interface {
	// View runs fn in a read transaction: one consistent state, which may contain commits that are
	// not yet on stable storage.
	View(ctx context.Context, fn func(*Tx) error) error

	// ViewDurable is like View, but returns only when everything that fn could see is on stable
	// storage. It holds no transaction while it waits. If the data will never be on stable storage,
	// it returns ErrNotDurable, and the caller must discard the results of fn. Pages are read with
	// it, so that no page token names a stamp that a power cut can undo.
	ViewDurable(ctx context.Context, fn func(*Tx) error) error
}

// Writer changes the tables in transactions, one at a time. The rules of Reader for the function
// apply here, too.
type Writer interface {
	// Update runs fn in a write transaction and returns when the commit is on stable storage.
	// Several operations may share one commit. An fn that returns an error changes nothing, and
	// Update returns that error. fn may run more than once, and its first run may have no effect.
	// It should find all reasons to fail before its first write. Other errors: ErrNoSpace,
	// ErrUnwritable, ErrUnavailable, ErrReadOnly, ErrOutcomeUnknown, ErrClosed, or the context's
	// error if the context ends before a run with effect.
	Update(ctx context.Context, fn func(*Tx) error) error

	// UpdateBackground is like Update, for background work of a few milliseconds at a time. It
	// shares no commit with calls of Update. While such calls wait, it gets at most every other
	// commit and half of the time, but it never starves.
	UpdateBackground(ctx context.Context, fn func(*Tx) error) error
}

// Maintenance is the part of a metadata store for checks and backups.
type Maintenance interface {
	// Inspect verifies the store's own structures: pages, checksums of rows, indexes and stamps. It
	// calls report for each Violation of the parts PartPages and PartRows, in no particular order,
	// and repairs nothing. It returns an error if it cannot continue. Inspect is one long read
	// transaction. Meanwhile the space of replaced and removed rows is not reused, so the file may
	// grow.
	Inspect(ctx context.Context, report func(Violation)) error

	// Snapshot copies one consistent state, which is on stable storage, to a separate file. It
	// returns ErrNoSpace if the free space is insufficient, ErrNotDurable if the state will never
	// be on stable storage, ErrClosed, or the context's error.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Snapshot is a copy of a metadata store in the store's own format, to be read sequentially. The
// caller must close it, which removes it.
type Snapshot interface {
	io.ReadSeekCloser
	// Stamp returns the last stamp given out in the copied state.
	Stamp() Stamp
	// Bytes returns the length of the copy.
	Bytes() int64
}

// Versioned is the part of a metadata store for a cache of access rows.
type Versioned interface {
	// AccessVersion returns the version of the rows that decide permissions: users, keys except
	// LastUsed, sessions, privileges, dataspaces, sets, cascades. When an Update that changed one
	// of them returns, the version has grown, whether the commit succeeded or not. Versions start
	// above 0; 0 means that such a commit is in progress and the version is unknown. If several
	// processes share the tables, the version covers all of them; each call reads it, which can
	// fail.
	AccessVersion(ctx context.Context) (uint64, error)
}

// Transactions reads and changes the tables.
type Transactions interface {
	Reader
	Writer
}

// Store is a metadata store: typed tables in transactions, ordered listings, stamps. It knows no
// rule of the repository. Packages bolt and postgres implement it. Package metadatatest implements
// it in memory, for comparison. All pass the same test suite.
type Store interface {
	Transactions
	Versioned
	Maintenance

	// Secret returns the 32 random bytes, created once for this store, that authenticate page
	// tokens.
	Secret() [32]byte

	// Engine describes the engine of the store.
	Engine() Engine

	// Health returns the current state of the store.
	Health() Health

	// Close waits for running transactions and refuses new ones. It must not be called twice.
	Close() error
}

// Health is the state of a metadata store.
type Health struct {
	ReadOnly    error         // why the store accepts no changes; nil: it does
	ClockBehind time.Duration // how far the clock is behind the last stamp; 0: it is not
	Suspect     error         // a suspicious finding when the store was opened, for operators; nil: none
}
