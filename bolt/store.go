package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"labshelf/metadata"
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

// Health tells whether the store still takes changes, how far the clock is behind, and whether the file was suspect when it was opened.
func (s *Store) Health() metadata.Health {
	h := s.committer.health()
	h.Suspect = s.suspect
	return h
}

// Close commits the changes that are queued and refuses others; then it waits for the read transactions to end, closes the file and
// releases its lock.
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
	_, err := s.read(ctx, func(t *tx) error { return fn(t.tables()) })
	return err
}

// ViewDurable implements metadata.Store. bbolt shows a commit to readers before the commit's last sync has returned, so
// this waits until the committer has seen it return. What fn could see is durable too if fn failed; where it is not, what fn
// returned does not count.
func (s *Store) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	seen, err := s.read(ctx, func(t *tx) error { return fn(t.tables()) })
	if seen == 0 {
		return err
	}
	if wait := s.committer.waitDurable(ctx, seen); wait != nil {
		return wait
	}
	return err
}

// Update implements metadata.Store. Stamps are taken in the transaction, so that their order is that of the commits.
func (s *Store) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, s.committer.queue, fn)
}

// UpdateBackground implements metadata.Store.
func (s *Store) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, s.committer.background, fn)
}

// read runs fn in a read transaction. It returns the id of the last commit that fn could see; 0 if fn did not run.
func (s *Store) read(ctx context.Context, fn func(*tx) error) (seen int, err error) {
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
		t := &tx{bolt: btx, version: s.committer.accessSince(version)}
		if err := fn(t); err != nil {
			return err
		}
		return t.failed
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
