package maintenance

import (
	"context"
	"errors"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// objectGrace is the minimum time between the commit that stops naming an object and its deletion.
// Another process may have read the row before that commit, and still have to read the object.
const objectGrace = time.Hour

// objectPurge removes what no row needs from a store of objects, in which a name is never used
// again. A [blobs.Folder] has other rules: see sweep.go.
type objectPurge struct{ *purge }

// sweepObjects removes the objects that no row names and that are too old for a row to start to
// name them. They come from failed or abandoned uploads. After the metadata were reset to an older
// state, it is unknown which names were lost, so the age counts from the beginning of the epoch.
func (p objectPurge) sweepObjects(ctx context.Context) error {
	before, err := p.orphansBefore(ctx)
	if err != nil {
		return err
	}
	var page []blobs.Object
	err = p.Objects.WalkObjects(ctx, func(o blobs.Object) error {
		if page = append(page, o); len(page) < purgePage {
			return nil
		}
		defer func() { page = page[:0] }()
		if err := p.sweepOrphanObjects(ctx, page, before); err != nil {
			return err
		}
		return p.pause(ctx)
	})
	if err != nil {
		return err
	}
	return p.sweepOrphanObjects(ctx, page, before)
}

// orphansBefore returns the time before which an unnamed object must have been begun to be removed.
func (p objectPurge) orphansBefore(ctx context.Context) (before metadata.Stamp, err error) {
	err = p.Meta.View(ctx, func(tx *metadata.Tx) error {
		epoch, err := tx.Lineage.Epoch()
		before = min(p.cutoff, p.began-metadata.Stamp(rows.OrphanAge/time.Microsecond))
		if epoch.Began >= before && epoch.Base != 0 {
			before = -1 << 63
		}
		return err
	})
	return before, err
}

func (p objectPurge) sweepOrphanObjects(ctx context.Context, page []blobs.Object, before metadata.Stamp) error {
	unnamed, err := p.unnamed(ctx, page)
	if err != nil {
		return err
	}
	for _, o := range unnamed {
		if !o.Begun.Before(before.Time()) {
			p.result.Recent++
			p.result.RecentBytes += o.Size
			continue
		}
		if !p.dry {
			if err := p.Objects.DeleteObject(ctx, o); err != nil {
				return err
			}
		}
		p.result.Orphans++
		p.result.OrphanBytes += o.Size
	}
	return nil
}

// unnamed returns the objects that no row of a blob, of the trash or of an upload names.
func (p objectPurge) unnamed(ctx context.Context, page []blobs.Object) (found []blobs.Object, err error) {
	err = p.Meta.View(ctx, func(tx *metadata.Tx) error {
		found = nil
		held, err := p.held(tx)
		if err != nil {
			return err
		}
		for _, o := range page {
			err := rows.Unnamed(tx, o.Name)
			if err == nil && !held[o.Name] {
				found = append(found, o)
			}
			if err = errs.Ignore(err, rows.ErrRecorded); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// held returns the objects that rows of uploads name.
func (p objectPurge) held(tx *metadata.Tx) (map[string]bool, error) {
	held := map[string]bool{}
	for id, err := range tx.Uploads.Ended(1<<63 - 1) {
		if err != nil {
			return nil, err
		}
		upload, err := tx.Uploads.Get(id)
		if err != nil {
			return nil, err
		}
		objects, err := p.Objects.PartialObjects(upload.Checkpoint)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			held[o.Name] = true
		}
	}
	return held, nil
}

// deleteTrashed deletes the objects that have been in the trash for longer than the grace period.
// It removes the row last, because deleting an object twice is not an error.
func (p objectPurge) deleteTrashed(ctx context.Context) error {
	before := p.began - metadata.Stamp(max(p.grace, objectGrace)/time.Microsecond)
	for after := (metadata.ObjectKey{}); ; {
		var page []metadata.TrashedObject
		err := p.Meta.ViewDurable(ctx, func(tx *metadata.Tx) (err error) {
			page, err = rows.Collect(tx.Trashed.All(after), purgePage)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Key()
		if err := p.deleteObjects(ctx, page, func(o metadata.TrashedObject) bool { return o.Since < before }); err != nil {
			return err
		}
	}
}

// deleteObjects deletes the trashed objects for which due returns true, and their rows.
func (p objectPurge) deleteObjects(ctx context.Context, page []metadata.TrashedObject, due func(metadata.TrashedObject) bool) error {
	var gone []metadata.ObjectKey
	var failed error
	for _, o := range page {
		if !due(o) {
			continue
		}
		if !p.dry {
			if failed = p.Objects.DeleteObject(ctx, blobs.Object{Name: o.Object}); failed != nil {
				break
			}
			gone = append(gone, o.Key())
		}
		p.result.TrashFiles++
		p.result.TrashBytes += o.Size
	}
	if len(gone) == 0 {
		return failed
	}
	return errors.Join(failed, p.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		for _, key := range gone {
			if err := tx.Trashed.Remove(key); err != nil {
				return err
			}
		}
		return nil
	}))
}

// eraseObjects immediately deletes all trashed objects with the bytes of a blob. stays reports that
// the blob has a row; then nothing is deleted.
func (p objectPurge) eraseObjects(ctx context.Context, digest blobs.Digest) (stays bool, err error) {
	var trashed []metadata.TrashedObject
	err = p.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		_, err := tx.Blobs.Get(digest)
		stays = err == nil
		if err = errs.Ignore(err, metadata.ErrNotFound); err != nil || stays {
			return err
		}
		trashed, err = rows.Collect(tx.Trashed.Of(digest), purgePage)
		return err
	})
	if err != nil || stays {
		return stays, err
	}
	return false, p.deleteObjects(ctx, trashed, func(metadata.TrashedObject) bool { return true })
}
