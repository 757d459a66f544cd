package resumable

import (
	"context"
	"errors"
	"math"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

const (
	expiryEvery = 10 * time.Minute
	expiryBatch = 500 // uploads
)

// expire removes expired and abandoned uploads, and partial files without an upload.
func (u *Uploads) expire(ctx context.Context) error {
	err := errors.Join(u.expireRows(ctx), u.removeAbandoned(ctx))
	if u.folder == nil {
		return err // objects without a row are orphans, which a purge removes
	}
	return errors.Join(err, u.folder.WalkPartials(ctx, func(name string) error { return u.removeStray(ctx, name) }))
}

// expireRows removes expired uploads, except those whose lock a request holds.
func (u *Uploads) expireRows(ctx context.Context) error {
	for {
		var due []metadata.ID
		now := u.now()
		err := u.stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
			due, err = rows.Collect(tx.Uploads.Ended(now), expiryBatch)
			return err
		})
		removed := 0
		for _, id := range due {
			lock, failed := u.locks.tryAcquire(ctx, id)
			if lock == nil {
				err = errors.Join(err, failed)
				continue
			}
			ended := u.removeExpired(lock.with(ctx), id, now)
			lock.release()
			if !errors.Is(ended, errNotExpired) {
				err = errors.Join(err, ended)
				removed++
			}
		}
		if err != nil || removed == 0 || len(due) < expiryBatch {
			return err
		}
	}
}

// removeAbandoned removes abandoned uploads, except those whose lock a request holds.
func (u *Uploads) removeAbandoned(ctx context.Context) error {
	if u.config.Abandoned == nil {
		return nil
	}
	var over []metadata.ID
	err := u.stores.View(ctx, func(tx *metadata.Tx) error {
		over = nil
		for id, err := range tx.Uploads.Ended(math.MaxInt64) {
			abandoned := false
			if err == nil {
				abandoned, err = u.abandoned(tx, id)
			}
			if err != nil {
				return err
			}
			if abandoned {
				over = append(over, id)
			}
		}
		return nil
	})
	for _, id := range over {
		lock, taking := u.locks.tryAcquire(ctx, id)
		err = errors.Join(err, taking)
		if lock != nil {
			left, failed := u.remove(lock.with(ctx), id, func(metadata.ResumableUpload) error { return nil })
			lock.release()
			err = errors.Join(err, left, failed)
		}
	}
	return err
}

func (u *Uploads) abandoned(tx *metadata.Tx, id metadata.ID) (bool, error) {
	t, err := tx.Uploads.Get(id)
	if err != nil || t.Done() {
		return false, err
	}
	return u.config.Abandoned(tx, t)
}

var errNotExpired = errors.New("it has not expired")

// removeExpired removes an upload that was found expired. It returns errNotExpired if a request has
// added to it since.
func (u *Uploads) removeExpired(ctx context.Context, id metadata.ID, by metadata.Stamp) error {
	left, err := u.remove(ctx, id, func(t metadata.ResumableUpload) error {
		if t.Expires > by {
			return errNotExpired
		}
		return nil
	})
	return errors.Join(err, left)
}

// End removes an upload of any sender, and ends a request that is sending more of it. A resource
// that the upload has created stays.
func (u *Uploads) End(ctx context.Context, id metadata.ID) error {
	lock, err := u.locks.seize(ctx, id)
	if err != nil {
		return err
	}
	defer lock.release()
	_, err = u.remove(lock.with(ctx), id, func(metadata.ResumableUpload) error { return nil })
	return err
}

// remove removes the row, unless check returns an error, and then the file. left is the error of
// removing the file. If that fails, or the service stops before, the expiry removes the file later.
func (u *Uploads) remove(ctx context.Context, id metadata.ID, check func(metadata.ResumableUpload) error) (left, err error) {
	var t metadata.ResumableUpload
	err = u.stores.Update(ctx, func(tx *metadata.Tx) (err error) {
		if t, err = tx.Uploads.Get(id); err == nil {
			err = check(t)
		}
		if err != nil {
			return errs.Ignore(err, metadata.ErrNotFound)
		}
		return tx.Uploads.Remove(id)
	})
	if err != nil {
		return nil, err
	}
	u.repository.Ended(id)
	if u.folder == nil {
		u.deleteFormer(t.Checkpoint, blobs.Checkpoint{}, "")
		return nil, nil
	}
	return u.stores.BlobError(errors.Join(u.withdraw(ctx, t), u.folder.RemovePartial(id.String()))), nil
}

// withdraw removes the committed file of an upload whose record could not be written. Nothing else
// refers to it, and it would take up space until a purge.
func (u *Uploads) withdraw(ctx context.Context, t metadata.ResumableUpload) error {
	if !t.Pending() || t.Checkpoint.Size == 0 {
		return nil
	}
	staged, err := u.files.StagePartial(ctx, partial(t))
	if err == nil {
		err = staged.Withdraw(func() error { return u.stores.Orphaned(ctx, staged.Content().Blob) })
	}
	for _, needed := range []error{blobs.ErrNotFound, blobs.ErrPinned, rows.ErrRecorded, rows.ErrReferenced} {
		err = errs.Ignore(err, needed)
	}
	return err
}

// removeStray removes a partial file without a row, or whose upload has become a resource. Rows are
// created before their files, so a missing row does not appear later.
func (u *Uploads) removeStray(ctx context.Context, name string) error {
	id, ok := metadata.ParseID(name)
	if !ok {
		return nil // not a partial file of this package
	}
	var t metadata.ResumableUpload
	err := u.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) (err error) {
		t, err = tx.Uploads.Get(id)
		return errs.Ignore(err, metadata.ErrNotFound)
	})
	if err == nil && (t.ID == metadata.ID{} || t.Done()) {
		err = u.folder.RemovePartial(name)
	}
	return err
}
