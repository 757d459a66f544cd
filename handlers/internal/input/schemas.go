package input

import (
	"encoding/json"

	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
)

func schemaFields(in *describe.SchemaFields) members {
	return members{
		"name": text(&in.Name), "title": text(&in.Title), "description": text(&in.Description), "types": texts(&in.Types), "enforce": truth(&in.Enforce),
		"schema": func(field string, value any) error {
			raw, ok := value.(json.RawMessage)
			if !ok {
				return core.Invalid(field, "%s must be a JSON Schema", field)
			}
			in.Text = raw
			return nil
		},
	}
}

// NewSchema decodes name, schema, and the optional for, types, title, description and enforce.
func NewSchema(f Object) (in describe.NewSchema) {
	if purpose, named := f["for"]; named {
		if in.Malformed = schemaFor(&in.For)("for", purpose); in.Malformed != nil {
			return in
		}
	}
	for _, field := range []string{"name", "schema"} {
		if _, sent := f[field]; !sent {
			in.Malformed = core.Missing(field, "%s is required", field)
			return in
		}
	}
	in.Malformed = schemaFields(&in.SchemaFields).read(f, "for")
	return in
}

// SchemaEdit decodes the changeable fields of a schema.
func SchemaEdit(f Object, shown Shown) (in describe.SchemaFields) {
	in.Malformed = schemaFields(&in).edit(f, shown, readOnly)
	return in
}

func schemaFor(at *metadata.SchemaFor) func(string, any) error {
	return func(field string, value any) error {
		word, err := str(field, value)
		if err != nil {
			return err
		}
		for _, purpose := range []metadata.SchemaFor{metadata.ForFiles, metadata.ForSets} {
			if purpose.String() == word {
				*at = purpose
				return nil
			}
		}
		return core.Invalid(field, "%s must be files or sets", field)
	}
}
