package metadata

import (
	"cmp"

	"labshelf/blobs"
)

// Version is a former state of a resource, before its file was replaced. Its row is never removed,
// even if the bytes are.
type Version struct {
	ResourceID                ID
	Number                    uint32 // from 0, like Resource.Version
	Name, Description, Format string
	MimeType, Filename        string
	Digest                    blobs.Digest
	Bytes                     int64
	Body                      BodyLocation // Purged: the bytes were removed
	Created, Replaced         Stamp        // when its file was uploaded, and when the next one was; Replaced is 0 in the current version, which has no row
	CreatedBy, ReplacedBy     ID           // users
	Label                     string       // "": none; versions with a label are kept regardless of the retention
	Removed                   Removal      // removal of the bytes; zero: they exist
	StoredBy                  ID           // the user who stored it, if not CreatedBy; use Storer to read it
	Damaged                   bool         // the blob is known to be damaged or missing; only set in responses, not stored
}

// Key is the key of the version.
func (v Version) Key() VersionKey { return VersionKey{v.ResourceID, v.Number} }

// Storer returns the user whose quota counts the version.
func (v Version) Storer() ID { return cmp.Or(v.StoredBy, v.CreatedBy) }

// Present reports whether it is the current version of its resource.
func (v Version) Present() bool { return v.Replaced == 0 }

// Of returns the resource with the file of this version: its description and the location of its
// bytes.
func (v Version) Of(r Resource) Resource {
	r.Version, r.Label = v.Number, v.Label
	r.Name, r.Description, r.Format, r.MimeType, r.Filename = v.Name, v.Description, v.Format, v.MimeType, v.Filename
	r.Digest, r.Bytes, r.Body, r.Damaged, r.StoredBy = v.Digest, v.Bytes, v.Body, v.Damaged, v.Storer()
	return r
}

// VersionOf returns the current version of a resource, without the time and user of its upload.
func VersionOf(r Resource) Version {
	return Version{
		ResourceID: r.ID, Number: r.Version, Label: r.Label,
		Name: r.Name, Description: r.Description, Format: r.Format, MimeType: r.MimeType, Filename: r.Filename,
		Digest: r.Digest, Bytes: r.Bytes, Body: r.Body, Damaged: r.Damaged, StoredBy: r.Storer(),
	}
}

// Removal records when and why the bytes of a version were removed.
type Removal struct {
	At   Stamp
	Rule RemovalRule
	By   ID        // the sysadmin who erased them; zero: a purge
	Kept Retention // the dataspace's retention at that time, for ByRetention
}

// RemovalRule is the rule by which the bytes of a version were removed. The numbers are stored and
// never change.
type RemovalRule uint8

// The removal rules.
const (
	NotRemoved   RemovalRule = 0
	ByRetention  RemovalRule = 1 // the retention of the dataspace
	WithResource RemovalRule = 2 // the resource was purged
	Erased       RemovalRule = 3 // a sysadmin erased it
)

// String describes the rule for people.
func (r Removal) String() string {
	switch r.Rule {
	case ByRetention:
		return "retention: " + r.Kept.String()
	case WithResource:
		return "purged with the deleted resource"
	case Erased:
		return "erased by a sysadmin"
	}
	return ""
}
