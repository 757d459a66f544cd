package repository_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// inProcess reads files in this process, in the same way as a child process does.
type inProcess struct {
	reads  atomic.Int64
	during atomic.Pointer[func(context.Context)] // called while the next file is read
}

func (r *inProcess) Read(ctx context.Context, from, name string, file io.Reader) (extraction.Result, error) {
	r.reads.Add(1)
	text, err := io.ReadAll(file)
	if during := r.during.Swap(nil); during != nil {
		(*during)(ctx)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return extraction.Result{}, err
	}
	if from == descriptive.FromSidecar {
		return extraction.Sidecar(text)
	}
	return extraction.Header(bytes.NewReader(text), int64(len(text)), name)
}

// filled is a repository with instruments and one set with all extractions enabled.
type filled struct {
	*repositorytest.World
	inProcess
	meta  *metadatatest.Memory
	files *blobstest.Memory
}

func newFilled(t *testing.T, extract ...string) *filled {
	t.Helper()
	f := &filled{meta: metadatatest.NewMemory(time.Now), files: blobstest.NewMemory()}
	f.World = repositorytest.NewWorld(t, f.open(t), 0)
	t.Cleanup(func() { f.Service.Close() })
	f.ask(extract...)
	return f
}

func (f *filled) open(t *testing.T) *repository.Service {
	return repository.New(repositorytest.Audited{Store: f.meta, Fail: t.Errorf}, f.files, repository.Config{
		Instruments: &f.inProcess, PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 60,
	})
}

// reopen closes the repository and opens it again.
func (f *filled) reopen() {
	f.Service.Close()
	f.Service = f.open(f.T)
}

func (f *filled) ask(extract ...string) {
	f.T.Helper()
	sources, _ := metadata.ParseExtract(extract)
	_, err := f.Service.Sets.Update(f.T.Context(), f.Admin, f.Sets[0].ID.String(), containers.SetFields{Extract: &sources}, core.Match{})
	f.OK(err)
}

// put uploads a file, or a new version of the file with this id.
func (f *filled) put(id metadata.ID, name, content string) metadata.ID {
	f.T.Helper()
	up, set := f.Service.Uploads.NewUpload(f.Admin), f.Sets[0].ID.String()
	f.OK(up.Receive(f.T.Context(), strings.NewReader(content)))
	var r metadata.Resource
	var err error
	if id == (metadata.ID{}) {
		r, err = up.Create(f.T.Context(), files.UploadFields{SetID: &set, Name: &name})
	} else {
		r, err = up.Replace(f.T.Context(), id.String(), files.UploadFields{Name: &name})
	}
	f.OK(errors.Join(err, up.Discard()))
	return r.ID
}

func (f *filled) edit(id metadata.ID, fields files.Fields) {
	f.T.Helper()
	_, err := f.Service.Files.Edit(f.T.Context(), f.Admin, id.String(), fields, core.Match{})
	f.OK(err)
}

// said returns the filled properties of a file after instruments have finished, each value after
// the first letter of its source.
func (f *filled) said(id metadata.ID) string {
	f.T.Helper()
	ctx, cancel := context.WithTimeout(f.T.Context(), time.Minute)
	defer cancel()
	f.OK(f.Service.Descriptions.Filled(ctx))
	r := f.Get(id)
	if r.Descriptive == "" {
		return ""
	}
	m, err := descriptive.Parse([]byte(r.Descriptive))
	f.OK(err)
	var all []string
	for _, p := range m.Properties {
		if p.Name != "columns" && p.Name != "header lines" { // every table has them
			all = append(all, fmt.Sprintf("%s=%.1s:%s", p.Name, m.Sources[p.Name], p.Value.Text()))
		}
	}
	return strings.Join(all, " ")
}

// table returns a file with header lines above its values. The file is too long to be inline.
func table(lines ...string) string {
	return "# " + strings.Join(lines, "\n# ") + "\nt,T\n" + strings.Repeat("1,2\n", 30)
}

