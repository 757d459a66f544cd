package storage

import (
	"context"

	"labshelf/metadata"
)

// growing is a metadata store that tells when its audit log has grown.
type growing struct {
	metadata.Store
	grown func()
}

// Growing returns the store, and calls grown after each change that has added to the audit log and is on stable storage. grown must
// return soon and must not call the store.
func Growing(meta metadata.Store, grown func()) metadata.Store { return growing{meta, grown} }

func (g growing) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return g.noting(fn, func(fn func(*metadata.Tx) error) error { return g.Store.Update(ctx, fn) })
}

func (g growing) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return g.noting(fn, func(fn func(*metadata.Tx) error) error { return g.Store.UpdateBackground(ctx, fn) })
}

func (g growing) noting(fn func(*metadata.Tx) error, update func(func(*metadata.Tx) error) error) error {
	grew := false
	err := update(func(tx *metadata.Tx) error {
		before, err := tx.Audit.State()
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		after, err := tx.Audit.State()
		grew = after.Size != before.Size
		return err
	})
	if err == nil && grew {
		g.grown()
	}
	return err
}
