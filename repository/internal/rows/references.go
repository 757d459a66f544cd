package rows

import (
	"cmp"
	"errors"

	"labshelf/blobs"
	"labshelf/metadata"
)

// Errors of Unreferenced and Orphaned for a blob that is needed.
var (
	ErrReferenced = errors.New("a resource refers to it")
	ErrRecorded   = errors.New("it is recorded")
)

// Unreferenced returns ErrReferenced if a version of a resource refers to the blob, or an upload in
// progress will.
func Unreferenced(tx *metadata.Tx, digest blobs.Digest) error {
	if wanted, err := tx.Uploads.Awaited(digest); err != nil || wanted {
		return cmp.Or(err, ErrReferenced)
	}
	for _, err := range tx.Blobs.Refs(digest) {
		return cmp.Or(err, ErrReferenced)
	}
	return nil
}

// Orphaned returns ErrRecorded if the blob has a row, and ErrReferenced if it lacks one but is
// referenced.
func Orphaned(tx *metadata.Tx, digest blobs.Digest) error {
	_, err := tx.Blobs.Get(digest)
	switch {
	case err == nil:
		return ErrRecorded
	case errors.Is(err, metadata.ErrNotFound):
		return Unreferenced(tx, digest)
	}
	return err
}

// Unnamed returns ErrRecorded if the row of a blob or a row of the trash names the object.
func Unnamed(tx *metadata.Tx, object string) error {
	named, err := tx.Trashed.Named(object)
	if err == nil && named {
		err = ErrRecorded
	}
	return err
}
