package repository_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// needs returns a schema that requires some properties with string values.
func needs(names ...string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]any{"type": "string"}
	}
	text, err := json.Marshal(map[string]any{"type": "object", "required": names, "properties": properties})
	if err != nil {
		panic(err)
	}
	return text
}

// schema creates a schema that requires the property of its name.
func (d *described) schema(name string, more describe.NewSchema) describe.Schema {
	d.T.Helper()
	made, err := d.Service.Schemas.Create(d.T.Context(), d.Admin, d.Space.ID.String(), newSchema(name, more))
	d.OK(err)
	return made
}

// newSchema completes the fields of a new schema with a name, and with a requirement for the
// property of that name.
func newSchema(name string, more describe.NewSchema) describe.NewSchema {
	more.Name, more.Text = &name, needs(name)
	return more
}

// change changes a schema.
func (d *described) change(s describe.Schema, fields describe.SchemaFields) (describe.Schema, error) {
	return d.Service.Schemas.Update(d.T.Context(), d.Admin, s.ID.String(), fields, core.Match{})
}

// lacks returns the problems of the first resource, with the schema that reports them.
func (d *described) lacks() string {
	d.T.Helper()
	c, err := d.Service.Descriptions.ResourceConformance(d.T.Context(), d.Admin, d.Resources[0].ID.String())
	d.OK(err)
	if !c.Applies {
		return ""
	}
	text := fmt.Sprintf("%s %d", c.Schema.Name, c.Version)
	for _, problem := range c.Problems {
		text += " " + problem.Path + ":" + problem.Rule
	}
	return text
}

// TestSchemas: a schema is created, changed, deleted and restored. A changed definition is a new
// version, and each change has an entry.
func TestSchemas(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	ctx := t.Context()
	made := d.schema("sample", describe.NewSchema{SchemaFields: describe.SchemaFields{Types: []string{"Text/CSV", "csv", ".TIF", "csv"}, Title: new("Samples"), Enforce: new(true)}})
	if made.Version != 1 || !made.Enforce || made.For != metadata.ForFiles || !slices.Equal(made.Types(), []string{"text/csv", "csv", ".tif"}) || len(made.Form.Fields) != 1 {
		t.Errorf("created %+v", made)
	}
	renamed, err := d.change(made, describe.SchemaFields{Title: new("All samples"), Text: []byte(strings.ReplaceAll(made.Text, ":", " : "))})
	if d.OK(err); renamed.Version != 1 || renamed.Title != "All samples" || renamed.Modified <= made.Modified {
		t.Errorf("adding white space gave %+v", renamed)
	}
	again, err := d.change(made, describe.SchemaFields{Title: new("All samples")})
	if d.OK(err); again.Modified != renamed.Modified {
		t.Errorf("an update without a change gave %+v", again)
	}
	second, err := d.change(made, describe.SchemaFields{Text: needs("sample", "operator")})
	if d.OK(err); second.Version != 2 || len(second.Form.Fields) != 2 {
		t.Errorf("another text gave %+v", second)
	}
	versions, err := d.Service.Schemas.ListVersions(ctx, d.Admin, made.ID.String())
	if d.OK(err); len(versions) != 2 || versions[0].Number != 2 || versions[1].Text != made.Text || len(versions[1].Form.Fields) != 1 {
		t.Errorf("its versions are %+v", versions)
	}
	first, err := d.Service.Schemas.GetVersion(ctx, d.Admin, made.ID.String(), "1")
	if d.OK(err); cmp.Diff(first, versions[1]) != "" {
		t.Errorf("its first version is %+v", first)
	}
	for _, number := range []string{"0", "3", "01", "x", "-1"} {
		_, err := d.Service.Schemas.GetVersion(ctx, d.Admin, made.ID.String(), number)
		d.Refused(err, errs.CodeVersionNotFound)
	}
	deleted, err := d.Service.Schemas.Delete(ctx, d.Admin, made.ID.String(), repositorytest.Always)
	if d.OK(err); deleted.State != metadata.Deleted {
		t.Errorf("deleted it is %+v", deleted)
	}
	_, err = d.change(made, describe.SchemaFields{Title: new("x")})
	d.Refused(err, errs.CodeDeleted)
	restored, err := d.Service.Schemas.Restore(ctx, d.Admin, made.ID.String(), repositorytest.Always)
	d.OK(err)
	space := d.Space.ID.String()
	_, err = d.Service.Dataspaces.Delete(ctx, d.Admin, space, repositorytest.Always)
	d.OK(err)
	_, err = d.change(made, describe.SchemaFields{Title: new("of a dataspace that is deleted")})
	d.Refused(err, errs.CodeParentDeleted)
	_, err = d.Service.Dataspaces.Restore(ctx, d.Admin, space, repositorytest.Always)
	d.OK(err)
	list, err := d.Service.Schemas.List(ctx, d.Admin, d.Space.ID.String())
	if d.OK(err); len(list) != 1 || cmp.Diff(list[0], restored) != "" || restored.Text != second.Text {
		t.Errorf("the list is %+v, restored %+v", list, restored)
	}
	var logged []string
	for e := range d.entriesOf(made.ID) {
		logged = append(logged, e.Action.String())
	}
	if want := []string{"schema.create", "schema.update", "schema.update", "schema.delete", "schema.restore"}; !slices.Equal(logged, want) {
		t.Errorf("logged are %v, want %v", logged, want)
	}
}

