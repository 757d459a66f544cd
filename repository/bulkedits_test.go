package repository_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// csv returns the CSV of the first set.
func (d *described) csv() string {
	d.T.Helper()
	var file bytes.Buffer
	d.OK(d.Service.BulkEdits.ExportMetadata(d.T.Context(), d.Admin, d.Sets[0].ID.String(), ',', func(metadata.Set) io.Writer { return &file }))
	return file.String()
}

func (d *described) editCSV(file string, preview bool) (describe.BulkOutcome, error) {
	return d.Service.BulkEdits.EditByCSV(d.T.Context(), d.Admin, d.Sets[0].ID.String(), []byte(file), preview)
}

// many edits all files.
func (d *described) many(many describe.ManyFields, preview bool) (describe.BulkOutcome, error) {
	for _, r := range d.Resources {
		many.IDs = append(many.IDs, r.ID.String())
	}
	return d.Service.BulkEdits.EditMany(d.T.Context(), d.Admin, d.Sets[0].ID.String(), many, preview)
}

// counts fails the test unless the outcome has these numbers of rows, changed files, unchanged
// files and problems.
func (d *described) counts(o describe.BulkOutcome, rows, changed, unchanged, problems int) {
	d.T.Helper()
	if o.Rows != rows || o.Changed != changed || o.Unchanged != unchanged || len(o.Problems) != problems {
		d.T.Fatalf("%d rows, %d changed, %d unchanged, problems %v; want %d, %d, %d, %d", o.Rows, o.Changed, o.Unchanged, o.Problems, rows, changed, unchanged, problems)
	}
}

// TestEditByCSV: an edited CSV file is previewed, applied and undone. An unedited file changes
// nothing.
func TestEditByCSV(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	before := d.set(`{"tags":["raw"],"properties":{"when":"2026-01-02","n":1.50,"sample":"007"}}`)
	file := d.csv()
	outcome, err := d.editCSV(strings.ReplaceAll(file, "2026-01-02", "02.01.2026"), false)
	d.OK(err)
	if d.counts(outcome, 3, 0, 3, 0); outcome.Edit != nil {
		t.Fatal("an unedited file is an edit")
	}
	edited := strings.ReplaceAll(file, "1.50", "2")
	for _, preview := range []bool{true, false} {
		outcome, err = d.editCSV(edited, preview)
		d.OK(err)
		d.counts(outcome, 3, 1, 2, 0)
		if c := outcome.Changes[0]; len(c.Changes) != 1 || c.Changes[0].Name != "properties.n" || c.Changes[0].Before != "1.50" || c.Changes[0].After != "2" {
			t.Fatalf("%+v", c)
		}
		if (outcome.Edit == nil) != preview || (d.stored(before.ID) == before.Descriptive) != preview {
			t.Fatalf("preview %t: %+v, %s", preview, outcome.Edit, d.stored(before.ID))
		}
	}
	if outcome.Edit.Objects != 1 || d.Get(before.ID).Tag() == before.Tag() {
		t.Fatalf("%+v", outcome.Edit)
	}
	_, err = d.editCSV(strings.ReplaceAll(edited, ",2,", ",3,"), false)
	d.Refused(err, errs.CodePrecondition)
	undo, err := d.Service.BulkEdits.Undo(t.Context(), d.Admin, outcome.Edit.ID.String())
	d.OK(err)
	if d.counts(undo, 1, 1, 0, 0); d.stored(before.ID) != before.Descriptive {
		t.Fatalf("%s was %s", d.stored(before.ID), before.Descriptive)
	}
	redo, err := d.Service.BulkEdits.Undo(t.Context(), d.Admin, undo.Edit.ID.String())
	d.OK(err)
	if d.counts(redo, 1, 1, 0, 0); !strings.Contains(d.stored(before.ID), `"n":2`) {
		t.Fatal(d.stored(before.ID))
	}
	list, err := d.Service.BulkEdits.List(t.Context(), d.Admin, d.Sets[0].ID.String())
	d.OK(err)
	if len(list) != 3 || list[2].UndoneBy != undo.Edit.ID || list[0].ID != redo.Edit.ID {
		t.Fatalf("%+v", list)
	}
}

