package client

import (
	"context"
	"iter"
	"net/http"
)

// The roles in a dataspace.
const (
	Member = "member" // reads
	Editor = "editor" // also writes
	Admin  = "admin"  // also manages the dataspace and its roles
)

// Privilege is the role of one user in one dataspace, of which there is one at most.
type Privilege struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	UserID       string `json:"userId"`
	UserURL      string `json:"userUrl"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Role         string `json:"role"`  // Member, Editor or Admin
	State        string `json:"state"` // Active or, once revoked, Deleted
	ETag         string `json:"-"`     // for IfMatch and IfNoneMatch; "" in listings
}

func (p *Privilege) identify(etag string) string {
	p.ETag = etag
	return p.ID
}

// NewPrivilege is a role to be granted.
type NewPrivilege struct {
	UserID      string `json:"userId"`
	DataspaceID string `json:"dataspaceId"`
	Role        string `json:"role"` // Member, Editor or Admin
}

// Privileges lists the caller's own privileges and those in dataspaces where the caller has a role;
// for sysadmins all. They are ordered by creation. It takes UserID, DataspaceID, State and Limit.
func (c *Client) Privileges(ctx context.Context, o ListOptions) iter.Seq2[Privilege, error] {
	return list[Privilege](ctx, c, o, "privileges")
}

// Privilege reads a privilege.
func (c *Client) Privilege(ctx context.Context, id string, when ...Condition) (Privilege, error) {
	return one[Privilege](ctx, c, request{method: http.MethodGet, path: at("privileges", id)}.under(when))
}

// Grant gives a user a role in a dataspace, in place of the previous one.
func (c *Client) Grant(ctx context.Context, p NewPrivilege) (Privilege, error) {
	return one[Privilege](ctx, c, request{method: http.MethodPost, path: at("privileges"), in: p})
}

// Revoke takes a privilege away; its record stays, as Deleted. That it was revoked already is no
// error.
func (c *Client) Revoke(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("privileges", id)}.under(when))
}