// entriesOf yields the entries about an object, the oldest first.
func (d *described) entriesOf(id metadata.ID) func(func(audit.Entry) bool) {
	return func(yield func(audit.Entry) bool) {
		d.OK(d.meta.View(d.T.Context(), func(tx *metadata.Tx) error {
			state, err := tx.Audit.State()
			for n := uint64(0); n < state.Size && err == nil; n++ {
				row, failed := tx.Audit.Get(n)
				e, unread := row.Entry()
				if err = errors.Join(failed, unread); err == nil && e.Object.ID == id && !yield(e) {
					return nil
				}
			}
			return err
		}))
	}
}

// TestSchemasRefused: an error names the problem of a schema, and nothing is created.
func TestSchemasRefused(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	other := d.schema("taken", describe.NewSchema{})
	good := needs("x")
	for _, test := range []struct {
		fields      describe.NewSchema
		code        errs.Code
		field, part string
	}{
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Text: good}}, errs.CodeMissingField, "name", ""},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1")}}, errs.CodeMissingField, "schema", ""},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("N 1"), Text: good}}, errs.CodeInvalidField, "name", "lowercase"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: []byte(`{"properties":{"a":{"type":"strin"}}}`)}}, errs.CodeInvalidField, "schema", "/properties/a/type"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: []byte(`{"properties":{"a":{"$ref":"https://example.org/x"}}}`)}}, errs.CodeInvalidField, "schema", "not fetched"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: []byte(`null`)}}, errs.CodeInvalidField, "schema", ""},
		{describe.NewSchema{For: metadata.ForSets, SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good, Types: []string{"csv"}}}, errs.CodeInvalidField, "types", "schemas for files"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good, Types: []string{"*/*"}}}, errs.CodeInvalidField, "types", "image/*"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good, Types: []string{""}}}, errs.CodeInvalidField, "types", "empty"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good, Types: []string{"a/b/c"}}}, errs.CodeInvalidField, "types", "media types"},
		{describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("taken"), Text: good}}, errs.CodeSchemaNameTaken, "name", ""},
	} {
		_, err := d.Service.Schemas.Create(t.Context(), d.Admin, d.Space.ID.String(), test.fields)
		var known *errs.Error
		if !errors.As(err, &known) || known.Code != test.code || known.Field != test.field || !strings.Contains(known.Message, test.part) {
			t.Errorf("%v: %v", test.fields, err)
		}
	}
	list, err := d.Service.Schemas.List(t.Context(), d.Admin, d.Space.ID.String())
	if d.OK(err); len(list) != 1 || list[0].ID != other.ID {
		t.Errorf("%+v exist", list)
	}
	_, err = d.Service.Schemas.Create(t.Context(), d.Admin, other.ID.String(), describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good}})
	d.Refused(err, errs.CodeDataspaceNotFound)
	for range 49 {
		d.schema(fmt.Sprint("s", len(list)), describe.NewSchema{})
		list = append(list, other)
	}
	_, err = d.Service.Schemas.Create(t.Context(), d.Admin, d.Space.ID.String(), describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("n1"), Text: good}})
	d.Refused(err, errs.CodeTooManySchemas)
	_, err = d.Service.Schemas.Delete(t.Context(), d.Admin, other.ID.String(), repositorytest.Always)
	d.OK(err)
	d.schema("taken", describe.NewSchema{})
	_, err = d.Service.Schemas.Restore(t.Context(), d.Admin, other.ID.String(), repositorytest.Always)
	d.Refused(err, errs.CodeSchemaNameTaken)
}