// TestEditByCSVRefused: one problem anywhere in the file causes the whole file to be refused.
func TestEditByCSVRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows func(d *described) string
		code errs.Code
		want string
	}{
		"unknown":       {func(*described) string { return "01KXAMPLE00000000000000001,t,new" }, errs.CodeInvalidField, "row 3, column id: there is no active file"},
		"twice":         {func(d *described) string { return row(d, 0, "new") }, errs.CodeInvalidField, "row 3, column id: a file must not occur twice"},
		"ambiguous":     {func(d *described) string { return row(d, 1, "1/2/2026") }, errs.CodeInvalidField, "row 3, column properties.p: the date"},
		"stale":         {func(d *described) string { return d.Resources[1].ID.String() + ",old,new" }, errs.CodePrecondition, "row 3, column etag: the file has changed"},
		"no such quote": {func(*described) string { return `a,"b` }, errs.CodeInvalidField, "row 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDescribed(t)
			file := "id,etag,properties.p\n" + row(d, 0, "x") + "\n" + test.rows(d) + "\n"
			_, err := d.editCSV(file, false)
			d.Refused(err, test.code)
			if !strings.Contains(err.Error(), test.want) || d.stored(d.Resources[0].ID) != "" {
				t.Fatalf("%v, want %s; stored %q", err, test.want, d.stored(d.Resources[0].ID))
			}
			preview, err := d.editCSV(file, true)
			d.OK(err)
			if len(preview.Problems) != 1 {
				t.Fatalf("%+v", preview.Problems)
			}
		})
	}
}

func row(d *described, i int, cell string) string {
	return d.Resources[i].ID.String() + "," + d.Resources[i].Tag() + "," + cell
}

// TestEditMany applies a patch and tags to several files. The undo skips and reports a file that
// has changed since.
func TestEditMany(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	before := d.set(`{"tags":["raw","old"],"properties":{"p":{"a":1}}}`)
	many := describe.ManyFields{Metadata: patch(`{"properties":{"p":{"b":2}}}`), AddTags: []string{"ice", "raw"}, RemoveTags: []string{"old"}}
	outcome, err := d.many(many, false)
	d.OK(err)
	d.counts(outcome, 3, 3, 0, 0)
	if got := d.stored(before.ID); got != `{"tags":["raw","ice"],"properties":{"p":{"a":1,"b":2}}}` {
		t.Fatal(got)
	}
	again, err := d.many(many, false)
	d.OK(err)
	d.counts(again, 3, 0, 3, 0)
	_, err = d.Service.Files.Edit(t.Context(), d.Admin, d.Resources[1].ID.String(), files.Fields{Metadata: patch(`{"tags":["mine"]}`)}, core.Match{})
	d.OK(err)
	mine := d.stored(d.Resources[1].ID)
	undo, err := d.Service.BulkEdits.Undo(t.Context(), d.Admin, outcome.Edit.ID.String())
	d.OK(err)
	d.counts(undo, 3, 2, 0, 1)
	if d.stored(before.ID) != before.Descriptive || d.stored(d.Resources[1].ID) != mine || d.stored(d.Resources[2].ID) != "" {
		t.Fatal(d.stored(before.ID), d.stored(d.Resources[1].ID), d.stored(d.Resources[2].ID))
	}
	_, err = d.many(describe.ManyFields{Metadata: patch(`{"tags":[""]}`)}, false)
	d.Refused(err, errs.CodeInvalidField)
}

// TestEditManyEnforced: an edit that a schema does not allow is refused before anything changes.
func TestEditManyEnforced(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	d.schema("strict", describe.NewSchema{SchemaFields: describe.SchemaFields{Enforce: new(true)}})
	_, err := d.many(describe.ManyFields{Metadata: patch(`{"properties":{"sample":7}}`)}, false)
	d.Refused(err, errs.CodeInvalidField)
	_, err = d.editCSV("id,etag,properties.sample\n"+row(d, 0, "7")+"\n", false)
	d.Refused(err, errs.CodeInvalidField)
	if !strings.Contains(err.Error(), "row 2, column properties.strict") || d.stored(d.Resources[0].ID) != "" {
		t.Fatal(err)
	}
	outcome, err := d.many(describe.ManyFields{AddTags: []string{"a"}}, false)
	d.OK(err)
	d.counts(outcome, 3, 3, 0, 0)
}

