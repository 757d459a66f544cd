// Package metadata holds the nouns of a repository, and the contract of the store that keeps their
// records: all that an engine implements, and no rule of the repository. Package metadatatest
// proves an implementation.
//
// A store runs a function over a [Tx]: a struct of tables, each a [Table] with the finders of its
// indexes. A table keeps its indexes in line and knows no rule.
// Permissions, conflicts and cascades are therefore written once, in package repository, and an
// engine has none to get wrong.
package metadata

import (
	"context"
	"io"
	"time"
)

// Reader reads the tables in transactions.
//
// The function given to a transaction may run in another goroutine, and once more from its
// beginning before it has read anything. It must not use the Tx after it returns and must not start
// another transaction. The rows are copies that it may keep, except those of Resources.Page, which
// are borrowed.
type Reader interface {
	// View runs fn in a read transaction: one consistent state, which may hold commits that are not
	// yet on stable storage.
	View(ctx context.Context, fn func(*Tx) error) error

	// ViewDurable is View, and returns only when everything that fn could see is on stable storage.
	// It holds no transaction while it waits. It returns ErrNotDurable if that will not happen, and
	// then nothing of what fn returned. Pages are read with it, so that no page token ever names a
	// stamp that a power cut takes back.
	ViewDurable(ctx context.Context, fn func(*Tx) error) error
}

// Writer changes the tables in transactions, one at a time; what Reader says of the function holds
// here too.
type Writer interface {
	// Update runs fn in a write transaction and returns when the commit is on stable storage.
	// Several operations may share one commit. An fn that returns an error changes nothing, and
	// Update returns that error. fn may run more than once, the first time perhaps without any
	// effect, and should find all its reasons to fail before its first write. Other errors:
	// ErrNoSpace, ErrUnwritable, ErrUnavailable, ErrReadOnly, ErrOutcomeUnknown, ErrClosed, or the
	// context's if it ended before fn ran with effect.
	Update(ctx context.Context, fn func(*Tx) error) error

	// UpdateBackground is Update for work in the background, which should take a few milliseconds
	// at a time. It gives way to calls of Update, with which it shares no commit: while there are
	// any it gets at most every other commit and half of the time; it is never starved.
	UpdateBackground(ctx context.Context, fn func(*Tx) error) error
}

// Maintenance is what a metadata store offers beyond its rows for checks and backups.
type Maintenance interface {
	// Inspect verifies what only the store knows: its pages, the checksums of its rows, its indexes
	// and its stamps. It calls report for each Violation of the parts PartPages and PartRows, in no
	// particular order, and repairs nothing. An error says why it could not go on. It is one long
	// read transaction: while it runs, the space of replaced and removed rows is not reused, so the
	// file may grow.
	Inspect(ctx context.Context, report func(Violation)) error

	// Snapshot copies one consistent state, all of which is on stable storage, to a file of its
	// own. It returns ErrNoSpace if there is no room for that, ErrNotDurable if the state will
	// never be on stable storage, ErrClosed, or the context's error.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Snapshot is a copy of a metadata store, to be read from its beginning to its end, in a form of
// the store's own. The caller closes it; that removes it.
type Snapshot interface {
	io.ReadSeekCloser
	// Stamp returns the last stamp given out in the state that was copied.
	Stamp() Stamp
	// Bytes returns the length.
	Bytes() int64
}

// Versioned is what a metadata store offers to a cache of access rows.
type Versioned interface {
	// AccessVersion is the version of the rows that decide who may do what, and where: users, keys
	// except LastUsed, sessions, privileges, dataspaces, sets, cascades. It has grown when an
	// Update that changed one of them returns, whether the commit succeeded or not. It starts above
	// 0; 0 means that such a commit is under way and the version is unknown. Where several
	// processes share the tables it is that of all of them, read anew by each call, which can fail.
	AccessVersion(ctx context.Context) (uint64, error)
}

// Transactions reads and changes the tables.
type Transactions interface {
	Reader
	Writer
}

// Store is a metadata store: typed tables in transactions, ordered listings, stamps. It knows no
// rule of the repository. Packages bolt and postgres implement it for real, metadatatest in memory
// for comparison; all pass the same suite.
type Store interface {
	Transactions
	Versioned
	Maintenance

	// Secret returns the 32 random bytes, made once for this store, that authenticate page tokens.
	Secret() [32]byte

	// Engine says what the store is.
	Engine() Engine

	// Health returns the present state of the store.
	Health() Health

	// Close waits for running transactions and refuses others. It is not to be called twice.
	Close() error
}

// Health of a metadata store.
type Health struct {
	ReadOnly    error         // why no change is taken any more; nil while all is well
	ClockBehind time.Duration // how far the clock is behind the last stamp; 0 if it is not
	Suspect     error         // what was suspect when the store was opened, for operators; nil: nothing
}