// TestConformance: the pinned version stays in force until another version is pinned. A schema that
// is not enforced refuses nothing.
func TestConformance(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	lacks := func(want string) {
		t.Helper()
		if got := d.lacks(); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
	lacks("")
	d.set(`{"properties":{"x":"1"}}`) // no schema exists yet
	made := d.schema("sample", describe.NewSchema{})
	pinned := func(version int) string { return fmt.Sprintf(`"schema":{"id":"%s","version":%d}`, made.ID, version) }
	stored := func(want string) {
		t.Helper()
		if got := d.stored(d.Resources[0].ID); got != want {
			t.Errorf("stored is %s, want %s", got, want)
		}
	}
	lacks("sample 1 /sample:required")
	d.set(`{"tags":["t"]}`)
	stored(`{"tags":["t"],"properties":{"x":"1"}}`)
	d.set(`{"properties":{"y":"2"}}`)
	stored(`{"tags":["t"],"properties":{"x":"1","y":"2"},` + pinned(1) + `}`)
	_, err := d.change(made, describe.SchemaFields{Text: needs("sample", "operator")})
	d.OK(err)
	lacks("sample 1 /sample:required")
	d.set(`{"properties":{"sample":"S1"}}`)
	lacks("sample 1")
	d.set(`{"schema":{"version":2}}`)
	lacks("sample 2 /operator:required")
	d.set(`{"schema":{"version":1}}`)
	lacks("sample 1")
	d.set(`{"schema":null,"tags":null}`)
	lacks("sample 2 /operator:required")
	stored(`{"properties":{"sample":"S1","x":"1","y":"2"},` + pinned(2) + `}`)
	for _, patch := range []string{
		`{"schema":{"version":3}}`, `{"schema":{"version":-1}}`, `{"schema":{"id":"01K5Z3AAAAAAAAAAAAAAAAAAAA","version":1}}`, `{"schema":{"id":"x"}}`,
	} {
		_, err := d.edit(patch)
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind != errs.Invalid || !strings.HasPrefix(known.Field, "metadata.schema") {
			t.Errorf("%s: %v", patch, err)
		}
	}
	_, err = d.Service.Schemas.Delete(t.Context(), d.Admin, made.ID.String(), repositorytest.Always)
	d.OK(err)
	lacks("")
	shown := d.Get(d.Resources[0].ID).Descriptive
	if r := d.set(shown); r.Descriptive != shown {
		t.Errorf("the shown metadata cannot be sent back: %s", r.Descriptive)
	}
	if _, err := d.edit(`{"schema":{"version":1}}`); err == nil {
		t.Error("a version of a deleted schema was accepted")
	}
	next := d.schema("next", describe.NewSchema{})
	lacks("next 1 /next:required")
	d.set(`{"properties":{"x":"3"}}`)
	stored(fmt.Sprintf(`{"properties":{"sample":"S1","x":"3","y":"2"},"schema":{"id":"%s","version":1}}`, next.ID))
}

// TestEnforce: an enforced schema refuses a person's change that leaves problems. It never refuses
// an uploaded file.
func TestEnforce(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	d.schema("sample", describe.NewSchema{SchemaFields: describe.SchemaFields{Enforce: new(true)}})
	d.schema("room", describe.NewSchema{For: metadata.ForSets, SchemaFields: describe.SchemaFields{Enforce: new(true)}})
	refused := func(err error, field string) {
		t.Helper()
		var known *errs.Error
		if !errors.As(err, &known) || known.Code != errs.CodeInvalidField || known.Field != field {
			t.Errorf("it was refused with %v, want %s", err, field)
		}
	}
	_, err := d.edit(`{"properties":{"x":1}}`)
	refused(err, "metadata.properties.sample")
	_, err = d.edit(`{"properties":{"sample":1}}`)
	refused(err, "metadata.properties.sample")
	d.set(`{"tags":["t"]}`) // a change that does not affect properties
	d.set(`{"properties":{"sample":"S1"}}`)
	_, err = d.edit(`{"properties":{"sample":null}}`)
	refused(err, "metadata.properties.sample")
	if want := "sample 1"; d.lacks() != want {
		t.Errorf("it lacks %q", d.lacks())
	}
	set := d.Sets[0].ID.String()
	described := func(text string) error {
		_, err := d.Service.Sets.Update(t.Context(), d.Admin, set, containers.SetFields{Metadata: patch(text)}, core.Match{})
		return err
	}
	refused(described(`{"properties":{"x":1}}`), "metadata.properties.room")
	d.OK(described(`{"properties":{"room":"1"}}`))
	fields := containers.NewSet{DataspaceID: d.Space.ID.String(), Name: "new-set", SetFields: containers.SetFields{Metadata: patch(`{"properties":{"x":1}}`)}}
	_, err = d.Service.Sets.Create(t.Context(), d.Admin, fields)
	refused(err, "metadata.properties.room")
	fields.Metadata = patch(`{"properties":{"room":"1"},"schema":{"id":"01K5Z3AAAAAAAAAAAAAAAAAAAA","version":7}}`) // of another repository
	imported, err := d.Service.Sets.Create(t.Context(), d.Admin, fields)
	d.OK(err)
	if want := fmt.Sprintf(`{"properties":{"room":"1"},"schema":{"id":"%s","version":1}}`, d.only("room").ID); imported.Descriptive != want {
		t.Errorf("a set is imported as %s, want %s", imported.Descriptive, want)
	}
	fields.Metadata, fields.Name = nil, "bare-set"
	bare, err := d.Service.Sets.Create(t.Context(), d.Admin, fields)
	d.OK(err)
	c, err := d.Service.Descriptions.SetConformance(t.Context(), d.Admin, bare.ID.String())
	if d.OK(err); len(c.Problems) != 1 || c.Schema.Name != "room" {
		t.Errorf("a set without properties is %+v", c)
	}

	name, elsewhere := "arrived.csv", `{"properties":{"x":1},"schema":{"id":"01K5Z3AAAAAAAAAAAAAAAAAAAA","version":7},"sources":{"x":"header"}}`
	up := d.Service.Uploads.NewUpload(d.Admin)
	d.OK(up.Receive(t.Context(), strings.NewReader("content")))
	made, err := up.Create(t.Context(), files.UploadFields{SetID: &set, Name: &name, Metadata: &elsewhere})
	d.OK(errors.Join(err, up.Discard()))
	if want := fmt.Sprintf(`{"properties":{"x":1},"schema":{"id":"%s","version":1}}`, d.only("sample").ID); made.Descriptive != want {
		t.Errorf("it arrived as %s, want %s", made.Descriptive, want)
	}
	up = d.Service.Uploads.NewUpload(d.Admin)
	d.OK(up.Receive(t.Context(), strings.NewReader("other content")))
	replaced, err := up.Replace(t.Context(), d.Resources[0].ID.String(), files.UploadFields{Name: &name, Metadata: new(`{"properties":{"sample":null}}`)})
	d.OK(errors.Join(err, up.Discard()))
	if strings.Contains(replaced.Descriptive, "sample\"") {
		t.Errorf("replaced it is %s", replaced.Descriptive)
	}
}

// only returns the active schema of a name.
func (d *described) only(name string) describe.Schema {
	d.T.Helper()
	list, err := d.Service.Schemas.List(d.T.Context(), d.Admin, d.Space.ID.String())
	d.OK(err)
	for _, s := range list {
		if s.Name == name && s.State == metadata.Active {
			return s
		}
	}
	d.T.Fatalf("there is no schema %s", name)
	return describe.Schema{}
}

// TestSchemaPermission: members read schemas and conformance; only admins change schemas.
func TestSchemaPermission(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	made, id := d.schema("sample", describe.NewSchema{}), d.Resources[0].ID.String()
	for role, want := range map[auth.Role][2]bool{auth.None: {false, false}, auth.Member: {true, false}, auth.Editor: {true, false}, auth.Admin: {true, true}} {
		p := d.caller(role)
		ctx, kid := t.Context(), made.ID.String()
		_, list := d.Service.Schemas.List(ctx, p, d.Space.ID.String())
		_, get := d.Service.Schemas.Get(ctx, p, kid)
		_, versions := d.Service.Schemas.ListVersions(ctx, p, kid)
		_, version := d.Service.Schemas.GetVersion(ctx, p, kid, "1")
		_, of := d.Service.Descriptions.ResourceConformance(ctx, p, id)
		_, ofSet := d.Service.Descriptions.SetConformance(ctx, p, d.Sets[0].ID.String())
		for i, err := range []error{list, get, versions, version, of, ofSet} {
			if (err == nil) != want[0] {
				t.Errorf("%s reads, call %d: %v", role, i, err)
			}
		}
		_, create := d.Service.Schemas.Create(ctx, p, d.Space.ID.String(), describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("by-" + strings.ToLower(role.String())), Text: needs("x")}})
		_, update := d.Service.Schemas.Update(ctx, p, kid, describe.SchemaFields{Title: new(role.String())}, core.Match{})
		_, remove := d.Service.Schemas.Delete(ctx, p, kid, repositorytest.Always)
		_, restore := d.Service.Schemas.Restore(ctx, p, kid, repositorytest.Always)
		for i, err := range []error{create, update, remove, restore} {
			if (err == nil) != want[1] {
				t.Errorf("%s changes, call %d: %v", role, i, err)
			}
		}
	}
}

// caller is a new user with a role in the dataspace.
func (d *described) caller(role auth.Role) auth.Principal {
	d.T.Helper()
	user, err := d.Service.Users.Create(d.T.Context(), d.Admin, containers.NewUser{Username: "user-" + strings.ToLower(role.String())})
	d.OK(err)
	if role != auth.None {
		_, _, err = d.Service.Users.Grant(d.T.Context(), d.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: d.Space.ID.String(), Role: role})
		d.OK(err)
	}
	return auth.Principal{UserID: user.ID}
}
