package backup

import (
	"context"
	"errors"

	"labshelf/bolt"
	"labshelf/metadata"
)

// copyInline writes the inline bodies in the metadata of a backup to files. Restoring does not need
// them, but Repair looks for files only: these bodies may have been flushed to files by then, and
// one of the files may be lost.
func (w *writer) copyInline(ctx context.Context, meta *bolt.Store) error {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		var failed error
		_, err := w.files.CommitAll(ctx, func(yield func([]byte) bool) {
			for of, err := range tx.InlineBodies.All(metadata.VersionKey{}) {
				if failed = errors.Join(err, ctx.Err()); failed != nil {
					return
				}
				body, err := tx.InlineBodies.Get(of)
				if errors.Is(err, metadata.ErrRecordDamaged) {
					continue // reported with the metadata
				}
				if failed = err; failed != nil || !yield(body) {
					return
				}
			}
		})
		return errors.Join(failed, err)
	})
}
