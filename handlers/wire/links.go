package wire

import "labshelf/blobs/digest"

// The kinds of links.
const (
	Share      = "share"      // shows files
	Request    = "request"    // receives files
	Invitation = "invitation" // creates a user or gives a user a role
)

// Link is an address through which people without an account receive or send files, or join.
type Link struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"` // of this record
	Kind        string   `json:"kind"`
	Label       string   `json:"label"`
	DataspaceID string   `json:"dataspaceId"`        // "" for an invitation that only creates an account
	SetID       string   `json:"setId"`              // "" for an invitation
	Role        string   `json:"role"`               // role that an invitation gives; "": none
	Folder      string   `json:"folder"`             // folder of the set; "": the whole set, or Resources
	Resources   []string `json:"resourceIds"`        // ids
	Version     int64    `json:"version"`            // fixed version of its only file; 0: the current version
	OwnerID     string   `json:"ownerId"`            // user whose permissions the link has
	MadeWith    string   `json:"madeWith,omitempty"` // id of the owner's key whose end ends the link; "": none
	State       string   `json:"state"`              // active, expired, revoked or used_up
	History
	Expires       string   `json:"expires"` // RFC 3339; "": never
	HasPassword   bool     `json:"hasPassword"`
	MaxUses       int64    `json:"maxUses"` // 0: no limit
	HidesPeople   bool     `json:"hidesPeople"`
	MaxBytes      int64    `json:"maxBytes"`
	MaxFileBytes  int64    `json:"maxFileBytes"`
	Types         []string `json:"types"`
	Uses          int64    `json:"uses"` // downloads, files received, or accepted invitations
	BytesReceived int64    `json:"bytesReceived"`

	UnfinishedUploads int    `json:"unfinishedUploads"` // of a file request
	UnfinishedBytes   int64  `json:"unfinishedBytes"`   // bytes received of unfinished uploads
	LastUsed          Time   `json:"lastUsed,omitzero"`
	ETag              string `json:"-"` // entity tag of the record; "" in listings
}

// AddressedLink is a new link with its address for visitors, which the service shows only once.
type AddressedLink struct {
	Link
	Address string `json:"address"`
}

// NewLink describes a link to create. Kind is required. A share or file request requires SetID. An
// invitation requires DataspaceID and Role, or neither.
type NewLink struct {
	Kind         string   `json:"kind"`
	SetID        string   `json:"setId,omitempty"`
	DataspaceID  string   `json:"dataspaceId,omitempty"`
	Role         string   `json:"role,omitempty"`
	Folder       string   `json:"folder,omitempty"`
	Resources    []string `json:"resourceIds,omitempty"`
	Version      int64    `json:"version,omitempty"`
	Label        string   `json:"label,omitempty"`    // up to 100 characters
	Expires      string   `json:"expires,omitempty"`  // RFC 3339
	Password     string   `json:"password,omitempty"` // 6 characters or more
	MaxUses      int64    `json:"maxUses,omitempty"`
	HidesPeople  bool     `json:"hidesPeople,omitempty"`
	MaxBytes     int64    `json:"maxBytes,omitempty"`
	MaxFileBytes int64    `json:"maxFileBytes,omitempty"`
	Types        []string `json:"types,omitempty"`
}

// LinkEdit changes a link; nil fields stay unchanged.
type LinkEdit struct {
	Label        *string   `json:"label,omitempty"`
	Expires      *string   `json:"expires,omitempty"`  // "": never
	Password     *string   `json:"password,omitempty"` // "": none
	MaxUses      *int64    `json:"maxUses,omitempty"`
	HidesPeople  *bool     `json:"hidesPeople,omitempty"`
	MaxBytes     *int64    `json:"maxBytes,omitempty"`
	MaxFileBytes *int64    `json:"maxFileBytes,omitempty"`
	Types        *[]string `json:"types,omitempty"`
}

// SharedLink is a share or a file request, for programs of visitors.
type SharedLink struct {
	Kind        string       `json:"kind"`
	Label       string       `json:"label"`
	From        string       `json:"from,omitempty"` // owner of the link
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Expires     string       `json:"expires"`            // RFC 3339; "": never
	Archive     string       `json:"archive,omitempty"`  // URL of all files of a share as a zip
	Files       []SharedFile `json:"files,omitempty"`    // files of a share
	NextPage    string       `json:"nextPage,omitempty"` // URL of the next page of files
	Limits      string       `json:"limits,omitempty"`   // limits of a file request, for people
}

// SharedFile is a file of a share.
type SharedFile struct {
	Name     string        `json:"name"`
	URL      string        `json:"url"`
	Bytes    int64         `json:"bytes"`
	Mimetype string        `json:"mimetype"`
	SHA256   digest.Digest `json:"sha256"`
	Modified string        `json:"modified"` // RFC 3339, to the second
}

// ReceivedFile contains the fields that a visitor sees of a file received by a file request.
type ReceivedFile struct {
	Name   string        `json:"name"`
	Bytes  int64         `json:"bytes"`
	SHA256 digest.Digest `json:"sha256"`
}

// Invited is an invitation for programs of visitors.
type Invited struct {
	Kind      string `json:"kind"`
	From      string `json:"from"`
	Dataspace string `json:"dataspace,omitempty"` // title of the dataspace; "" if the invitation only creates an account
	Role      string `json:"role,omitempty"`
	Expires   string `json:"expires"` // RFC 3339; "": never
}

// Accepted is the result of accepting an invitation.
type Accepted struct {
	User        User   `json:"user"`
	Key         string `json:"key,omitempty"` // of a new user
	DataspaceID string `json:"dataspaceId,omitempty"`
	Role        string `json:"role,omitempty"`
	Used        bool   `json:"used"` // the invitation was used up by this
}
