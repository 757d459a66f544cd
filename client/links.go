package client

import (
	"context"
	"iter"
	"net/http"
)

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
