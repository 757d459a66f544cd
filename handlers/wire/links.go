package wire

import "labshelf/blobs/digest"

// The kinds of links.
const (
	Share      = "share"      // shows files
	Request    = "request"    // takes files
	Invitation = "invitation" // creates a user, or gives one a role
)

// Link is an address by which people without an account get files, or give some.
type Link struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"` // of this record
	Kind        string   `json:"kind"`
	Label       string   `json:"label"`
	DataspaceID string   `json:"dataspaceId"`        // "" of an invitation that gives an account alone
	SetID       string   `json:"setId"`              // "" of an invitation
	Role        string   `json:"role"`               // that an invitation gives; "": none
	Folder      string   `json:"folder"`             // of the set; "": all of it, or Resources
	Resources   []string `json:"resourceIds"`        // ids
	Version     int64    `json:"version"`            // of its one file; 0: the present one
	OwnerID     string   `json:"ownerId"`            // user whose rights it has
	MadeWith    string   `json:"madeWith,omitempty"` // id of the owner's key with which it ends; "": none
	State       string   `json:"state"`              // active, expired, revoked or used_up
	History
	Expires       string   `json:"expires"` // RFC 3339; "": never
	HasPassword   bool     `json:"hasPassword"`
	MaxUses       int64    `json:"maxUses"` // 0: any number
	HidesPeople   bool     `json:"hidesPeople"`
	MaxBytes      int64    `json:"maxBytes"`
	MaxFileBytes  int64    `json:"maxFileBytes"`
	Types         []string `json:"types"`
	Uses          int64    `json:"uses"` // downloads, files received, or accepted invitations
	BytesReceived int64    `json:"bytesReceived"`

	UnfinishedUploads int    `json:"unfinishedUploads"` // of a request
	UnfinishedBytes   int64  `json:"unfinishedBytes"`   // that have come of them
	LastUsed          Time   `json:"lastUsed,omitzero"`
	ETag              string `json:"-"` // of the answer; "" in listings
}

// AddressedLink is a link with its address for visitors, which the service does not show again.
type AddressedLink struct {
	Link
	Address string `json:"address"`
}

// NewLink is a link to be created. Kind is needed, of a share or request SetID, too, and of an
// invitation DataspaceID and Role, or neither.
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

// LinkEdit changes a link; nil fields stay.
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

// SharedLink is a share or a request for programs of visitors.
type SharedLink struct {
	Kind        string       `json:"kind"`
	Label       string       `json:"label"`
	From        string       `json:"from,omitempty"` // the owner of the link
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Expires     string       `json:"expires"`            // RFC 3339; "": never
	Archive     string       `json:"archive,omitempty"`  // URL of all files of a share as a zip
	Files       []SharedFile `json:"files,omitempty"`    // of a share
	NextPage    string       `json:"nextPage,omitempty"` // URL of the files that follow
	Limits      string       `json:"limits,omitempty"`   // of a request, for people
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

// ReceivedFile is all that a visitor learns of a file that a request has received.
type ReceivedFile struct {
	Name   string        `json:"name"`
	Bytes  int64         `json:"bytes"`
	SHA256 digest.Digest `json:"sha256"`
}

// Invited is an invitation for programs of visitors.
type Invited struct {
	Kind      string `json:"kind"`
	From      string `json:"from"`
	Dataspace string `json:"dataspace,omitempty"` // its title; left out where the invitation gives an account alone
	Role      string `json:"role,omitempty"`
	Expires   string `json:"expires"` // RFC 3339; "": never
}

// Accepted is what a person has by an invitation.
type Accepted struct {
	User        User   `json:"user"`
	Key         string `json:"key,omitempty"` // of a new user
	DataspaceID string `json:"dataspaceId,omitempty"`
	Role        string `json:"role,omitempty"`
	Used        bool   `json:"used"` // the invitation, by this
}
