package client

import (
	"context"
	"net/http"
	"strconv"
)

// Schemas are the calls about schemas of metadata.
type Schemas struct{ c *caller }

// List returns the schemas of a dataspace, the oldest first, including deleted ones.
func (s Schemas) List(ctx context.Context, dataspace string) ([]Schema, error) {
	return everything[Schema](ctx, s.c, at("dataspaces", dataspace, "schemas"))
}

// Get reads a schema.
func (s Schemas) Get(ctx context.Context, id string, when ...Condition) (Schema, error) {
	return one[Schema](ctx, s.c, request{method: http.MethodGet, path: at("schemas", id)}.under(when))
}

// Create makes a schema in a dataspace.
func (s Schemas) Create(ctx context.Context, dataspace string, n NewSchema) (Schema, error) {
	return one[Schema](ctx, s.c, request{method: http.MethodPost, path: at("dataspaces", dataspace, "schemas"), in: n, once: true})
}

// Edit changes a schema.
func (s Schemas) Edit(ctx context.Context, id string, edit SchemaEdit, when ...Condition) (Schema, error) {
	return one[Schema](ctx, s.c, request{method: http.MethodPut, path: at("schemas", id), in: edit}.under(when))
}

// Delete deletes a schema: it no longer applies to any object.
func (s Schemas) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("schemas", id)}.under(when))
}

// Restore restores a deleted schema.
func (s Schemas) Restore(ctx context.Context, id string, when ...Condition) (Schema, error) {
	return one[Schema](ctx, s.c, request{method: http.MethodPost, path: at("schemas", id, "restore")}.under(when))
}

// Versions returns the last versions of a schema, up to 50, the newest first.
func (s Schemas) Versions(ctx context.Context, id string) ([]SchemaVersion, error) {
	return everything[SchemaVersion](ctx, s.c, at("schemas", id, "versions"))
}

// Version reads a version of a schema by its number.
func (s Schemas) Version(ctx context.Context, id string, number int) (SchemaVersion, error) {
	return one[SchemaVersion](ctx, s.c, request{method: http.MethodGet, path: at("schemas", id, "versions", strconv.Itoa(number))})
}

// Conformance returns the schema that applies to a set, and the violations.
func (s Sets) Conformance(ctx context.Context, set string) (Conformance, error) {
	return s.c.conformance(ctx, at("sets", set, "schema"))
}

// Conformance returns the schema that applies to a resource, and the violations.
func (s Resources) Conformance(ctx context.Context, resource string) (Conformance, error) {
	return s.c.conformance(ctx, at("resources", resource, "schema"))
}

func (c *caller) conformance(ctx context.Context, path string) (found Conformance, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error { return read(response, &found) })
	return found, err
}
