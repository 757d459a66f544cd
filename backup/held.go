package backup

import (
	"context"
	"errors"

	"labshelf/bolt"
	"labshelf/metadata"
)

// keepHeld makes files of the bodies that are held in the metadata of a backup, beside those that have a row. Restoring does
// without them, but Repair finds files only: by then these bodies have long been moved, and their files may be what is lost.
func (w *writer) keepHeld(ctx context.Context, meta *bolt.Store) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		var failed error
		placed := w.files.PlaceAll(func(yield func([]byte) bool) {
			for of, err := range tx.Bodies.All(metadata.BodyKey{}) {
				if failed = errors.Join(err, ctx.Err()); failed != nil {
					return
				}
				body, err := tx.Bodies.Get(of)
				if errors.Is(err, metadata.ErrRecordDamaged) {
					continue // it has been told with the metadata
				}
				if failed = err; failed != nil || !yield(body) {
					return
				}
			}
		})
		return errors.Join(failed, placed)
	})
}
