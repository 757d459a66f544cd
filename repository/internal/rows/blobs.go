package rows

import (
	"errors"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
)

const (
	// OrphanAge is how long ago an object was begun, at least, when one that no row names is
	// deleted.
	OrphanAge = 24 * time.Hour
	// putAge and begunAge are how long ago an object was last seen, and begun, at most, when a row
	// comes to name it. Stamps never go back, so that what is refused here and what goes as an
	// orphan are an hour apart, whatever the clocks of the processes say.
	putAge   = time.Hour
	begunAge = OrphanAge - time.Hour
)

// RecordBlob records that a file is committed and complete. It belongs into the transaction that
// saves its resource. held tells that a row names the object already, as that of a partial file:
// then it is there, however old it is.
func RecordBlob(tx *metadata.Tx, file blobs.Content, held bool) error {
	if file.Object != "" {
		if err := nameObject(tx, file, held); err != nil {
			return err
		}
	}
	return errors.Join(tx.Damages.Remove(file.Digest), tx.Unreferenced.Remove(file.Digest), tx.Blobs.Put(file.Blob))
}

// nameObject puts the object that the blob has had into the trash. It refuses one that may have
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

// Recent tells whether a row may come to name an object that was begun and last seen at these
// times.
func Recent(begun, put time.Time, now metadata.Stamp) bool {
	return now.Time().Sub(put) <= putAge && now.Time().Sub(begun) <= begunAge
}

// ErrStale says that an object is, or may be, an orphan that a purge has deleted: the client sends
// the file again.
var ErrStale error = &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable,
	Message: "the file arrived too long ago to be recorded now; nothing was changed, send it again"}

// TrashObject puts the object of a blob into the trash. It belongs into the transaction that
// removes the row of the blob.
func TrashObject(tx *metadata.Tx, digest blobs.Digest) error {
	row, err := tx.Blobs.Get(digest)
	if err != nil || row.Object == "" {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	return tx.Trashed.Put(metadata.TrashedObject{Blob: row, Since: tx.Stamp()})
}
