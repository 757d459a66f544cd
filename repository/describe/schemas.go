package describe

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/schemas"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/rows"
)

// Schemas offers the use cases of the schemas of dataspaces. It is safe for concurrent use.
type Schemas struct {
	core    *core.Core
	schemas *conformance.Schemas
}

// NewSchemas returns the schemas of a repository.
func NewSchemas(core *core.Core, schemas *conformance.Schemas) *Schemas {
	return &Schemas{core: core, schemas: schemas}
}

// Bounds of the schemas of a dataspace.
const (
	maxSchemas       = 50  // active
	maxKeptSchemas   = 200 // including deleted ones
	maxVersionsShown = 50  // in one listing
)

// Schema is a schema with its newest version.
type Schema struct {
	metadata.Schema
	Text string       // JSON Schema
	Form schemas.Form // for pages
}

// SchemaVersion is a version of a schema.
type SchemaVersion struct {
	metadata.SchemaVersion
	Form schemas.Form
}

// Types returns the types of files that the schema is for. If empty, it is for all files.
func (s Schema) Types() []string { return conformance.TypesOf(s.Schema) }

// SchemaFields are the changeable fields of a schema. A nil field keeps its value.
type SchemaFields struct {
	Name, Title, Description *string
	Types                    []string // of files; empty means all
	Enforce                  *bool
	Text                     []byte // JSON Schema
	core.Input
}

// NewSchema describes a schema to create. Name and Text are required.
type NewSchema struct {
	For metadata.SchemaFor // 0 means files
	SchemaFields
}

// apply validates the fields and sets them in a schema. It does not check that Text is a JSON
// Schema; see compile.
func (f SchemaFields) apply(s *Schema) error {
	core.Set(&s.Enforce, f.Enforce)
	core.Set(&s.Name, f.Name)
	return cmp.Or(
		core.ProseText.Set(&s.Description, "description", f.Description),
		f.checkName(),
		f.applyText(s),
		core.TitleText.Set(&s.Title, "title", f.Title),
		f.applyTypes(s),
		f.Malformed)
}

func (f SchemaFields) checkName() error {
	if f.Name == nil {
		return nil
	}
	return core.CheckContainerName(*f.Name)
}

// applyText sets the text, without insignificant white space.
func (f SchemaFields) applyText(s *Schema) error {
	if f.Text == nil {
		return nil
	}
	compact := jsontext.Value(bytes.Clone(f.Text))
	if err := compact.Format(jsontext.PreserveRawStrings(false)); err != nil {
		return core.Invalid("schema", "schema is not JSON: %v", err)
	}
	s.Text = string(compact)
	return nil
}

func (f SchemaFields) applyTypes(s *Schema) (err error) {
	if f.Types == nil {
		return nil
	}
	if s.For == metadata.ForSets && len(f.Types) > 0 {
		return core.Invalid("types", "types applies only to schemas for files, not for sets")
	}
	if s.Schema.Types, err = conformance.ParseTypes(f.Types); err != nil {
		return core.Invalid("types", "types %v", err)
	}
	return nil
}

// compile sets the form of the schema, and returns an error if its text is not a JSON Schema. It
// may take seconds.
func (s *Schema) compile() error {
	compiled, err := schemas.Compile([]byte(s.Text))
	if err != nil {
		return core.Invalid("schema", "schema: %v", err)
	}
	s.Form = compiled.Form()
	return nil
}

// lookupSchema reads a schema, and authorises the caller for an action in its dataspace.
func lookupSchema(tx *metadata.Tx, p auth.Principal, id string, action auth.Action) (s Schema, err error) {
	s.Schema, err = core.ByID(tx.Schemas.Get, id)
	if s.Schema, err = core.OrNotFound(s.Schema, err, errs.CodeSchemaNotFound, "schema", ""); err != nil {
		return s, err
	}
	d, err := tx.Dataspaces.Get(s.DataspaceID)
	if err == nil {
		err = core.Authorise(tx, p, d, action)
	}
	if err != nil {
		return s, err
	}
	newest, err := tx.SchemaVersions.Get(s.Newest())
	s.Text = newest.Text
	return s, err
}

