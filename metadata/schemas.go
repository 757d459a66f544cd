package metadata

import (
	"iter"

	"labshelf/paging"
)

// Schema defines the properties of a dataspace's sets, or of its files with certain types. Its text
// is the text of its newest version.
type Schema struct {
	Record
	DataspaceID              ID
	Name, Title, Description string // Name is unique among the active schemas of a dataspace
	For                      SchemaFor
	Types                    string // for files: media types, type/*, formats and extensions with a dot, in lower case, one per line; "": all files
	Enforce                  bool   // changes of properties that violate the schema are refused
	Version                  uint32 // number of the newest version, from 1
	Entry                    uint64 // as in Dataspace
}

// SchemaFor is the kind of object that a schema describes. The numbers are stored and never change.
type SchemaFor uint8

// The kinds of objects that schemas describe.
const (
	ForFiles SchemaFor = 1
	ForSets  SchemaFor = 2
)

// String returns the name of the kind in the API.
func (f SchemaFor) String() string {
	if f == ForSets {
		return "sets"
	}
	return "files"
}

// SchemaVersion is one version of a schema. It is never removed, because records name the version
// that they were entered with.
type SchemaVersion struct {
	SchemaID  ID
	Number    uint32 // from 1
	Text      string // JSON Schema as sent; at most 64 KiB
	Created   Stamp
	CreatedBy ID
}

// SchemaVersionKey identifies one version of a schema.
type SchemaVersionKey struct {
	Schema ID
	Number uint32
}

// Key is the key of the version.
func (v SchemaVersion) Key() SchemaVersionKey { return SchemaVersionKey{v.SchemaID, v.Number} }

// Newest returns the key of the newest version of a schema.
func (s Schema) Newest() SchemaVersionKey { return SchemaVersionKey{s.ID, s.Version} }

// Schemas is the table of schemas.
type Schemas interface {
	Table[ID, Schema]
	SchemaFinders
}

// SchemaFinders finds schemas by dataspace.
type SchemaFinders interface {
	// OfDataspace yields the schemas of a dataspace in some states, ascending by id.
	OfDataspace(dataspace ID, states paging.States) iter.Seq2[Schema, error]
}

// SchemaVersions is the table of the versions of schemas. The repository removes no row.
type SchemaVersions interface {
	Table[SchemaVersionKey, SchemaVersion]
	Backwards[SchemaVersionKey, SchemaVersion]
}
