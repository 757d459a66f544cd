package metadata

import (
	"iter"

	"labshelf/blobs"
)

// TrashedObject is an object that had the bytes of a blob until a commit stopped naming it. It is
// deleted when no reader needs it any longer.
type TrashedObject struct {
	blobs.Blob
	Since Stamp // stamp of that commit
}

// Key returns the key of the object.
func (o TrashedObject) Key() ObjectKey { return ObjectKey{o.Digest, o.Object} }

// ObjectKey identifies a TrashedObject.
type ObjectKey struct {
	Digest blobs.Digest
	Object string
}

// TrashedObjects is the table of objects that no row of Blobs names any longer, and that have not
// been deleted.
type TrashedObjects interface {
	Table[ObjectKey, TrashedObject]
	ObjectFinders
}

// ObjectFinders finds objects by digest and by name.
type ObjectFinders interface {
	// Of yields the objects of a digest, ascending by object.
	Of(blobs.Digest) iter.Seq2[TrashedObject, error]
	// Named reports whether a row of this table or of Blobs names an object.
	Named(object string) (bool, error)
}