// version returns the newest version of a schema.
func (s Schema) version() metadata.SchemaVersion {
	return metadata.SchemaVersion{SchemaID: s.ID, Number: s.Version, Text: s.Text}
}

// Create creates a schema in a dataspace.
func (s *Schemas) Create(ctx context.Context, p auth.Principal, dataspace string, in NewSchema) (created Schema, err error) {
	draft := func(tx *metadata.Tx, p auth.Principal) (d metadata.Dataspace, err error) {
		if d, err = core.LookupDataspace(tx, dataspace, ""); err == nil {
			err = core.Authorise(tx, p, d, auth.Manage)
		}
		if err == nil {
			created, err = newSchema(d, in)
		}
		return d, err
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := draft(tx, p)
		return err
	})
	if err == nil {
		err = created.compile()
	}
	if err != nil {
		return Schema{}, err
	}
	form := created.Form
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		d, err := draft(tx, p)
		if err != nil {
			return err
		}
		if d.State == metadata.Deleted {
			return core.ParentDeleted("", "dataspace")
		}
		if err := roomForSchema(tx, created.Schema, 1); err != nil {
			return err
		}
		created.Record, created.Version, created.Form = core.NewRecord(tx, p), 1, form
		return rows.SaveSchema(tx, rows.Change{By: p, Action: audit.SchemaCreate}, nil, &created.Schema, created.Text)
	})
	return created, err
}

// newSchema validates a new schema.
func newSchema(d metadata.Dataspace, in NewSchema) (s Schema, err error) {
	s.DataspaceID, s.For = d.ID, cmp.Or(in.For, metadata.ForFiles)
	switch {
	case in.Malformed != nil:
	case in.Name == nil:
		return s, core.Missing("name", "name is required")
	case in.Text == nil:
		return s, core.Missing("schema", "schema is required")
	}
	return s, in.apply(&s)
}

// roomForSchema returns an error if another active schema has the same name, or if the dataspace
// has too many schemas. fresh is the number of rows to add.
func roomForSchema(tx *metadata.Tx, s metadata.Schema, fresh int) error {
	all, err := rows.Collect(tx.Schemas.OfDataspace(s.DataspaceID, paging.All), maxKeptSchemas)
	if err != nil {
		return err
	}
	active := 0
	for _, other := range all {
		if other.ID == s.ID || other.State != metadata.Active {
			continue
		}
		if active++; other.Name == s.Name {
			return core.Conflict(errs.CodeSchemaNameTaken, "name", "another schema of this dataspace has this name")
		}
	}
	switch {
	case active >= maxSchemas:
		return core.Conflict(errs.CodeTooManySchemas, "", "a dataspace has at most %d schemas; delete one first", maxSchemas)
	case len(all)+fresh > maxKeptSchemas:
		return core.Conflict(errs.CodeTooManySchemas, "", "a dataspace has at most %d schemas, including deleted ones; restore one of them", maxKeptSchemas)
	}
	return nil
}

// List returns the schemas of a dataspace, including deleted ones, oldest first.
func (s *Schemas) List(ctx context.Context, p auth.Principal, dataspace string) (list []Schema, err error) {
	err = s.core.ReadDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		list = []Schema{}
		id, err := core.ReadableDataspace(tx, p, dataspace)
		if err != nil {
			return err
		}
		all, err := rows.Collect(tx.Schemas.OfDataspace(id, paging.All), maxKeptSchemas)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b metadata.Schema) int { return a.ID.Compare(b.ID) })
		for _, row := range all {
			newest, err := tx.SchemaVersions.Get(row.Newest())
			if err != nil {
				return err
			}
			list = append(list, Schema{Schema: row, Text: newest.Text})
		}
		return nil
	})
	for i := range list {
		list[i].Form = s.schemas.Form(list[i].version())
	}
	return list, err
}

