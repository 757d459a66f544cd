package metadata

// Descriptive is the descriptive metadata of a dataspace, a set or a resource, as users enter it.
// An object without metadata has no row.
type Descriptive struct {
	ObjectID ID
	JSON     string // in the canonical form of package descriptive, at most 64 KiB
}
