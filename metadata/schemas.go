package metadata

import (
	"iter"

	"labshelf/paging"
)

// Schema says which properties the sets of a dataspace have, or its files of some types. Its text
// is that of its newest version.
type Schema struct {
	Record
	DataspaceID              ID
	Name, Title, Description string // among the active schemas of a dataspace no two have the same name
	For                      SchemaFor
	Types                    string // of files: media types, type/*, formats and extensions with a dot, in lower case, with a line break between; "": all files
	Enforce                  bool   // a change of properties that breaks it is refused
	Version                  uint32 // number of the newest version, from 1
	Entry                    uint64 // as in Dataspace
}

// SchemaFor is what a schema is for. The numbers are stored: they never change.
type SchemaFor uint8

// What schemas are for.
const (
	ForFiles SchemaFor = 1
	ForSets  SchemaFor = 2
)

// String returns what the interface writes.
func (f SchemaFor) String() string {
	if f == ForSets {
		return "sets"
	}
	return "files"
}

// SchemaVersion is one version of a schema. It stays for ever: records name the version that they
// were made with.
type SchemaVersion struct {
	SchemaID  ID
	Number    uint32 // from 1
	Text      string // JSON Schema, as it was sent; at most 64 KiB
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

// Newest is the key of the newest version of a schema.
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
