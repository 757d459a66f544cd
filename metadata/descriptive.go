package metadata

import "iter"

// Descriptive is the descriptive metadata of a dataspace, a set or a resource: what people say
// about it. An object without any has no row.
type Descriptive struct {
	ObjectID ID
	JSON     string // in the canonical form of package descriptive, at most 64 KiB
}

// Descriptives is the table of descriptive metadata. It stays when its object is deleted, or
// purged.
type Descriptives interface {
	Get(object ID) (Descriptive, error)
	Put(Descriptive) error
	// Remove removes the row; that there is none is no error.
	Remove(object ID) error
	// All yields every row of an object with an id greater than after, ascending.
	All(after ID) iter.Seq2[Descriptive, error]
}
