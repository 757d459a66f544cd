package metadata

// BodyLocation is the location of a file's bytes. The numbers are stored and never change.
type BodyLocation uint8

// The locations of a file.
const (
	InBlob BodyLocation = 0 // in the blob store, under their digest
	Purged BodyLocation = 1 // the bytes were removed, and the record stays as a tombstone
	Inline BodyLocation = 2 // in the metadata store, by resource id and version, until they are flushed to the blob store
)

// VersionKey identifies one version of a resource, and its inline body.
type VersionKey struct {
	Resource ID
	Version  uint32
}

// BodyCount is a number of inline bodies, and their bytes.
type BodyCount struct{ Bodies, Bytes int64 }

// VersionKey returns the key of the current version of a resource.
func (r Resource) VersionKey() VersionKey { return VersionKey{r.ID, r.Version} }

// Needs reports whether this inline body is the file of the resource. It is not if the body was
// flushed or purged.
func (r Resource) Needs(of VersionKey) bool { return r.Body == Inline && r.VersionKey() == of }
