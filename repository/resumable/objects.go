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

// Where a partial file is made of objects, its row names them by its checkpoint, and they are
// deleted only after the commit by which it stops naming them. Another process may have the same
// upload, whatever the locks of this one say; so what a commit changes is compared with what it was
// when it was read.

// deleteWithin is how long it may take to delete what is not needed any more. What is left is an
// orphan, which a purge finds.
const deleteWithin = 30 * time.Second

// stillAt makes sure, in the transaction that moves an upload from a checkpoint to another one,
// that the row has that checkpoint, and that the objects which it comes to name are there.
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

// errMoved: the client asks where the upload is, and goes on from there.
var errMoved error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "this upload has gone on elsewhere; ask for its offset and try again"}

// onlyIn returns the objects that a checkpoint names, and another one does not.
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

// deleteFormer deletes the objects that a checkpoint names and the one of the row does not, but for
// the one that has become a blob.
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
