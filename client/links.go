package client

import (
	"context"
	"iter"
	"net/http"
)

// Links are the calls about shares, file requests and invitations.
type Links struct{ c *caller }

// List lists the caller's own links, and the links of dataspaces where the caller is Admin; for
// sysadmins all links. They are sorted by creation. It takes UserID, DataspaceID, SetID, State and
// Limit.
func (s Links) List(ctx context.Context, o ListOptions) iter.Seq2[Link, error] {
	return list[Link](ctx, s.c, o, "links")
}

// Get reads a link.
func (s Links) Get(ctx context.Context, id string) (Link, error) {
	return one[Link](ctx, s.c, request{method: http.MethodGet, path: at("links", id)})
}

// Create makes a link.
func (s Links) Create(ctx context.Context, l NewLink) (AddressedLink, error) {
	return one[AddressedLink](ctx, s.c, request{method: http.MethodPost, path: at("links"), in: l, once: true})
}

// Edit changes a link.
func (s Links) Edit(ctx context.Context, id string, edit LinkEdit, when ...Condition) (Link, error) {
	return one[Link](ctx, s.c, request{method: http.MethodPut, path: at("links", id), in: edit}.under(when))
}

// Revoke ends a link permanently. A link that is already revoked is not an error.
func (s Links) Revoke(ctx context.Context, id string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("links", id)})
}

// EndUploads ends the unfinished uploads of a request link, and removes their data.
func (s Links) EndUploads(ctx context.Context, id string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("links", id, "uploads")})
}

// Take makes the caller the owner of a link.
func (s Links) Take(ctx context.Context, id string) (Link, error) {
	return one[Link](ctx, s.c, request{method: http.MethodPost, path: at("links", id, "take")})
}
