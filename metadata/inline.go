package metadata

// BodyLocation tells where the bytes of a resource's file are. The numbers are stored: they never
// change.
type BodyLocation uint8

// The locations of a file.
const (
	InBlob BodyLocation = 0 // in the blob store, under their digest
	Purged BodyLocation = 1 // nowhere: the bytes are gone, the record stays as a tombstone
	Inline BodyLocation = 2 // in the metadata store, under the resource's id and version, until they are flushed to a file
)

// VersionKey identifies one version of a resource, and by that its inline body.
type VersionKey struct {
	Resource ID
	Version  uint32
}

// BodyCount is a number of inline bodies, and their bytes.
type BodyCount struct{ Bodies, Bytes int64 }

// VersionKey is the key of the present version of a resource.
func (r Resource) VersionKey() VersionKey { return VersionKey{r.ID, r.Version} }

// Needs reports whether an inline body is the file of the resource in this version: neither flushed
// nor purged.
func (r Resource) Needs(of VersionKey) bool { return r.Body == Inline && r.VersionKey() == of }