// TestFills tests all changes of a file and its sidecar.
func TestFills(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	var file, sidecar metadata.ID
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { file = f.put(metadata.ID{}, "a.csv", table("operator: Ada", "run: 1")) }, "operator=h:Ada run=h:1"},
		{func() { sidecar = f.put(metadata.ID{}, "a.csv.json", `{"operator":"Bob","gas":"Kr"}`) }, "gas=s:Kr operator=s:Bob run=h:1"},
		{func() { f.edit(file, files.Fields{Metadata: patch(`{"properties":{"gas":"Ar"}}`)}) }, "gas=:Ar operator=s:Bob run=h:1"},
		{func() {
			f.edit(file, files.Fields{Metadata: patch(`{"sources":{"run":null},"properties":{"mine":5}}`)})
		}, "gas=:Ar mine=:5 operator=s:Bob run=:1"},
		{func() { f.put(file, "a.csv", table("operator: Eve", "run: 2", "room: 7")) }, "gas=:Ar mine=:5 operator=s:Bob room=h:7 run=:1"},
		{func() { f.put(sidecar, "a.csv.json", `{"gas":"H2"}`) }, "gas=:Ar mine=:5 operator=h:Eve room=h:7 run=:1"},
		{func() { f.edit(file, files.Fields{Metadata: patch(`{"properties":{"gas":null}}`)}); f.reopen() }, "mine=:5 operator=h:Eve room=h:7 run=:1"},
		{func() { f.put(sidecar, "a.csv.json", `{"gas":"N2","room":8}`) }, "gas=s:N2 mine=:5 operator=h:Eve room=s:8 run=:1"},
		{func() { f.edit(sidecar, files.Fields{Name: new("b.csv.json")}) }, "mine=:5 operator=h:Eve room=h:7 run=:1"},
		{func() { f.edit(sidecar, files.Fields{Name: new("a.csv.json")}) }, "gas=s:N2 mine=:5 operator=h:Eve room=s:8 run=:1"},
		{func() { f.Delete(metadata.Resource{Record: metadata.Record{ID: sidecar}}) }, "mine=:5 operator=h:Eve room=h:7 run=:1"},
		{func() {
			_, err := f.Service.Files.Restore(t.Context(), f.Admin, sidecar.String(), repositorytest.Always)
			f.OK(err)
		}, "gas=s:N2 mine=:5 operator=h:Eve room=s:8 run=:1"},
		{func() {
			_, err := f.Service.Versions.Restore(t.Context(), f.Admin, file.String(), "1", repositorytest.Always)
			f.OK(err)
		}, "gas=s:N2 mine=:5 operator=h:Ada room=s:8 run=:1"},
		{func() { f.ask("sidecar"); f.put(file, "a.csv", table("operator: Zoe", "zone: 3")) }, "gas=s:N2 mine=:5 operator=h:Ada room=s:8 run=:1"},
		{func() { f.ask("header") }, "gas=s:N2 mine=:5 operator=h:Zoe room=s:8 run=:1 zone=h:3"},
		{func() { f.ask(); f.put(file, "a.csv", "no table any more") }, "gas=s:N2 mine=:5 operator=h:Zoe room=s:8 run=:1 zone=h:3"},
		{func() { f.ask("sidecar", "header") }, "gas=s:N2 mine=:5 room=s:8 run=:1"},
		{func() { f.put(file, "a.txt", table("operator: Zoe")) }, "mine=:5 run=:1"},
		{func() { f.edit(file, files.Fields{Name: new("a.csv")}) }, "gas=s:N2 mine=:5 operator=h:Zoe room=s:8 run=:1"},
	} {
		step.do()
		if got := f.said(file); got != step.want {
			t.Errorf("step %d:\n got %s\nwant %s", i, got, step.want)
		}
	}
	if got := f.said(sidecar); got != "" {
		t.Errorf("a sidecar itself has %s", got)
	}
}

