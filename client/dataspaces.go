package client

import (
	"context"
	"iter"
	"net/http"
)

// Dataspaces are the calls about dataspaces.
type Dataspaces struct{ c *caller }

// List lists the dataspaces that the caller may read, by creation. It takes State, Name,
// Visibility, Origin and Limit.
func (s Dataspaces) List(ctx context.Context, o ListOptions) iter.Seq2[Dataspace, error] {
	return list[Dataspace](ctx, s.c, o, "dataspaces")
}

// Get reads a dataspace.
func (s Dataspaces) Get(ctx context.Context, id string, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodGet, path: at("dataspaces", id)}.under(when))
}

// Create makes a dataspace, of which the caller becomes admin.
func (s Dataspaces) Create(ctx context.Context, d NewDataspace) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPost, path: at("dataspaces"), in: d, once: true})
}

// Edit changes a dataspace and returns it as it is then.
func (s Dataspaces) Edit(ctx context.Context, id string, edit DataspaceEdit, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPut, path: at("dataspaces", id), in: edit}.under(when))
}

// Delete deletes a dataspace with all that is in it, which Restore brings back.
// It returns when all is deleted; that it was deleted already is no error.
func (s Dataspaces) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("dataspaces", id)}.under(when))
}

// Restore brings back a dataspace and exactly what its deletion took. That it is active
// already is no error.
func (s Dataspaces) Restore(ctx context.Context, id string, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPost, path: at("dataspaces", id, "restore")}.under(when))
}
