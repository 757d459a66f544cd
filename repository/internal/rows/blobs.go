package rows

import (
	"errors"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
)

const (
	// OrphanAge is the minimum age of an object without a row before it is deleted. The age counts
	// from the beginning of its upload.
	OrphanAge = 24 * time.Hour
	// putAge and begunAge are the maximum times since an object was last seen, and since its upload
	// began, when a row starts to name it. Stamps never go back. An object refused here and an
	// orphan to delete are therefore an hour apart, whatever the clocks of the processes say.
	putAge   = time.Hour
	begunAge = OrphanAge - time.Hour
)

// RecordBlob records that a file is committed and complete. Call it in the transaction that saves
// the resource. held reports that the row of a partial file already names the object.
// Such an object still exists, however old it is.
func RecordBlob(tx *metadata.Tx, file blobs.Content, held bool) error {
	if file.Object != "" {
		if err := nameObject(tx, file, held); err != nil {
			return err
		}
	}
	return errors.Join(tx.Damages.Remove(file.Digest), tx.Unreferenced.Remove(file.Digest), tx.Blobs.Put(file.Blob))
}

// nameObject moves the former object of the blob to the trash. It refuses an object that may have
// been deleted.
func nameObject(tx *metadata.Tx, file blobs.Content, held bool) error {
	former, err := tx.Blobs.Get(file.Digest)
	if err == nil && former.Object == file.Object {
		return nil
	}
	if err = errors.Join(errs.Ignore(err, metadata.ErrNotFound), Unnamed(tx, file.Object)); err != nil {
		return err
	}
	now := tx.Stamp()
	if !held && !Recent(file.Begun, file.Put, now) {
		return ErrStale
	}
	if former.Object == "" {
		return nil
	}
	return tx.Trashed.Put(metadata.TrashedObject{Blob: former, Since: now})
}

// Recent reports whether a row may start to name an object whose upload began at begun and that was
// last seen at put.
func Recent(begun, put time.Time, now metadata.Stamp) bool {
	return now.Time().Sub(put) <= putAge && now.Time().Sub(begun) <= begunAge
}

// ErrStale reports that an object is, or may be, an orphan that a purge has deleted. The client
// must send the file again.
var ErrStale error = &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable,
	Message: "the file was received too long ago to be recorded now; nothing was changed; send it again"}

// TrashObject moves the object of a blob to the trash. Call it in the transaction that removes the
// row of the blob.
func TrashObject(tx *metadata.Tx, digest blobs.Digest) error {
	row, err := tx.Blobs.Get(digest)
	if err != nil || row.Object == "" {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	return tx.Trashed.Put(metadata.TrashedObject{Blob: row, Since: tx.Stamp()})
}
