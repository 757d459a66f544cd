package metadata

import (
	"cmp"
	"fmt"
	"time"

	"labshelf/blobs"
)

// Version is what a resource was before its file was replaced. Its row stays for ever, also when
// its bytes are gone.
type Version struct {
	ResourceID                ID
	Number                    uint32 // from 0, as Resource.Version
	Name, Description, Format string
	MimeType, Filename        string
	Digest                    blobs.Digest
	Bytes                     int64
	Body                      BodyLocation // Purged: the bytes are gone
	Created, Replaced         Stamp        // when its file came, and when the next one did; Replaced is 0 in the present version, which has no row
	CreatedBy, ReplacedBy     ID           // users
	Label                     string       // "": none; one with a label is kept whatever the retention says
	Removed                   Removal      // of the bytes; the zero value while they are there
	StoredBy                  ID           // the user who stored it, if that is not CreatedBy; callers read Storer
	Damaged                   bool         // the blob is known to be damaged or missing; told to callers, never stored
}

// Key is the key of the version.
func (v Version) Key() VersionKey { return VersionKey{v.ResourceID, v.Number} }

// Storer returns the user whose quota counts the version.
func (v Version) Storer() ID { return cmp.Or(v.StoredBy, v.CreatedBy) }

// Present tells whether it is the present version of its resource.
func (v Version) Present() bool { return v.Replaced == 0 }

// Of returns the resource as it was in this version: what a file is, and where its bytes are.
func (v Version) Of(r Resource) Resource {
	r.Version, r.Label = v.Number, v.Label
	r.Name, r.Description, r.Format, r.MimeType, r.Filename = v.Name, v.Description, v.Format, v.MimeType, v.Filename
	r.Digest, r.Bytes, r.Body, r.Damaged, r.StoredBy = v.Digest, v.Bytes, v.Body, v.Damaged, v.Storer()
	return r
}

// VersionOf returns the version that a resource is in, less when its file came and from whom.
func VersionOf(r Resource) Version {
	return Version{
		ResourceID: r.ID, Number: r.Version, Label: r.Label,
		Name: r.Name, Description: r.Description, Format: r.Format, MimeType: r.MimeType, Filename: r.Filename,
		Digest: r.Digest, Bytes: r.Bytes, Body: r.Body, Damaged: r.Damaged, StoredBy: r.Storer(),
	}
}

// Removal is when the bytes of a version went, and why.
type Removal struct {
	At   Stamp
	Rule RemovalRule
	By   ID        // the sysadmin who erased them; zero: a purge did
	Kept Retention // what the dataspace kept then; of ByRetention
}

// RemovalRule is the rule by which the bytes of a version went. The numbers are stored: they never
// change.
type RemovalRule uint8

// The rules.
const (
	NotRemoved   RemovalRule = 0
	ByRetention  RemovalRule = 1 // the dataspace did not keep it
	WithResource RemovalRule = 2 // its resource was purged
	Erased       RemovalRule = 3 // a sysadmin erased it
)

// String says the rule to people.
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

// Retention is which versions a dataspace keeps. The zero value keeps all; at most one field is
// set.
type Retention struct {
	Last uint32 // versions of each resource, the present one included
	Days uint32 // since a version was replaced
}

// String is what the interface calls it.
func (k Retention) String() string {
	switch {
	case k.Last > 0:
		return fmt.Sprintf("last %d", k.Last)
	case k.Days > 0:
		return fmt.Sprintf("%d days", k.Days)
	}
	return "everything"
}

// Keeps tells whether a version is kept, of a resource in its present version, at a reading of the
// clock. The present one always is.
func (k Retention) Keeps(v Version, present uint32, now Stamp) bool {
	switch {
	case v.Present(), v.Label != "":
		return true
	case k.Last > 0:
		return present-v.Number < k.Last
	case k.Days > 0:
		return v.Replaced >= now-Stamp(time.Duration(k.Days)*24*time.Hour/time.Microsecond)
	}
	return true
}
