package client

import (
	"context"
	"net/http"
	"strconv"
)

// Schemas returns the schemas of a dataspace, the oldest first, deleted ones, too.
func (c *Client) Schemas(ctx context.Context, dataspace string) ([]Schema, error) {
	return everything[Schema](ctx, c, at("dataspaces", dataspace, "schemas"))
}

// Schema reads a schema.
func (c *Client) Schema(ctx context.Context, id string, when ...Condition) (Schema, error) {
	return one[Schema](ctx, c, request{method: http.MethodGet, path: at("schemas", id)}.under(when))
}

// NewSchema makes a schema in a dataspace.
func (c *Client) NewSchema(ctx context.Context, dataspace string, s NewSchema) (Schema, error) {
	return one[Schema](ctx, c, request{method: http.MethodPost, path: at("dataspaces", dataspace, "schemas"), in: s, once: true})
}

// EditSchema changes a schema.
func (c *Client) EditSchema(ctx context.Context, id string, edit SchemaEdit, when ...Condition) (Schema, error) {
	return one[Schema](ctx, c, request{method: http.MethodPut, path: at("schemas", id), in: edit}.under(when))
}

// DeleteSchema deletes a schema: it applies to nothing any more.
func (c *Client) DeleteSchema(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("schemas", id)}.under(when))
}

// RestoreSchema restores a deleted schema.
func (c *Client) RestoreSchema(ctx context.Context, id string, when ...Condition) (Schema, error) {
	return one[Schema](ctx, c, request{method: http.MethodPost, path: at("schemas", id, "restore")}.under(when))
}

// SchemaVersions returns the last versions of a schema, up to 50, the newest first.
func (c *Client) SchemaVersions(ctx context.Context, id string) ([]SchemaVersion, error) {
	return everything[SchemaVersion](ctx, c, at("schemas", id, "versions"))
}

// SchemaVersion reads a version of a schema by its number.
func (c *Client) SchemaVersion(ctx context.Context, id string, number int) (SchemaVersion, error) {
	return one[SchemaVersion](ctx, c, request{method: http.MethodGet, path: at("schemas", id, "versions", strconv.Itoa(number))})
}

// SetConformance returns which schema applies to a set, and what is missing.
func (c *Client) SetConformance(ctx context.Context, set string) (Conformance, error) {
	return c.conformance(ctx, at("sets", set, "schema"))
}

// ResourceConformance returns which schema applies to a resource, and what is missing.
func (c *Client) ResourceConformance(ctx context.Context, resource string) (Conformance, error) {
	return c.conformance(ctx, at("resources", resource, "schema"))
}

func (c *Client) conformance(ctx context.Context, path string) (found Conformance, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error { return read(response, &found) })
	return found, err
}
