package wire

import "encoding/json"

// The objects that schemas describe.
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
	Form        json.RawMessage `json:"form"`    // for a page to draw
	State       string          `json:"state"`   // Active or Deleted
	History
	ETag string `json:"-"` // of the answer; "" in listings
}

// NewSchema is a schema to be created. Name and Schema are needed.
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
	Version      int             `json:"version"`
	Schema       json.RawMessage `json:"schema"`
	Form         json.RawMessage `json:"form"`
	Created      Time            `json:"created"`
	CreatedEpoch Epoch           `json:"created_epoch,omitzero"`
	CreatedBy    string          `json:"createdBy"` // id of a user
}

// Conformance is what the schema that applies says of a set or a resource. Without one there are
// only the last two fields.
type Conformance struct {
	Schema     *AppliedSchema    `json:"schema,omitempty"`
	Newest     int               `json:"newest,omitempty"` // number of its newest version
	Form       json.RawMessage   `json:"form,omitempty"`
	Incomplete bool              `json:"incomplete"`
	Problems   []PropertyProblem `json:"problems"`
}

// AppliedSchema is the schema that applies to an object.
type AppliedSchema struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version int    `json:"version"` // that the properties were made with
	Enforce bool   `json:"enforce"`
}

// PropertyProblem is one way in which properties are not what a schema asks for.
type PropertyProblem struct {
	Path    string `json:"path"`    // JSON pointer into the properties
	Rule    string `json:"rule"`    // keyword of JSON Schema
	Message string `json:"message"` // to be read behind the name
}