// TestFillsExistingFiles enables extraction in a service that is stopped repeatedly. Each file is
// edited once.
func TestFillsExistingFiles(t *testing.T) {
	t.Parallel()
	f := newFilled(t)
	files := 60
	ids := map[metadata.ID]string{}
	for i := range files {
		name := fmt.Sprintf("%d.csv", i%(files-10)) // some have the same name
		ids[f.put(metadata.ID{}, name, table(fmt.Sprint("run: ", i)))] = fmt.Sprint("run=h:", i)
	}
	stopped := f.stopAfter(3)
	f.ask("header")
	for _, reads := range []int{20, 1, 16, 17, 5, 2} { // a step has 16
		<-stopped
		f.Service.Close()
		stopped = f.stopAfter(reads)
		f.Service = f.open(t)
	}
	<-stopped
	f.reopen()
	for id, want := range ids {
		if got := f.said(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if edits := f.edits(); edits != files {
		t.Errorf("%d edits of %d files", edits, files)
	}
	f.OK(f.Service.Descriptions.Filled(t.Context()))
	reads := f.reads.Load()
	f.reopen()
	f.ask("header", "sidecar")
	f.OK(f.Service.Descriptions.Filled(t.Context()))
	if edits := f.edits(); edits != files || f.reads.Load() == reads {
		t.Errorf("%d edits of %d files after the second pass", edits, files)
	}
}

// stopAfter blocks the service during read number reads, until the service is stopped.
func (f *filled) stopAfter(reads int) (reached chan struct{}) {
	reached = make(chan struct{})
	var during func(context.Context)
	during = func(ctx context.Context) {
		if reads--; reads > 0 {
			f.during.Store(&during)
			return
		}
		close(reached)
		<-ctx.Done()
	}
	f.during.Store(&during)
	return reached
}

// edits counts the entries of instruments. It checks that each entry names the entry that caused
// it, and no user.
func (f *filled) edits() (n int) {
	f.T.Helper()
	f.OK(f.meta.View(f.T.Context(), func(tx *metadata.Tx) error {
		n = 0
		log, err := tx.Audit.State()
		for i := uint64(0); i < log.Size && err == nil; i++ {
			row, failed := tx.Audit.Get(i)
			e, broken := row.Entry()
			if err = errors.Join(failed, broken); err == nil && e.Action == audit.ResourceEdit && e.User == (metadata.ID{}) {
				n++
				cause, failed := tx.Audit.Get(e.Cause)
				why, broken := cause.Entry()
				if err = errors.Join(failed, broken); why.Action != audit.SetUpdate && why.Action != audit.ResourceCreate || e.Cause >= i {
					f.T.Errorf("entry %d follows from %d, %s", i, e.Cause, why.Action)
				}
			}
		}
		return err
	}))
	return n
}

// TestPersonWinsRace lets a person and instruments write the same property at the same time. The
// value of the person stays, whichever write comes first.
func TestPersonWinsRace(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	rounds, want := 96, map[metadata.ID]string{}
	if testing.Short() {
		rounds = 32
	}
	for round := range rounds {
		name := fmt.Sprint(round, ".csv")
		file := f.put(metadata.ID{}, name, table("operator: Ada", "run: 1"))
		if round%3 == 0 {
			f.put(metadata.ID{}, name+".json", `{"operator":"Bob"}`)
		}
		overrule := func() { f.edit(file, files.Fields{Metadata: patch(`{"properties":{"operator":"Eve"}}`)}) }
		switch round % 8 {
		case 0, 1, 2: // while the file is read, with or without a person's value
			done := make(chan struct{})
			between := func(context.Context) { defer close(done); overrule() }
			f.during.Store(&between)
			f.put(file, name, table("operator: Zoe", "run: 1"))
			<-done
		case 3: // after the file was read
			f.OK(f.Service.Descriptions.Filled(t.Context()))
			overrule()
		default:
			overrule()
		}
		if round%2 == 0 {
			f.put(file, name, table("operator: Zoe", "run: 2"))
		}
		want[file] = fmt.Sprint("operator=:Eve run=h:", 1+(round+1)%2)
	}
	for file, want := range want {
		if got := f.said(file); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFillsAfterUndo: an undo restores values from a sidecar. The sidecar is then read again,
// because it may have changed or been deleted.
func TestFillsAfterUndo(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	file := f.put(metadata.ID{}, "a.csv", table("operator: Ada"))
	sidecar := f.put(metadata.ID{}, "a.csv.json", `{"operator":"Bob"}`)
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() { f.put(sidecar, "a.csv.json", `{"operator":"Carl"}`) }, "operator=s:Carl"},
		{func() { f.Delete(metadata.Resource{Record: metadata.Record{ID: sidecar}}) }, "operator=h:Ada"},
	} {
		f.said(file)
		edit, err := f.Service.BulkEdits.EditMany(t.Context(), f.Admin, f.Sets[0].ID.String(), describe.ManyFields{IDs: []string{file.String()}, Metadata: descriptive.Patch(`{"properties":{"operator":"Eve"}}`)}, false)
		f.OK(err)
		c.change()
		if got := f.said(file); got != "operator=:Eve" {
			t.Errorf("a person wrote Eve, it has %s", got)
		}
		_, err = f.Service.BulkEdits.Undo(t.Context(), f.Admin, edit.Edit.ID.String())
		if f.OK(err); f.said(file) != c.want {
			t.Errorf("after the undo, it has %s, want %s", f.said(file), c.want)
		}
	}
}

// TestFillsAfterRestoration: after a set was deleted and restored with its files, the files have
// the same values and no new edits.
func TestFillsAfterRestoration(t *testing.T) {
	t.Parallel()
	f := newFilled(t, "header", "sidecar")
	file := f.put(metadata.ID{}, "a.csv", table("run: 1"))
	f.put(metadata.ID{}, "a.csv.json", `{"gas":"Ar"}`)
	want, set := f.said(file), f.Sets[0].ID
	_, err := f.Service.Sets.Delete(t.Context(), f.Admin, set.String(), repositorytest.Always)
	f.OK(err)
	f.Finish(f.meta, f.files, set)
	f.OK(f.Service.Descriptions.Filled(t.Context()))
	edits := f.edits()
	_, err = f.Service.Sets.Restore(t.Context(), f.Admin, set.String(), repositorytest.Always)
	f.OK(err)
	f.Finish(f.meta, f.files, set)
	if got := f.said(file); got != want || want != "gas=s:Ar run=h:1" || f.edits() != edits {
		t.Errorf("%s, before %s; %d edits, before %d", got, want, f.edits(), edits)
	}
}
