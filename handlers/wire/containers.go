package wire

// The visibilities of a dataspace.
const (
	Private = "private" // only users with a role may read
	Public  = "public"  // every registered user may read
	Open    = "open"    // everybody may read, also without a key if the service allows that
)

// Dataspace is the top level: it holds sets, and users have roles in it.
type Dataspace struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Name        string `json:"name"` // unique, fixed
	Title       string `json:"title"`
	Description string `json:"description"`
	Visibility  string `json:"visibility"` // Private, Public or Open
	Origin      string `json:"origin"`     // "": unknown
	Resources   string `json:"resources"`  // URL of the listing of its resources
	Sets        string `json:"sets"`       // URL of the listing of its sets
	State       string `json:"state"`      // Active or Deleted
	History
	Retention string   `json:"retention"`       // which versions are kept: "everything", "last 5", "90 days"
	Quota     int64    `json:"quota,omitempty"` // bytes of all versions in it, at most; 0: no limit, or the caller is no sysadmin
	Metadata  Metadata `json:"metadata,omitempty"`
	ETag      string   `json:"-"` // of the answer; "" in listings
}

// NewDataspace is a dataspace to be created. Only Name is needed.
type NewDataspace struct {
	Name        string `json:"name"`                  // 2 to 100 of a-z, 0-9, - and _
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB
	Visibility  string `json:"visibility,omitempty"`  // "": Private
	Origin      string `json:"origin,omitempty"`      // up to 500 characters, free
	Retention   string `json:"retention,omitempty"`   // "": everything
	Quota       *int64 `json:"quota,omitempty"`       // of sysadmins: bytes, 0 for no limit; nil: the default of the configuration

	Metadata Metadata `json:"metadata,omitempty"`
}

// DataspaceEdit is what to change in a dataspace; what is nil stays.
type DataspaceEdit struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
	Visibility  *string `json:"visibility,omitempty"`
	Origin      *string `json:"origin,omitempty"`
	Retention   *string `json:"retention,omitempty"`
	Quota       *int64  `json:"quota,omitempty"` // bytes, 0 for no limit; only sysadmins change it

	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// The sources from which properties of files are filled without a person: a file beside them, or
// the header of the file itself.
const (
	Sidecar = "sidecar"
	Header  = "header"
)

// Set is a group of resources within one dataspace.
type Set struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	Name         string `json:"name"` // unique in the service, fixed
	Title        string `json:"title"`
	Description  string `json:"description"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Resources    string `json:"resources"` // URL of the listing of its resources
	State        string `json:"state"`     // Active or Deleted
	History
	Extract  []string `json:"extract"` // from where properties of its files are filled: Sidecar, Header, both or none
	Metadata Metadata `json:"metadata,omitempty"`
	ETag     string   `json:"-"` // of the answer; "" in listings
}

// NewSet is a set to be created. Name and DataspaceID are needed.
type NewSet struct {
	Name        string `json:"name"` // 2 to 100 of a-z, 0-9, - and _
	DataspaceID string `json:"dataspaceId"`
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB

	Extract  []string `json:"extract,omitempty"` // Sidecar, Header or both; none: properties are what people say
	Metadata Metadata `json:"metadata,omitempty"`
}

// SetEdit changes a set; nil fields stay.
type SetEdit struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`

	Extract  []string `json:"extract,omitzero"`   // nil: stays; empty: from nowhere
	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// Counters count files and bytes. Each file counts in full, also where two have the same content; a
// purged one counts as deleted, with 0 bytes.
type Counters struct {
	ActiveFiles  int64 `json:"activeFiles"`
	ActiveBytes  int64 `json:"activeBytes"`
	DeletedFiles int64 `json:"deletedFiles"`
	DeletedBytes int64 `json:"deletedBytes"`
	OldVersions  int64 `json:"oldVersions"` // before the current ones, less those whose files were removed
	OldBytes     int64 `json:"oldBytes"`
}

// Bytes are those that count towards a quota.
func (c Counters) Bytes() int64 { return c.ActiveBytes + c.DeletedBytes + c.OldBytes }

// Usage is the contents of one dataspace, or of all that the caller may read.
type Usage struct {
	Counters
	Days       []UsageDay       `json:"days"`                // oldest first
	Dataspaces []DataspaceUsage `json:"dataspaces,omitzero"` // each by itself; nil for one
	Quota      int64            `json:"quota,omitempty"`     // as in DataspaceUsage, of one; 0 for several
}

// UsageDay is the contents at the end of a day with a change.
type UsageDay struct {
	Day string `json:"day"` // in UTC, as 2024-11-19
	Counters
}

// DataspaceUsage is the contents of one of several dataspaces.
type DataspaceUsage struct {
	DataspaceID string `json:"dataspaceId"`
	Counters
	Quota int64 `json:"quota,omitempty"` // bytes of Counters.Bytes, at most; 0: no limit, or the caller has no role
}

// UserUsage is what all versions take that a user has stored.
type UserUsage struct {
	Used  int64 `json:"used"`            // bytes
	Quota int64 `json:"quota,omitempty"` // bytes, at most; 0: no limit
}
