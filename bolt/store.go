// Package bolt implements metadata.Store in one bbolt file: package tables over the transactions of
// the file.
//
// # Writes
//
// All writes go through one goroutine, the committer. It takes whatever is queued, runs the
// operations in one transaction and commits: a group commit without added delay, since the next
// group gathers while this one is synced. With 32 writers that made 19,885 operations a second,
// against 1,907 with bbolt's Update on the same disk. An operation that refuses does not touch the
// others of its group. One that fails after its first write is taken out, and the others run again:
// an operation can run more than once. UpdateBackground has commits of its own. The fair queue
// gives it at most every other commit and half of the time while others write.
//
// A commit that fails with an I/O error makes the store read-only until it is opened again, since
// the kernel may have dropped what it could not write and reports that only once. An error in the
// middle of a commit leaves the outcome open: ErrOutcomeUnknown. A full disk is no such case: the
// transaction is rolled back. bbolt shows a commit to readers before its last sync has returned;
// ViewDurable waits for that sync after its transaction has ended.
//
// # Access version
//
// The rows that decide who may do what have a version. It grows when a commit that changes one of
// them has ended, and is 0 while such a commit is under way, since readers see it before the writer
// is answered.
//
// # The file
//
// The list of free pages is a part of each commit while it is short. After many deletions, or a
// large load, it is long, and writing it costs more than the rest (77 uploads a second instead of
// 1,102 at 10 million resources): then it is left out, and written when nothing has come for a
// second, after a commit that failed, and before the file is closed (freelist.go). Where a crash
// leaves a file without it, the next open reads the whole file twice: to see that its pages are
// sound, since bbolt would end the program where they are not, and to find the free ones.
//
// bbolt's options: the free list as a map; two seconds for the lock; a large first mapping, except
// on Windows, where the file would grow to it; pages filled to the brim in buckets that grow at
// their end (1,207 bytes a resource against 2,111). A new file is made under a temporary name and
// linked when it is complete.
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
	file      *os.File    // that db reads and writes
	secret    [32]byte
	suspect   error // see metadata.Health
	upgraded  *Upgrade
	committer *committer
}

var _ metadata.Store = (*Store)(nil)

// Secret returns the 32 random bytes that were made with the file.
func (s *Store) Secret() [32]byte { return s.secret }

// Health tells whether the store still takes changes, how far the clock is behind, and whether the
// file was suspect when it was opened.
func (s *Store) Health() metadata.Health {
	h := s.committer.health()
	h.Suspect = s.suspect
	return h
}

// Close commits the changes that are queued and refuses others; then it waits for the read
// transactions to end, closes the file and releases its lock.
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

// ViewDurable implements metadata.Store. bbolt shows a commit to readers before the commit's last
// sync has returned, so this waits until the committer has seen it return. What fn could see is
// durable too if fn failed; where it is not, what fn returned does not count.
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

// Update implements metadata.Store. Stamps are taken in the transaction, so that their order is
// that of the commits.
func (s *Store) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, fn, false)
}

// UpdateBackground implements metadata.Store.
func (s *Store) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, fn, true)
}

// read runs fn in a read transaction. It returns the id of the last commit that fn could see; 0 if
// fn did not run.
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

// Stats is the state of the file of a Store at one moment.
type Stats struct {
	Bytes     int64 // its length
	FreePages int64 // free, or free when the transactions under way have ended
	PageSize  int64 // bytes
	Reading   int64 // read transactions under way
}

// Stats returns the present state of the file.
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

// Engine implements metadata.Store. One process has a file.
func (s *Store) Engine() metadata.Engine { return metadata.Engine{Name: "bolt", Schema: tables.Schema} }
