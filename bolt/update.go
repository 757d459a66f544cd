package bolt

import (
	"context"

	"labshelf/metadata"
)

// Update implements metadata.Store. Stamps are taken in the transaction, so that their order is that of the commits.
func (s *Store) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.committer.do(ctx, s.committer.queue, fn)
}
