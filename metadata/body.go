package metadata

// Body tells where the bytes of a resource's file are. The numbers are stored: they never change.
type Body uint8

// The places of a file.
const (
	Filed  Body = 0 // in the blob store, under their digest
	Purged Body = 1 // nowhere: the bytes are gone, the record stays as a tombstone
	Held   Body = 2 // in the metadata store, under the resource's id and version, until the mover makes a file of them
)

// BodyKey names one held body.
type BodyKey struct {
	Resource ID
	Version  uint32
}

// BodyCount is how many bodies are held, and their bytes.
type BodyCount struct{ Bodies, Bytes int64 }

// BodyKey is where the body of a resource is, while it is held.
func (r Resource) BodyKey() BodyKey { return BodyKey{r.ID, r.Version} }

// Needs tells whether a held body is the file of the resource: neither replaced nor moved nor purged.
func (r Resource) Needs(of BodyKey) bool { return r.Body == Held && r.BodyKey() == of }
