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

// Create creates a dataspace. The caller becomes its admin.
func (s Dataspaces) Create(ctx context.Context, d NewDataspace) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPost, path: at("dataspaces"), in: d, once: true})
}

// Edit changes a dataspace and returns the new state.
func (s Dataspaces) Edit(ctx context.Context, id string, edit DataspaceEdit, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPut, path: at("dataspaces", id), in: edit}.under(when))
}

// Delete deletes a dataspace with its content, which Restore restores. It returns when everything
// is deleted. A dataspace that is already deleted is not an error.
func (s Dataspaces) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("dataspaces", id)}.under(when))
}

// Restore restores a dataspace and exactly the content that was deleted with it. An active
// dataspace is not an error.
func (s Dataspaces) Restore(ctx context.Context, id string, when ...Condition) (Dataspace, error) {
	return one[Dataspace](ctx, s.c, request{method: http.MethodPost, path: at("dataspaces", id, "restore")}.under(when))
}
