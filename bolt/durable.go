package bolt

import (
	"context"

	"labshelf/metadata"
)

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
