package client

import (
	"context"
	"iter"
	"net/http"
)

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
