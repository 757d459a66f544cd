// Package bolt keeps the metadata of a repository in one bbolt file: it implements metadata.Store. See keys.go for what
// is where, record.go for how a row is stored, commit.go for how changes reach the disk.
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
	info      os.FileInfo // which file that is
	file      *os.File    // the one that db reads and writes
	secret    [32]byte
	suspect   error // what was strange about the file when it was opened
	upgraded  *Upgrade
	committer *committer
}

var _ metadata.Store = (*Store)(nil)

// Secret returns the 32 random bytes made when the file was.
func (s *Store) Secret() [32]byte { return s.secret }

// Health tells whether the store still takes changes, how far the clock is behind, and whether the file was strange at the start.
func (s *Store) Health() metadata.Health {
	h := s.committer.health()
	h.Suspect = s.suspect
	return h
}

// Close lets the changes that are queued reach the disk, and refuses others; then it waits for the read transactions to end,
// closes the file and gives its lock free.
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

// UpdateBehind implements metadata.Store.
func (s *Store) UpdateBehind(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, s.committer.behind, fn)
}

// read runs fn in a read transaction. It returns the id of the last commit that fn could see; 0 if fn did not run.
func (s *Store) read(ctx context.Context, fn func(*tx) error) (seen int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = guarded(func() error {
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