// TestEditInSteps: an interrupted bulk edit has applied whole steps, which can be undone.
func TestEditInSteps(t *testing.T) {
	t.Parallel()
	cutting := &cutStore{Memory: metadatatest.NewMemory(time.Now), left: -1}
	service := repositorytest.NewStill(repositorytest.Audited{Store: cutting, Fail: t.Errorf}, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100})
	d := &described{repositorytest.NewWorld(t, service, 3), cutting.Memory}
	for i := range 447 {
		d.Resources = append(d.Resources, d.Upload(d.Sets[0], fmt.Sprint("more-", i)))
	}
	cutting.left = 2 // steps
	_, err := d.many(describe.ManyFields{AddTags: []string{"a"}}, false)
	if err == nil {
		t.Fatal("it was not interrupted")
	}
	cutting.left = -1
	list, err := d.Service.BulkEdits.List(t.Context(), d.Admin, d.Sets[0].ID.String())
	d.OK(err)
	if len(list) != 1 || list[0].Objects != 400 {
		t.Fatalf("%+v", list)
	}
	undo, err := d.Service.BulkEdits.Undo(t.Context(), d.Admin, list[0].ID.String())
	d.OK(err)
	d.counts(undo, 400, 400, 0, 0)
	for _, r := range d.Resources {
		if d.stored(r.ID) != "" {
			t.Fatal(d.stored(r.ID))
		}
	}
}

// TestEditSkipsChangedFiles: a file that changes after the check is skipped and reported.
func TestEditSkipsChangedFiles(t *testing.T) {
	t.Parallel()
	cutting := &cutStore{Memory: metadatatest.NewMemory(time.Now), left: -1}
	service := repositorytest.NewStill(repositorytest.Audited{Store: cutting, Fail: t.Errorf}, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100})
	d := &described{repositorytest.NewWorld(t, service, 2), cutting.Memory}
	cutting.before = func() {
		cutting.before = nil
		_, err := d.Service.Files.Edit(t.Context(), d.Admin, d.Resources[0].ID.String(), files.Fields{Description: new("mine")}, core.Match{})
		d.OK(err)
	}
	outcome, err := d.many(describe.ManyFields{AddTags: []string{"a"}}, false)
	d.OK(err)
	d.counts(outcome, 2, 1, 0, 1)
	if got := [2]string{d.stored(d.Resources[0].ID), d.stored(d.Resources[1].ID)}; got != [2]string{"", `{"tags":["a"]}`} {
		t.Errorf("the files say %q", got)
	}
}

// TestEditThatChangesNothing: if all files change between the check and the edit, no edit is
// recorded.
func TestEditThatChangesNothing(t *testing.T) {
	t.Parallel()
	cutting := &cutStore{Memory: metadatatest.NewMemory(time.Now), left: -1}
	service := repositorytest.NewStill(repositorytest.Audited{Store: cutting, Fail: t.Errorf}, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100})
	d := &described{repositorytest.NewWorld(t, service, 1), cutting.Memory}
	made, err := d.many(describe.ManyFields{AddTags: []string{"a"}}, false)
	d.OK(err)
	var first describe.BulkOutcome
	cutting.before = func() {
		cutting.before = nil
		first, err = d.Service.BulkEdits.Undo(t.Context(), d.Admin, made.Edit.ID.String())
		d.OK(err)
	}
	second, err := d.Service.BulkEdits.Undo(t.Context(), d.Admin, made.Edit.ID.String())
	d.OK(err)
	d.counts(first, 1, 1, 0, 0)
	d.counts(second, 1, 0, 0, 1)
	list, err := d.Service.BulkEdits.List(t.Context(), d.Admin, d.Sets[0].ID.String())
	if d.OK(err); second.Edit != nil || len(list) != 2 || list[1].UndoneBy != first.Edit.ID {
		t.Errorf("the second outcome is %+v, the edits are %+v", second.Edit, list)
	}
}

// cutStore is a store that fails after a number of further changes, or never if left is -1. If
// before is set, it is called before the next change.
type cutStore struct {
	*metadatatest.Memory
	left   int
	before func()
}

func (s *cutStore) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.left == 0 {
		return metadata.ErrNoSpace
	}
	s.left--
	if s.before != nil {
		s.before()
	}
	return s.Memory.Update(ctx, fn)
}
