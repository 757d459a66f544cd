package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// The visibilities of a dataspace.
const (
	Private = "private" // only users with a role may read
	Public  = "public"  // every registered user may read
	Open    = "open"    // everybody may read, also without a key if the service allows that
)

// Dataspace is the top level: it holds sets, and users have roles in it.
type Dataspace struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"`
	Name        string    `json:"name"` // unique, fixed
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Visibility  string    `json:"visibility"`      // Private, Public or Open
	Origin      string    `json:"origin"`          // "": none was given
	Resources   string    `json:"resources"`       // URL of the listing of its resources
	Sets        string    `json:"sets"`            // URL of the listing of its sets
	State       string    `json:"state"`           // Active or Deleted
	Created     time.Time `json:"created"`         // UTC, to the millisecond
	Modified    time.Time `json:"modified"`        // UTC, to the millisecond
	CreatedBy   string    `json:"createdBy"`       // id of a user
	ModifiedBy  string    `json:"modifiedBy"`      // id of a user
	Retention   string    `json:"retention"`       // which versions are kept: "everything", "last 5", "90 days"
	Quota       int64     `json:"quota,omitempty"` // bytes of all versions in it, at most; 0: no limit, or the caller is no sysadmin
	Metadata    Metadata  `json:"metadata,omitempty"`
	ETag        string    `json:"-"` // for IfMatch and IfNoneMatch; "" in listings
}

func (d *Dataspace) identify(etag string) string {
	d.ETag = etag
	return d.ID
}

// NewDataspace is a dataspace to be made. Only Name is needed.
type NewDataspace struct {
	Name        string `json:"name"`                  // 2 to 100 of a-z, 0-9, - and _
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB
	Visibility  string `json:"visibility,omitempty"`  // "": Private
	Origin      string `json:"origin,omitempty"`      // up to 500 characters, free
	Retention   string `json:"retention,omitempty"`   // "": everything
	Quota       *int64 `json:"quota,omitempty"`       // of sysadmins: bytes, 0 for no limit; nil: that of the configuration

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

// Dataspaces lists the dataspaces that the caller may read, by creation. It takes State, Name,
// Visibility, Origin and Limit.
func (c *Client) Dataspaces(ctx context.Context, o ListOptions) iter.Seq2[Dataspace, error] {
	return list[Dataspace](ctx, c, o, "dataspaces")
}

// Dataspace reads a dataspace.
func (c *Client) Dataspace(ctx context.Context, id string, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, c, request{method: http.MethodGet, path: at("dataspaces", id)}.under(when))
}

// NewDataspace makes a dataspace, of which the caller becomes admin.
func (c *Client) NewDataspace(ctx context.Context, d NewDataspace) (Dataspace, error) {
	return one[Dataspace](ctx, c, request{method: http.MethodPost, path: at("dataspaces"), in: d, once: true})
}

// EditDataspace changes a dataspace and returns it as it is then.
func (c *Client) EditDataspace(ctx context.Context, id string, edit DataspaceEdit, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, c, request{method: http.MethodPut, path: at("dataspaces", id), in: edit}.under(when))
}

// DeleteDataspace deletes a dataspace with all that is in it, which RestoreDataspace brings back.
// It returns when all is deleted; that it was deleted already is no error.
func (c *Client) DeleteDataspace(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("dataspaces", id)}.under(when))
}

// RestoreDataspace brings back a dataspace and exactly what its deletion took. That it is active
// already is no error.
func (c *Client) RestoreDataspace(ctx context.Context, id string, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, c, request{method: http.MethodPost, path: at("dataspaces", id, "restore")}.under(when))
}
