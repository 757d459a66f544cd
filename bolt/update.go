package bolt

import (
	"context"

	"labshelf/repository"
)

// Update implements repository.Store. Stamps are taken in the transaction, so that their order is that of the commits.
func (s *Store) Update(ctx context.Context, fn func(*repository.Tx) error) error {
	return s.committer.do(ctx, s.committer.queue, fn)
}
