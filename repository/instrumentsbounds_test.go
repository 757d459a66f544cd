package repository_test

import (
	"fmt"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// TestFillsWithinBounds: properties beyond the limits are omitted, and an enforced schema does not
// refuse the file.
func TestFillsWithinBounds(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	_, err := f.Service.Schemas.Create(t.Context(), f.Admin, f.Space.ID.String(), describe.NewSchema{For: metadata.ForFiles, SchemaFields: describe.SchemaFields{Name: new("none"), Enforce: new(true), Text: []byte(`{"type":"object","additionalProperties":false}`)}})
	f.OK(err)
	file := f.put(metadata.ID{}, "a.csv", table("operator: Ada"))
	if got := f.said(file); got != "operator=h:Ada" {
		t.Errorf("%s against a schema", got)
	}
	_, err = f.Service.Files.Edit(t.Context(), f.Admin, file.String(), files.Fields{Metadata: patch(`{"properties":{"b":1}}`)}, core.Match{})
	f.Refused(err, errs.CodeInvalidField)

	long := strings.Repeat("x", 15_000)
	f.put(metadata.ID{}, "a.csv.json", fmt.Sprintf(`{"p1":%[1]q,"p2":%[1]q,"p3":%[1]q,"p4":%[1]q,"p5":%[1]q,"q":"short"}`, long))
	got := f.said(file)
	for _, want := range []string{"p4=s:", "q=s:short", "operator=h:Ada"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, "p5=") || len(f.Get(file).Descriptive) > descriptive.MaxBytes {
		t.Errorf("too much: %d bytes", len(f.Get(file).Descriptive))
	}
	edits := f.edits()
	f.ask("header")
	f.ask("header", "sidecar")
	if again := f.said(file); again != got || f.edits() != edits {
		t.Errorf("another pass changed it: %d edits, then %d", edits, f.edits())
	}
}

// TestFillsOnlyItsSet: instruments change no file in a set without extraction, whatever the names
// of files in other sets. Harvesters see an edit by instruments.
func TestFillsOnlyItsSet(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	other, err := f.Service.Sets.Create(t.Context(), f.Admin, containers.NewSet{Name: "other", DataspaceID: f.Space.ID.String()})
	f.OK(err)
	foreign := f.Upload(other, "a.csv")
	f.put(metadata.ID{}, "a.csv.json", `{"operator":"Bob"}`)
	file := f.put(metadata.ID{}, "b.csv", table("run: 1"))
	if got := f.said(file); got != "run=h:1" {
		t.Errorf("%s", got)
	}
	if now := f.Get(foreign.ID); now.Descriptive != "" || now.Tag() != foreign.Tag() {
		t.Errorf("a file of another set has %s", now.Descriptive)
	}
	made := f.Get(file)
	if made.Modified <= made.Created || made.ModifiedBy != f.Admin.UserID {
		t.Errorf("modified %d by %s, created %d", made.Modified, made.ModifiedBy, made.Created)
	}
	page, err := repositorytest.ListResources(t.Context(), f.Service, f.Admin, paging.SetResources, core.ListRequest{
		Container: f.Sets[0].ID.String(), Selection: paging.Selection{Since: paging.Bound{At: int64(made.Created), Set: true}},
	})
	if err != nil || len(page.Items) == 0 || page.Items[len(page.Items)-1].ID != file {
		t.Errorf("a listing of changes: %v, %v", page.Items, err)
	}
}

// TestFillsNothingFromDamage: an unreadable file fills nothing and removes nothing.
func TestFillsNothingFromDamage(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	file := f.put(metadata.ID{}, "a.csv", table("run: 1"))
	want := f.said(file)
	f.OK(f.files.Remove(f.Get(file).Digest, nil))
	f.put(metadata.ID{}, "a.csv.json", `{"gas":"Kr"}`)
	if got := f.said(file); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if after := f.put(metadata.ID{}, "b.csv", table("run: 2")); f.said(after) != "run=h:2" {
		t.Error("the file after it is not filled")
	}
}
