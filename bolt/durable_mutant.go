//go:build mutant_early

package bolt

import (
	"context"

	"labshelf/repository"
)

// ViewDurable is wrong on purpose, to show that the tests of the guarantees notice: it does not wait for the commits that it
// saw.
func (s *Store) ViewDurable(ctx context.Context, fn func(*repository.Tx) error) error {
	return s.View(ctx, fn)
}
