package metadata

import (
	"iter"

	"labshelf/blobs"
)

// TrashedObject is an object that had the bytes of a blob until a commit stopped naming it. It is
// to be deleted when nobody reads it any more.
type TrashedObject struct {
	blobs.Blob
	Since Stamp // of that commit
}

// Key returns what is unique to it.
func (o TrashedObject) Key() ObjectKey { return ObjectKey{o.Digest, o.Object} }

// ObjectKey names a TrashedObject.
type ObjectKey struct {
	Digest blobs.Digest
	Object string
}

// TrashedObjects is the table of objects that no row of Blobs names any more, and that have not
// been deleted.
type TrashedObjects interface {
	Put(TrashedObject) error
	// Remove removes the row; that there is none is no error.
	Remove(ObjectKey) error
	// Of yields those of a digest, ascending by object.
	Of(blobs.Digest) iter.Seq2[TrashedObject, error]
	// All yields those after a key (by digest, then object), ascending; zero: from the first.
	All(after ObjectKey) iter.Seq2[TrashedObject, error]
	// Named tells whether a row of this table or of Blobs names an object.
	Named(object string) (bool, error)
}
