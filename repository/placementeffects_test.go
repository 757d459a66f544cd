package repository_test

import (
	"strings"
	"testing"

	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/describe"
	"labshelf/repository/files"
)

// TestIndexFollowsMoves: a search finds a moved file at its new location, also by its content, and
// not at its old location. It finds a copy in addition to the source.
func TestIndexFollowsMoves(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 1, 0)
	ctx, r := t.Context(), s.Resources[0]
	s.OK(s.replace(r, "unmistakable content", "text/plain"))
	s.want(s.Admin, "unmistakable in:space/set-0", "file 0 0")
	n, err := s.Service.Files.Move(ctx, s.Admin, r.ID.String(), files.Destination{SetID: s.Sets[1].ID.String(), Name: "elsewhere"})
	s.OK(err)
	s.want(s.Admin, "unmistakable in:space/set-0")
	s.want(s.Admin, "unmistakable in:space/set-1", "elsewhere")
	_, err = s.Service.Files.Copy(ctx, s.Admin, n.ID.String(), files.Destination{SetID: s.Sets[0].ID.String(), Name: "copy"})
	s.OK(err)
	s.want(s.Admin, "unmistakable", "copy", "elsewhere")
	_, err = s.Service.Files.Move(ctx, s.Admin, n.ID.String(), files.Destination{SetID: s.Sets[0].ID.String(), Name: "back"})
	s.OK(err)
	s.want(s.Admin, "unmistakable in:space/set-0", "back", "copy")
	s.want(s.Admin, "unmistakable in:space/set-1")
}

// TestInstrumentsFollowMoves: a file that moves to a set with extraction is read, and so is a
// sidecar that is moved later. If the sidecar leaves, its values are removed.
func TestInstrumentsFollowMoves(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	ctx := t.Context()
	silent, err := f.Service.Sets.Create(ctx, f.Admin, containers.NewSet{Name: "silent", DataspaceID: f.Space.ID.String()})
	f.OK(err)
	move := func(id metadata.ID, set metadata.Set) metadata.ID {
		t.Helper()
		r, err := f.Service.Files.Move(ctx, f.Admin, id.String(), files.Destination{SetID: set.ID.String()})
		f.OK(err)
		return r.ID
	}
	want := func(when string, id metadata.ID, want string) {
		t.Helper()
		if got := f.said(id); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	file, sidecar := f.put(metadata.ID{}, "run.csv", table("Operator: Anna")), f.put(metadata.ID{}, "run.csv.json", `{"sample":"S1"}`)
	both := f.said(file)
	if !strings.Contains(both, "h:Anna") || !strings.Contains(both, "s:S1") {
		t.Fatalf("filled %q", both)
	}
	away := move(file, silent)
	want("in a set without extraction, unchanged", away, both)
	sidecar = move(sidecar, silent)
	back := move(away, f.Sets[0])
	want("back without its sidecar", back, strings.TrimSpace(strings.ReplaceAll(both, "sample=s:S1", "")))
	move(sidecar, f.Sets[0])
	if got := f.said(back); !strings.Contains(got, "s:S1") || !strings.Contains(got, "h:Anna") || back != file {
		t.Errorf("after moving back with its sidecar: %q", got)
	}
}

// TestSchemaOfMovedFile: in another dataspace, a file has the schema that applies there, if any,
// and is never refused. In its own dataspace, it keeps its schema version.
func TestSchemaOfMovedFile(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	ctx := t.Context()
	other, err := d.Service.Dataspaces.Create(ctx, d.Admin, containers.NewDataspace{Name: "other"})
	d.OK(err)
	sets := map[string]string{}
	for name, space := range map[string]string{"beside": d.Space.ID.String(), "away": other.ID.String()} {
		set, err := d.Service.Sets.Create(ctx, d.Admin, containers.NewSet{Name: name, DataspaceID: space})
		d.OK(err)
		sets[name] = set.ID.String()
	}
	here := d.schema("here", describe.NewSchema{})
	r := d.set(`{"properties":{"here":"x"}}`)
	_, err = d.change(here, describe.SchemaFields{Text: needs("here", "more")})
	d.OK(err)
	arrive := func(set string) string {
		t.Helper()
		c, err := d.Service.Files.Copy(ctx, d.Admin, r.ID.String(), files.Destination{SetID: sets[set]})
		d.OK(err)
		return c.Descriptive
	}
	if got := arrive("beside"); got != r.Descriptive || !strings.Contains(got, `"version":1`) {
		t.Errorf("in the same dataspace, a copy of %s has %s", r.Descriptive, got)
	}
	if got := arrive("away"); strings.Contains(got, "schema") || !strings.Contains(got, `"here":"x"`) {
		t.Errorf("in a dataspace without schemas, it has %s", got)
	}
	there, err := d.Service.Schemas.Create(ctx, d.Admin, other.ID.String(), describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("there"), Text: needs("there"), Enforce: new(true)}})
	d.OK(err)
	if got := arrive("away"); !strings.Contains(got, there.ID.String()) || strings.Contains(got, here.ID.String()) {
		t.Errorf("in a dataspace with another schema, it has %s", got)
	}
	moved, err := d.Service.Files.Move(ctx, d.Admin, r.ID.String(), files.Destination{SetID: sets["away"]})
	d.OK(err)
	back, err := d.Service.Files.Move(ctx, d.Admin, moved.ID.String(), files.Destination{SetID: d.Sets[0].ID.String()})
	if d.OK(err); back.ID != r.ID || !strings.Contains(back.Descriptive, here.ID.String()) || strings.Contains(back.Descriptive, there.ID.String()) {
		t.Errorf("after moving there and back, it has %s", back.Descriptive)
	}
}
