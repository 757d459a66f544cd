package metadata

// Descriptive is the descriptive metadata of a dataspace, a set or a resource: what people say
// about it. An object without any has no row.
type Descriptive struct {
	ObjectID ID
	JSON     string // in the canonical form of package descriptive, at most 64 KiB
}
