package bolt

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"labshelf/bolt/fsck"
	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// Inspect implements metadata.Store. It verifies all pages, and everything that tables.Check
// verifies.
//
// The file grows while others write, since bbolt cannot reuse pages that the transaction, or a
// later one, may see. During many writes, inspect a Snapshot instead of the store.
func (s *Store) Inspect(ctx context.Context, report func(metadata.Violation)) error {
	if err := s.checkPath(); err != nil {
		report(metadata.Violation{Part: metadata.PartPages, Kind: "file", Wrong: err.Error()})
	}
	_, err := s.read(ctx, func(k *kv, _ *tables.Tx) error {
		meta, err := fsck.TxMeta(k.bolt)
		if errors.Is(err, fsck.ErrDamaged) {
			err = fmt.Errorf("%w: %w", metadata.ErrRecordDamaged, err)
		}
		if err != nil {
			return err
		}
		err = fsck.Check(ctx, s.file, meta, func(f fsck.Finding) {
			report(metadata.Violation{
				Part: metadata.PartPages, Kind: "page", ID: strconv.FormatUint(f.Page, 10), Name: f.Bucket, Wrong: f.Wrong,
			})
		})
		if err != nil {
			return err
		}
		tables.Check(k, ctx.Err, catchFault, report)
		return ctx.Err()
	})
	return err
}