// Get returns one schema.
func (s *Schemas) Get(ctx context.Context, p auth.Principal, id string) (schema Schema, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		schema, err = lookupSchema(tx, p, id, auth.Read)
		return err
	})
	if err == nil {
		schema.Form = s.schemas.Form(schema.version())
	}
	return schema, err
}

// Update changes name, title, description, types, enforce or schema. A changed schema becomes
// a new version.
func (s *Schemas) Update(ctx context.Context, p auth.Principal, id string, f SchemaFields, match core.Match) (updated Schema, err error) {
	before, err := s.Get(ctx, p, id)
	if err != nil {
		return before, err
	}
	form := before.Form // unchanged input may include the form
	draft := func(tx *metadata.Tx, p auth.Principal) (before Schema, changed bool, err error) {
		if before, err = lookupSchema(tx, p, id, auth.Manage); err != nil {
			return before, false, err
		}
		before.Form = form
		updated = before
		err = f.apply(&updated)
		return before, !reflect.DeepEqual(before, updated), err
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, _, err = draft(tx, p)
		return err
	})
	text := updated.Text
	if err == nil && text != before.Text {
		err = updated.compile()
	}
	if err != nil {
		return updated, err
	}
	newForm := updated.Form
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, changed, err := draft(tx, p)
		if err != nil {
			return err
		}
		if err := core.Changeable(before.State, before.Tag(), before.Modified, match); err != nil || !changed {
			return err
		}
		if err := inActiveDataspace(tx, before); err != nil {
			return err
		}
		if err := roomForSchema(tx, updated.Schema, 0); err != nil {
			return err
		}
		if updated.Text != before.Text {
			updated.Version, updated.Form = before.Version+1, newForm
		}
		return s.saveSchema(tx, p, audit.SchemaUpdate, before, &updated)
	})
	return updated, err
}

func inActiveDataspace(tx *metadata.Tx, s Schema) error {
	d, err := tx.Dataspaces.Get(s.DataspaceID)
	if err == nil && d.State == metadata.Deleted {
		err = core.ParentDeleted("", "dataspace of this schema")
	}
	return err
}

// saveSchema stores a schema that the caller has changed.
func (s *Schemas) saveSchema(tx *metadata.Tx, p auth.Principal, action audit.Action, before Schema, after *Schema) error {
	after.Modified, after.ModifiedBy = tx.Stamp(), p.UserID
	return rows.SaveSchema(tx, rows.Change{By: p, Action: action}, &before.Schema, &after.Schema, after.Text)
}

// Delete deletes a schema, which then applies to no object. Its versions, and the properties
// made with it, stay.
func (s *Schemas) Delete(ctx context.Context, p auth.Principal, id string, match core.Match) (Schema, error) {
	return s.passSchema(ctx, p, id, match, metadata.Deleted)
}

// Restore makes a deleted schema active again.
func (s *Schemas) Restore(ctx context.Context, p auth.Principal, id string, match core.Match) (Schema, error) {
	return s.passSchema(ctx, p, id, match, metadata.Active)
}

func (s *Schemas) passSchema(ctx context.Context, p auth.Principal, id string, match core.Match, to metadata.State) (passed Schema, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := lookupSchema(tx, p, id, auth.Manage)
		passed = before
		if err != nil {
			return err
		}
		if err := match.Check(before.Tag(), before.Modified); err != nil || before.State == to {
			return err
		}
		passed.State = to
		if to == metadata.Deleted {
			return s.saveSchema(tx, p, audit.SchemaDelete, before, &passed)
		}
		err = inActiveDataspace(tx, before)
		if err == nil {
			err = roomForSchema(tx, passed.Schema, 0)
		}
		if err != nil {
			return err
		}
		return s.saveSchema(tx, p, audit.SchemaRestore, before, &passed)
	})
	if err == nil {
		passed.Form = s.schemas.Form(passed.version())
	}
	return passed, err
}
