package resumable

import (
	"context"
	"slices"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// If a partial file consists of objects, the checkpoint in its row names them. They are deleted
// only after the commit that stops naming them. Another process may work on the same upload,
// whatever the locks of this process say. Each commit therefore compares the row with the state
// that was read.

// deleteWithin is the time limit for deleting unneeded objects. Objects that are left are orphans,
// which a purge removes.
const deleteWithin = 30 * time.Second

// stillAt returns errMoved unless the row still has the checkpoint of before and the objects that
// next adds still exist. Call it in the transaction that changes the checkpoint.
func (u *Uploads) stillAt(tx *metadata.Tx, before metadata.ResumableUpload, next blobs.Checkpoint) error {
	if u.stores.Objects == nil {
		return nil
	}
	now, err := tx.Uploads.Get(before.ID)
	if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return err
	}
	if now.ID != before.ID || now.Checkpoint != before.Checkpoint || now.Done() {
		return errMoved
	}
	added, err := u.onlyIn(next, before.Checkpoint)
	if err != nil {
		return err
	}
	stamp := tx.Stamp()
	for _, o := range added {
		if !rows.Recent(o.Begun, stamp.Time(), stamp) {
			return errMoved
		}
	}
	return nil
}

// errMoved tells the client to request the offset of the upload and continue from there.
var errMoved error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another node has continued this upload; request its offset and try again"}

// onlyIn returns the objects that the first checkpoint names and the other one does not.
func (u *Uploads) onlyIn(at, other blobs.Checkpoint) ([]blobs.Object, error) {
	named, err := u.stores.Objects.PartialObjects(at)
	if err != nil {
		return nil, err
	}
	others, err := u.stores.Objects.PartialObjects(other)
	return slices.DeleteFunc(named, func(o blobs.Object) bool {
		return slices.ContainsFunc(others, func(other blobs.Object) bool { return other.Name == o.Name })
	}), err
}

// deleteFormer deletes the objects that the checkpoint at names and present does not, except the
// object that has become a blob.
func (u *Uploads) deleteFormer(at, present blobs.Checkpoint, blob string) {
	if u.stores.Objects == nil {
		return
	}
	former, err := u.onlyIn(at, present)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteWithin)
	defer cancel()
	for _, o := range former {
		if o.Name != blob {
			_ = u.stores.Objects.DeleteObject(ctx, o)
		}
	}
}
