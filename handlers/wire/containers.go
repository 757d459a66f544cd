package wire

// The visibilities of a dataspace.
const (
	Private = "private" // only users with a role may read
	Public  = "public"  // every registered user may read
	Open    = "open"    // everyone may read, without a key if the service allows it
)

// Dataspace is the top level of the hierarchy. It contains sets, and users have roles in it.
type Dataspace struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Name        string `json:"name"` // unique, cannot be changed
	Title       string `json:"title"`
	Description string `json:"description"`
	Visibility  string `json:"visibility"` // Private, Public or Open
	Origin      string `json:"origin"`     // "": unknown
	Resources   string `json:"resources"`  // URL of the listing of its resources
	Sets        string `json:"sets"`       // URL of the listing of its sets
	State       string `json:"state"`      // Active or Deleted
	History
	Retention string   `json:"retention"`       // which versions are kept: "everything", "last 5", "90 days"
	Quota     int64    `json:"quota,omitempty"` // limit for the bytes of all versions; 0: no limit, or the caller is not a sysadmin
	Metadata  Metadata `json:"metadata,omitempty"`
	ETag      string   `json:"-"` // entity tag of the record; "" in listings
}

// NewDataspace describes a dataspace to create. Only Name is required.
type NewDataspace struct {
	Name        string `json:"name"`                  // 2 to 100 of a-z, 0-9, - and _
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB
	Visibility  string `json:"visibility,omitempty"`  // "": Private
	Origin      string `json:"origin,omitempty"`      // up to 500 characters of any kind
	Retention   string `json:"retention,omitempty"`   // "": everything
	Quota       *int64 `json:"quota,omitempty"`       // bytes, 0: no limit; nil: the configured default; only sysadmins may set it

	Metadata Metadata `json:"metadata,omitempty"`
}

// DataspaceEdit changes a dataspace; nil fields stay unchanged.
type DataspaceEdit struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
	Visibility  *string `json:"visibility,omitempty"`
	Origin      *string `json:"origin,omitempty"`
	Retention   *string `json:"retention,omitempty"`
	Quota       *int64  `json:"quota,omitempty"` // bytes, 0: no limit; only sysadmins may change it

	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// The sources from which the service fills properties of files: a sidecar file next to the file, or
// the header of the file.
const (
	Sidecar = "sidecar"
	Header  = "header"
)

// Set is a group of resources within one dataspace.
type Set struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	Name         string `json:"name"` // unique in the service, cannot be changed
	Title        string `json:"title"`
	Description  string `json:"description"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Resources    string `json:"resources"` // URL of the listing of its resources
	State        string `json:"state"`     // Active or Deleted
	History
	Extract  []string `json:"extract"` // sources of properties of its files: Sidecar, Header, both or none
	Metadata Metadata `json:"metadata,omitempty"`
	ETag     string   `json:"-"` // entity tag of the record; "" in listings
}

// NewSet describes a set to create. Name and DataspaceID are required.
type NewSet struct {
	Name        string `json:"name"` // 2 to 100 of a-z, 0-9, - and _
	DataspaceID string `json:"dataspaceId"`
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB

	Extract  []string `json:"extract,omitempty"` // Sidecar, Header or both; empty: only users set properties
	Metadata Metadata `json:"metadata,omitempty"`
}

// SetEdit changes a set; nil fields stay unchanged.
type SetEdit struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`

	Extract  []string `json:"extract,omitzero"`   // nil: unchanged; empty: no sources
	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// Counters count files and bytes. Files with the same content count separately. A purged file
// counts as deleted, with 0 bytes.
type Counters struct {
	ActiveFiles  int64 `json:"activeFiles"`
	ActiveBytes  int64 `json:"activeBytes"`
	DeletedFiles int64 `json:"deletedFiles"`
	DeletedBytes int64 `json:"deletedBytes"`
	OldVersions  int64 `json:"oldVersions"` // superseded versions whose files still exist
	OldBytes     int64 `json:"oldBytes"`
}

// Bytes returns the bytes that count towards a quota.
func (c Counters) Bytes() int64 { return c.ActiveBytes + c.DeletedBytes + c.OldBytes }

// Usage is the usage of one dataspace, or of all that the caller may read.
type Usage struct {
	Counters
	Days       []UsageDay       `json:"days"`                // oldest first
	Dataspaces []DataspaceUsage `json:"dataspaces,omitzero"` // per dataspace; nil for a single dataspace
	Quota      int64            `json:"quota,omitempty"`     // as in DataspaceUsage; 0 for several dataspaces
}

// UsageDay is the usage at the end of a day with a change.
type UsageDay struct {
	Day string `json:"day"` // in UTC, as 2024-11-19
	Counters
}

// DataspaceUsage is the usage of one of several dataspaces.
type DataspaceUsage struct {
	DataspaceID string `json:"dataspaceId"`
	Counters
	Quota int64 `json:"quota,omitempty"` // limit for Counters.Bytes; 0: no limit, or the caller has no role
}

// UserUsage is the usage of a user: all versions that the user has stored.
type UserUsage struct {
	Used  int64 `json:"used"`            // bytes
	Quota int64 `json:"quota,omitempty"` // limit in bytes; 0: no limit
}
