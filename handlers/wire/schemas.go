package wire

import "encoding/json"

// The objects that schemas describe.
const (
	ForFiles = "files"
	ForSets  = "sets"
)

// Schema defines the properties of the files or the sets of a dataspace.
type Schema struct {
	ID          string          `json:"id"`
	URL         string          `json:"url"`
	DataspaceID string          `json:"dataspaceId"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	For         string          `json:"for"`     // ForFiles or ForSets
	Types       []string        `json:"types"`   // for files: media types, type/*, formats, extensions with a dot; empty: all files
	Enforce     bool            `json:"enforce"` // changes of properties that violate the schema are refused
	Version     int             `json:"version"` // number of the newest version
	Schema      json.RawMessage `json:"schema"`  // JSON Schema
	Form        json.RawMessage `json:"form"`    // description of the form that pages show
	State       string          `json:"state"`   // Active or Deleted
	History
	ETag string `json:"-"` // entity tag of the record; "" in listings
}

// NewSchema describes a schema to create. Name and Schema are required.
type NewSchema struct {
	Name        string          `json:"name"`
	Schema      json.RawMessage `json:"schema"`
	For         string          `json:"for,omitempty"` // "": ForFiles
	Types       []string        `json:"types,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Enforce     bool            `json:"enforce,omitempty"`
}

// SchemaEdit changes a schema; nil fields stay unchanged. A changed Schema creates a new version.
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
	Version      int             `json:"version"`
	Schema       json.RawMessage `json:"schema"`
	Form         json.RawMessage `json:"form"`
	Created      Time            `json:"created"`
	CreatedEpoch Epoch           `json:"created_epoch,omitzero"`
	CreatedBy    string          `json:"createdBy"` // id of a user
}

// Conformance compares a set or a resource with the schema that applies to it. Without a schema,
// only the last two fields are set.
type Conformance struct {
	Schema     *AppliedSchema    `json:"schema,omitempty"`
	Newest     int               `json:"newest,omitempty"` // number of the schema's newest version
	Form       json.RawMessage   `json:"form,omitempty"`
	Incomplete bool              `json:"incomplete"`
	Problems   []PropertyProblem `json:"problems"`
}

// AppliedSchema is the schema that applies to an object.
type AppliedSchema struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version int    `json:"version"` // version that the properties were entered with
	Enforce bool   `json:"enforce"`
}

// PropertyProblem is one violation of a schema.
type PropertyProblem struct {
	Path    string `json:"path"`    // JSON pointer into the properties
	Rule    string `json:"rule"`    // keyword of JSON Schema
	Message string `json:"message"` // continues a sentence that begins with the name of the property
}
