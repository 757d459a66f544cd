package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// What schemas describe.
const (
	ForFiles = "files"
	ForSets  = "sets"
)

// Schema says which properties the files or the sets of a dataspace have.
type Schema struct {
	ID          string          `json:"id"`
	URL         string          `json:"url"`
	DataspaceID string          `json:"dataspaceId"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	For         string          `json:"for"`     // ForFiles or ForSets
	Types       []string        `json:"types"`   // of files: media types, type/*, formats, extensions with a dot; none: all files
	Enforce     bool            `json:"enforce"` // a change of properties that breaks it is refused
	Version     int             `json:"version"` // number of the newest version
	Schema      json.RawMessage `json:"schema"`  // JSON Schema
	Form        json.RawMessage `json:"form"`    // what a page draws
	State       string          `json:"state"`
	Created     time.Time       `json:"created"`
	Modified    time.Time       `json:"modified"`
	CreatedBy   string          `json:"createdBy"`
	ModifiedBy  string          `json:"modifiedBy"`
	ETag        string          `json:"-"`
}

// NewSchema is a schema to be made. Name and Schema are needed.
type NewSchema struct {
	Name        string          `json:"name"`
	Schema      json.RawMessage `json:"schema"`
	For         string          `json:"for,omitempty"` // "": ForFiles
	Types       []string        `json:"types,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Enforce     bool            `json:"enforce,omitempty"`
}

// SchemaEdit changes a schema; nil fields stay. Another Schema makes a new version.
type SchemaEdit struct {
	Name        *string         `json:"name,omitempty"`
	Title       *string         `json:"title,omitempty"`
	Description *string         `json:"description,omitempty"`
	Types       *[]string       `json:"types,omitempty"`
	Enforce     *bool           `json:"enforce,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// SchemaVersion is one version of a schema.
type SchemaVersion struct {
	Version   int             `json:"version"`
	Schema    json.RawMessage `json:"schema"`
	Form      json.RawMessage `json:"form"`
	Created   time.Time       `json:"created"`
	CreatedBy string          `json:"createdBy"`
}

// Conformance is what a schema says of a set or a resource.
type Conformance struct {
	Schema *struct { // that applies; nil: none does
		ID      string `json:"id"`
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version int    `json:"version"` // that the properties were made with
		Enforce bool   `json:"enforce"`
	} `json:"schema,omitempty"`
	Newest     int               `json:"newest,omitempty"` // number of its newest version
	Form       json.RawMessage   `json:"form,omitempty"`
	Incomplete bool              `json:"incomplete"`
	Problems   []PropertyProblem `json:"problems"`
}

// PropertyProblem is one way in which properties are not what a schema asks for.
type PropertyProblem struct {
	Path    string `json:"path"`    // JSON pointer into the properties
	Rule    string `json:"rule"`    // keyword of JSON Schema
	Message string `json:"message"` // to be read behind the name
}

func (s *Schema) identify(etag string) string {
	s.ETag = etag
	return s.ID
}

func (v *SchemaVersion) identify(string) string { return strconv.Itoa(v.Version) }

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
