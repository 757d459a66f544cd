// Package bolt implements metadata.Store in one bbolt file: package tables over the transactions of
// the file.
//
// # Writes
//
// One goroutine, the committer, performs all writes. It takes all queued operations, runs them in
// one transaction and commits. This is a group commit without added delay, since the next group
// gathers while this one is synced. An operation that returns an error before its first write does
// not affect the others of its group. After a later failure, the committer runs the others again
// without it, so an operation can run more than once. UpdateBackground has its own commits. While
// others write, the fair queue gives it at most every other commit and half of the time.
//
// A commit that fails with an I/O error makes the store read-only until it is opened again, since
// the kernel may have dropped pages that it could not write, and reports that only once. An error
// in the middle of a commit leaves the outcome open: ErrOutcomeUnknown. A full disk is different:
// the transaction is rolled back. bbolt shows a commit to readers before its last sync has
// returned; ViewDurable waits for that sync after its transaction has ended.
//
// # Access version
//
// The rows that decide permissions have a version. It grows when a commit that changes one of them
// has ended. It is 0 during such a commit, since readers see the commit before the writer gets an
// answer.
//
// # The file
//
// Each commit writes the list of free pages while it is short. After many deletions or a large load
// the list is long, and writing it costs more than the rest of a commit. Then commits omit it. The
// committer writes it after a second without changes, after a failed commit, and before the file is
// closed (freelist.go). If a crash leaves a file without the list, the next open reads the whole
// file twice: to check its pages, since a damaged page makes bbolt end the program, and to find the
// free ones.
//
// bbolt's options are a map for the free list, two seconds for the lock, and a large first mapping,
// except on Windows, where the file would grow to its size. Pages are filled completely in buckets
// that grow at their end. A new file is created under a temporary name and linked when it is
// complete.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// Store is an open file. It is safe for concurrent use.
type Store struct {
	db        *bbolt.DB
	path      string
	info      os.FileInfo // identifies the file
	file      *os.File    // the file that db reads and writes
	secret    [32]byte
	suspect   error // see metadata.Health
	upgraded  *Upgrade
	committer *committer
}

var _ metadata.Store = (*Store)(nil)

// Secret returns the 32 random bytes that were created with the file.
func (s *Store) Secret() [32]byte { return s.secret }

// Health reports whether the store accepts changes, how far the clock is behind, and whether the
// file was suspect when it was opened.
func (s *Store) Health() metadata.Health {
	h := s.committer.health()
	h.Suspect = s.suspect
	return h
}

// Close commits the queued changes and refuses new ones. Then it waits for the read transactions,
// closes the file and releases its lock.
func (s *Store) Close() error {
	s.committer.close()
	if s.committer.stuck {
		return fmt.Errorf("bolt: close: %w", metadata.ErrRecordDamaged)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("bolt: close: %w", err)
	}
	return nil
}

// View implements metadata.Store.
func (s *Store) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	_, err := s.read(ctx, func(_ *kv, t *tables.Tx) error { return fn(t.Contract()) })
	return err
}

// ViewDurable implements metadata.Store. bbolt shows a commit to readers before the last sync of
// the commit has returned, so ViewDurable waits until the committer has seen it return. This also
// applies if fn failed. If the state does not become durable, the caller must discard the result of
// fn.
func (s *Store) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	seen, err := s.read(ctx, func(_ *kv, t *tables.Tx) error { return fn(t.Contract()) })
	if seen == 0 {
		return err
	}
	if wait := s.committer.waitDurable(ctx, seen); wait != nil {
		return wait
	}
	return err
}

// Update implements metadata.Store. Stamps are taken in the transaction, so that their order is the
// order of the commits.
func (s *Store) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, fn, false)
}

// UpdateBackground implements metadata.Store.
func (s *Store) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, fn, true)
}

// read runs fn in a read transaction. It returns the id of the last commit that fn could see, or 0
// if fn did not run.
func (s *Store) read(ctx context.Context, fn func(*kv, *tables.Tx) error) (seen int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = catchFault(func() error {
		version := s.committer.access.Load()
		btx, err := s.db.Begin(false)
		if errors.Is(err, berrors.ErrDatabaseNotOpen) {
			err = metadata.ErrClosed
		}
		if err != nil {
			return fmt.Errorf("bolt: begin: %w", err)
		}
		defer func() { _ = btx.Rollback() }()
		seen = btx.ID()
		k := &kv{bolt: btx}
		t := tables.Read(k, s.committer.accessSince(version))
		if err := fn(k, t); err != nil {
			return err
		}
		return t.Failed()
	})
	return seen, err
}

// Stats is the state of a Store's file at one moment.
type Stats struct {
	Bytes     int64 // length of the file
	FreePages int64 // free, or free once the current transactions have ended
	PageSize  int64 // bytes
	Reading   int64 // current read transactions
}

// Stats returns the current state of the file.
func (s *Store) Stats() (Stats, error) {
	info, err := s.file.Stat()
	if err != nil {
		return Stats{}, err
	}
	counted := s.db.Stats()
	return Stats{
		Bytes: info.Size(), FreePages: int64(counted.FreePageN + counted.PendingPageN), PageSize: int64(s.db.Info().PageSize),
		Reading: int64(counted.OpenTxN),
	}, nil
}

// Engine implements metadata.Store. Only one process can use a file.
func (s *Store) Engine() metadata.Engine { return metadata.Engine{Name: "bolt", Schema: tables.Schema} }
