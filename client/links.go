package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// The kinds of links.
const (
	Share      = "share"      // shows files
	Request    = "request"    // takes files
	Invitation = "invitation" // makes a user, or gives one a role
)

// Link is an address by which people without an account get files, or give some.
type Link struct {
	ID            string    `json:"id"`
	URL           string    `json:"url"` // of this record
	Kind          string    `json:"kind"`
	Label         string    `json:"label"`
	DataspaceID   string    `json:"dataspaceId"` // "" of an invitation that gives an account alone
	SetID         string    `json:"setId"`       // "" of an invitation
	Role          string    `json:"role"`        // that an invitation gives; "": none
	Folder        string    `json:"folder"`      // of the set; "": all of it, or Resources
	Resources     []string  `json:"resourceIds"` // ids
	Version       int64     `json:"version"`     // of its one file; 0: the present one
	OwnerID       string    `json:"ownerId"`     // user whose rights it has
	MadeWith      string    `json:"madeWith"`    // id of the owner's key with which it ends; "": none
	State         string    `json:"state"`       // active, expired, revoked or used_up
	Created       time.Time `json:"created"`
	Modified      time.Time `json:"modified"`
	CreatedBy     string    `json:"createdBy"`
	ModifiedBy    string    `json:"modifiedBy"`
	Expires       string    `json:"expires"` // RFC 3339; "": never
	HasPassword   bool      `json:"hasPassword"`
	MaxUses       int64     `json:"maxUses"` // 0: any number
	HidesPeople   bool      `json:"hidesPeople"`
	MaxBytes      int64     `json:"maxBytes"`
	MaxFileBytes  int64     `json:"maxFileBytes"`
	Types         []string  `json:"types"`
	Uses          int64     `json:"uses"` // downloads, files received, or who accepted it
	BytesReceived int64     `json:"bytesReceived"`

	UnfinishedUploads int       `json:"unfinishedUploads"` // of a request
	UnfinishedBytes   int64     `json:"unfinishedBytes"`   // that have come of them
	LastUsed          time.Time `json:"lastUsed,omitzero"`
	ETag              string    `json:"-"` // for IfMatch and IfNoneMatch; "" in listings
}

func (l *Link) identify(etag string) string {
	l.ETag = etag
	return l.ID
}

// AddressedLink is a link with its address for visitors, which the service does not show again.
type AddressedLink struct {
	Link
	Address string `json:"address"`
}

// NewLink is a link to be made. Kind is needed, of a share or request SetID, too, and of an
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

// Links lists the caller's own links, and those of dataspaces where the caller is Admin; for
// sysadmins all. They are ordered by creation. It takes UserID, DataspaceID, SetID, State and
// Limit.
func (c *Client) Links(ctx context.Context, o ListOptions) iter.Seq2[Link, error] {
	return list[Link](ctx, c, o, "links")
}

// Link reads a link.
func (c *Client) Link(ctx context.Context, id string) (Link, error) {
	return one[Link](ctx, c, request{method: http.MethodGet, path: at("links", id)})
}

// NewLink makes a link.
func (c *Client) NewLink(ctx context.Context, l NewLink) (AddressedLink, error) {
	return one[AddressedLink](ctx, c, request{method: http.MethodPost, path: at("links"), in: l, once: true})
}

// EditLink changes a link.
func (c *Client) EditLink(ctx context.Context, id string, edit LinkEdit, when ...Condition) (Link, error) {
	return one[Link](ctx, c, request{method: http.MethodPut, path: at("links", id), in: edit}.under(when))
}

// RevokeLink ends a link for good. That it was revoked already is no error.
func (c *Client) RevokeLink(ctx context.Context, id string) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("links", id)})
}

// EndLinkUploads ends the unfinished uploads of a request link, and removes what has come of them.
func (c *Client) EndLinkUploads(ctx context.Context, id string) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("links", id, "uploads")})
}

// TakeLink makes the caller the owner of a link.
func (c *Client) TakeLink(ctx context.Context, id string) (Link, error) {
	return one[Link](ctx, c, request{method: http.MethodPost, path: at("links", id, "take")})
}
