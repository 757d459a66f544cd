package repository_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// described is a repository in memory whose objects have descriptive metadata.
type described struct {
	*repositorytest.World
	meta *metadatatest.Memory
}

func newDescribed(t *testing.T) *described {
	meta, config := metadatatest.NewMemory(time.Now), repository.Config{PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100}
	service := repositorytest.NewStill(repositorytest.Audited{Store: meta, Fail: t.Errorf}, blobstest.NewMemory(), config)
	return &described{repositorytest.NewWorld(t, service, 3), meta}
}

func patch(text string) descriptive.Patch { return descriptive.Patch(text) }

// edit edits the first resource.
func (d *described) edit(text string) (metadata.Resource, error) {
	return d.Service.Files.Edit(d.T.Context(), d.Admin, d.Resources[0].ID.String(), files.Fields{Metadata: patch(text)}, core.Match{})
}

// set edits the first resource, and returns it.
func (d *described) set(text string) metadata.Resource {
	d.T.Helper()
	r, err := d.edit(text)
	d.OK(err)
	return r
}

// stored returns the stored descriptive metadata of an object, or "".
func (d *described) stored(id metadata.ID) (text string) {
	d.T.Helper()
	d.OK(d.meta.View(d.T.Context(), func(tx *metadata.Tx) error {
		row, err := tx.Descriptive.Get(id)
		text = row.JSON
		return errs.Ignore(err, metadata.ErrNotFound)
	}))
	return text
}

// texts returns the values and the action of the last entry about an object.
func (d *described) texts(listing paging.Listing, id metadata.ID) (texts string, action audit.Action) {
	d.T.Helper()
	page, err := d.Service.AuditLog.History(d.T.Context(), d.Admin, listing, core.ListRequest{Container: id.String()})
	d.OK(err)
	return page.Items[0].TextsNow, page.Items[0].Action
}

// TestDescribe: a patch is merged, null removes a value, and each change has an entry with the
// former value.
func TestDescribe(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	id, before := d.Resources[0].ID, d.Resources[0]
	for _, step := range []struct{ patch, want, texts string }{
		{`{"tags":["raw"],"properties":{"temperature":{"value":20.0,"unit":"°C"},"operator":"Ada"}}`,
			`{"tags":["raw"],"properties":{"operator":"Ada","temperature":{"value":20.0,"unit":"°C"}}}`,
			`{"metadata.properties.operator":"\"Ada\"","metadata.properties.temperature":"{\"value\":20.0,\"unit\":\"°C\"}","metadata.tags":"[\"raw\"]"}`},
		{`{"properties":{"operator":null,"n":3}}`, `{"tags":["raw"],"properties":{"n":3,"temperature":{"value":20.0,"unit":"°C"}}}`,
			`{"metadata.properties.n":"3","metadata.properties.operator":{"before":"\"Ada\"","now":""}}`},
		{`{"tags":["b","a"],"properties":null}`, `{"tags":["b","a"]}`,
			`{"metadata.properties.n":{"before":"3","now":""},"metadata.properties.temperature":{"before":"{\"value\":20.0,\"unit\":\"°C\"}","now":""},` +
				`"metadata.tags":{"before":"[\"raw\"]","now":"[\"b\",\"a\"]"}}`},
		{`null`, ``, `{"metadata.tags":{"before":"[\"b\",\"a\"]","now":""}}`},
	} {
		r := d.set(step.patch)
		if r.Descriptive != step.want || d.stored(id) != step.want || d.Get(id).Descriptive != step.want {
			t.Errorf("after %s: %s, stored %s, want %s", step.patch, r.Descriptive, d.stored(id), step.want)
		}
		if r.Modified <= before.Modified || r.Tag() == before.Tag() || r.Version != before.Version {
			t.Errorf("after %s: modified %d after %d", step.patch, r.Modified, before.Modified)
		}
		if texts, action := d.texts(paging.ResourceHistory, id); texts != step.texts || action != audit.ResourceEdit {
			t.Errorf("after %s: %s of\n%s, want\n%s", step.patch, action, texts, step.texts)
		}
		before = r
	}
}

// TestDescribeUnchanged: a patch without an effect changes nothing. Neither does sending back the
// metadata that were shown.
func TestDescribeUnchanged(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	first := d.set(`{"tags":["a"],"properties":{"x":1}}`)
	for _, text := range []string{`{}`, `{"tags":["a"]}`, `{"properties":{"y":null}}`, `{"publisher":null}`, first.Descriptive} {
		if again := d.set(text); again != first {
			t.Errorf("after %s: %+v, want %+v", text, again, first)
		}
	}
	if zero := d.set(`null`); zero.Modified == first.Modified || d.set(`{"tags":null}`) != zero {
		t.Error("removing the metadata of an object without metadata")
	}
}

// TestDescribeQuantities: a number in a string is parsed. A unit stored under older rules does not
// prevent edits.
func TestDescribeQuantities(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	if r := d.set(`{"properties":{"T":{"value":"20,5","unit":"°C"},"n":{"value":3,"unit":"samples"}}}`); r.Descriptive != `{"properties":{"T":{"value":20.5,"unit":"°C"},"n":{"value":3,"unit":"samples"}}}` {
		t.Error(r.Descriptive)
	}
	id := d.Resources[0].ID
	d.OK(d.meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Descriptive.Put(metadata.Descriptive{ObjectID: id, JSON: `{"properties":{"T":{"value":20,"unit":",5 °C"}}}`})
	}))
	if r := d.set(`{"tags":["a"]}`); r.Descriptive != `{"tags":["a"],"properties":{"T":{"value":20,"unit":",5 °C"}}}` {
		t.Error(r.Descriptive)
	}
	if r := d.set(`{"properties":{"T":{"value":"20,5","unit":"°C"}}}`); r.Descriptive != `{"tags":["a"],"properties":{"T":{"value":20.5,"unit":"°C"}}}` {
		t.Error(r.Descriptive)
	}
}

// TestDescribeRefused: an error names the field that violates a rule, and nothing changes.
func TestDescribeRefused(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	first := d.set(`{"tags":["a"]}`)
	for text, field := range map[string]string{
		`{"tags":["a","a"]}`: "metadata.tags.1", `{"tags":[""]}`: "metadata.tags.0", `{"tags":"a"}`: "metadata.tags",
		`{"publisher":"x"}`: "metadata.publisher", `{"colour":1}`: "metadata.colour", `[]`: "metadata", `"x"`: "metadata",
		`{"properties":{"a.b":1}}`: "metadata.properties.a.b", `{"properties":{"t":{"value":1,"unit":""}}}`: "metadata.properties.t.unit",
		`{"properties":{"t":{"value":20,"unit":",5 °C"}}}`: "metadata.properties.t.unit", `{"properties":{"t":[{"value":12,"unit":"h30"}]}}`: "metadata.properties.t.0.unit",
		`{"properties":{"t":{"value":"1,234","unit":"mm"}}}`:           "metadata.properties.t.value",
		`{"properties":{"t":["` + strings.Repeat("x", 64<<10) + `"]}}`: "metadata.properties.t.0",
	} {
		_, err := d.edit(text)
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind != errs.Invalid || known.Code != errs.CodeInvalidField || known.Field != field {
			t.Errorf("%.60s: %v (%+v), want an error for the field %s", text, err, known, field)
		}
	}
	if now := d.Get(first.ID); now != first {
		t.Errorf("now it is %+v, want %+v", now, first)
	}
	d.Delete(first)
	_, err := d.edit(`{"tags":["b"]}`)
	d.Refused(err, errs.CodeDeleted)
}

// TestDescriptionIsKept: replacing the file, restoring a version, deletion, restoration and a purge
// keep the metadata.
func TestDescriptionIsKept(t *testing.T) {
	t.Parallel()
	disk := repositorytest.NewDisk(t, repository.Config{}, 2)
	ctx, id := t.Context(), disk.Resources[0].ID
	const want = `{"tags":["kept"]}`
	_, err := disk.Service.Files.Edit(ctx, disk.Admin, id.String(), files.Fields{Metadata: patch(want)}, core.Match{})
	disk.OK(err)
	hold := func(when string, r metadata.Resource, err error) {
		t.Helper()
		if err != nil || r.Descriptive != want {
			t.Errorf("%s: %q, %v", when, r.Descriptive, err)
		}
	}
	hold("replaced", disk.Replace(disk.Resources[0], "other"), nil)
	restored, err := disk.Service.Versions.Restore(ctx, disk.Admin, id.String(), "1", repositorytest.Always)
	hold("its version is restored", restored, err)
	hold("deleted", disk.Delete(restored), nil)
	restored, err = disk.Service.Files.Restore(ctx, disk.Admin, id.String(), repositorytest.Always)
	hold("restored", restored, err)
	_, err = disk.Service.Dataspaces.Delete(ctx, disk.Admin, disk.Space.ID.String(), repositorytest.Always)
	disk.OK(err)
	_, err = disk.Service.Dataspaces.Restore(ctx, disk.Admin, disk.Space.ID.String(), repositorytest.Always)
	disk.OK(err)
	hold("its dataspace was deleted and restored", disk.Get(id), nil)
	disk.Delete(restored)
	disk.Purge(maintenance.PurgeOptions{})
	hold("a tombstone", disk.Get(id), nil)
	disk.Sound()
}

// TestUploadDescribed: metadata sent with a new file are stored. Metadata sent with a replacement
// are merged into the existing ones.
func TestUploadDescribed(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	set, name := d.Sets[0].ID.String(), "described"
	send := func(over string, text *string) (metadata.Resource, error) {
		up := d.Service.Uploads.NewUpload(d.Admin)
		d.OK(up.Receive(t.Context(), strings.NewReader("content")))
		defer func() { d.OK(up.Discard()) }()
		fields := files.UploadFields{Name: &name, Metadata: text}
		if over != "" {
			return up.Replace(t.Context(), over, fields)
		}
		fields.SetID = &set
		return up.Create(t.Context(), fields)
	}
	made, err := send("", new(`{"tags":["new"],"properties":{"n":1,"x":null}}`))
	d.OK(err)
	if want := `{"tags":["new"],"properties":{"n":1}}`; made.Descriptive != want || d.stored(made.ID) != want {
		t.Errorf("created with %s, stored %s", made.Descriptive, d.stored(made.ID))
	}
	if texts, action := d.texts(paging.ResourceHistory, made.ID); !strings.Contains(texts, `"metadata.tags":"[\"new\"]"`) || action != audit.ResourceCreate {
		t.Errorf("%s: %s", action, texts)
	}
	for _, step := range []struct {
		text *string
		want string
	}{{nil, made.Descriptive}, {new(""), made.Descriptive}, {new(`{"properties":{"n":null,"m":2}}`), `{"tags":["new"],"properties":{"m":2}}`}, {new("null"), ""}} {
		replaced, err := send(made.ID.String(), step.text)
		d.OK(err)
		if replaced.Descriptive != step.want || d.stored(made.ID) != step.want {
			t.Errorf("replaced with %s, stored %s; want %s", replaced.Descriptive, d.stored(made.ID), step.want)
		}
	}
	before := d.Listed()
	for _, over := range []string{"", made.ID.String()} {
		_, err = send(over, new(`{"publisher":"x"}`))
		d.Refused(err, errs.CodeInvalidField)
	}
	if diff := cmp.Diff(before, d.Listed()); diff != "" {
		t.Errorf("refused, and yet: %s", diff)
	}
}

// TestDescribeContainers: sets and dataspaces can be described when they are created, and later by
// everyone who may change them.
func TestDescribeContainers(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	ctx := t.Context()
	space, err := d.Service.Dataspaces.Create(ctx, d.Admin, containers.NewDataspace{Name: "described", DataspaceFields: containers.DataspaceFields{Metadata: descriptive.Patch(`{"publisher":"Curie","tags":null}`)}})
	d.OK(err)
	set, err := d.Service.Sets.Create(ctx, d.Admin, containers.NewSet{Name: "described", DataspaceID: space.ID.String(), SetFields: containers.SetFields{Metadata: descriptive.Patch(`{"publicationYear":2026,"keywords":["radium"]}`)}})
	d.OK(err)
	if space.Descriptive != `{"publisher":"Curie"}` || set.Descriptive != `{"publicationYear":2026,"keywords":["radium"]}` {
		t.Errorf("created with %s, %s", space.Descriptive, set.Descriptive)
	}
	if texts, _ := d.texts(paging.SetHistory, set.ID); !strings.Contains(texts, `"metadata.publicationYear":"2026"`) {
		t.Errorf("the history of the set: %s", texts)
	}
	space, err = d.Service.Dataspaces.Update(ctx, d.Admin, space.ID.String(), containers.DataspaceFields{Metadata: patch(`{"keywords":["a"]}`)}, core.Match{})
	d.OK(err)
	set, err = d.Service.Sets.Update(ctx, d.Admin, set.ID.String(), containers.SetFields{Metadata: patch(`{"keywords":null,"tags":["t"]}`)}, core.Match{})
	d.OK(err)
	gotSpace, err := d.Service.Dataspaces.Get(ctx, d.Admin, space.ID.String())
	d.OK(err)
	gotSet, err := d.Service.Sets.Get(ctx, d.Admin, set.ID.String())
	d.OK(err)
	if gotSpace != space || space.Descriptive != `{"publisher":"Curie","keywords":["a"]}` || gotSet != set || set.Descriptive != `{"publicationYear":2026,"tags":["t"]}` {
		t.Errorf("changed to %s, %s; got %+v, %+v", space.Descriptive, set.Descriptive, gotSpace, gotSet)
	}
	texts, action := d.texts(paging.DataspaceHistory, space.ID)
	if texts != `{"metadata.keywords":"[\"a\"]"}` || action != audit.DataspaceUpdate {
		t.Errorf("the history of the dataspace: %s, %s", action, texts)
	}
	_, err = d.Service.Dataspaces.Update(ctx, d.Admin, space.ID.String(), containers.DataspaceFields{Metadata: patch(`{"publicationYear":2026}`)}, core.Match{})
	d.Refused(err, errs.CodeInvalidField)
	if found := repositorytest.Violations(t, d.meta, blobstest.NewMemory()); len(found) > 0 {
		t.Errorf("violations: %q", found)
	}
}

// TestDescriptiveListed: listings contain the metadata on every page if they are requested, and
// only then.
func TestDescriptiveListed(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	ctx := t.Context()
	for i, r := range d.Resources[:2] {
		_, err := d.Service.Files.Edit(ctx, d.Admin, r.ID.String(), files.Fields{Metadata: patch(`{"properties":{"n":` + string(rune('1'+i)) + `}}`)}, core.Match{})
		d.OK(err)
	}
	_, err := d.Service.Sets.Update(ctx, d.Admin, d.Sets[0].ID.String(), containers.SetFields{Metadata: patch(`{"tags":["set"]}`)}, core.Match{})
	d.OK(err)
	_, err = d.Service.Dataspaces.Update(ctx, d.Admin, d.Space.ID.String(), containers.DataspaceFields{Metadata: patch(`{"tags":["space"]}`)}, core.Match{})
	d.OK(err)
	for _, asked := range []bool{false, true} {
		first := paging.Selection{Limit: 1, Descriptive: asked}
		want := []string{"", "", "", "", ""}
		if asked {
			want = []string{"", `{"properties":{"n":1}}`, `{"properties":{"n":2}}`, `{"tags":["set"]}`, `{"tags":["space"]}`}
		}
		var got []string
		req := core.ListRequest{Container: d.Sets[0].ID.String(), Selection: first}
		for range d.Resources {
			page, err := repositorytest.ListResources(ctx, d.Service, d.Admin, paging.SetResources, req)
			d.OK(err)
			got = append(got, page.Items[0].Descriptive)
			req = core.ListRequest{Container: req.Container, Token: page.Next}
		}
		sets, err := d.Service.Sets.List(ctx, d.Admin, paging.Sets, core.ListRequest{Selection: first})
		d.OK(err)
		spaces, err := d.Service.Dataspaces.List(ctx, d.Admin, core.ListRequest{Selection: first})
		d.OK(err)
		got = append(got, sets.Items[0].Descriptive, spaces.Items[0].Descriptive)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requested: %v: %s", asked, diff)
		}
	}
}

// TestDescribeDuringCascade: an edit of an object that a restoration has not reached yet keeps the
// metadata, and its entry contains only the changes.
func TestDescribeDuringCascade(t *testing.T) {
	t.Parallel()
	meta, store := metadatatest.NewMemory(time.Now), blobstest.NewMemory()
	h := repositorytest.NewWorld(t, repositorytest.NewStill(repositorytest.Audited{Store: meta, Fail: t.Errorf}, store, repository.Config{PageSize: 1000, DirectoryPageSize: 100}), 450)
	last := h.Resources[len(h.Resources)-1]
	edit := func(text string) (metadata.Resource, error) {
		return h.Service.Files.Edit(t.Context(), h.Admin, last.ID.String(), files.Fields{Metadata: patch(text)}, core.Match{})
	}
	_, err := edit(`{"tags":["a"]}`)
	h.OK(err)
	_, err = h.Service.Sets.Delete(t.Context(), h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
	h.Begun(err)
	h.Finish(meta, store, h.Sets[0].ID)
	_, err = h.Service.Sets.Restore(t.Context(), h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
	h.Begun(err)
	edited, err := edit(`{"properties":{"n":1}}`)
	if err != nil || edited.Descriptive != `{"tags":["a"],"properties":{"n":1}}` {
		t.Errorf("%s, %v", edited.Descriptive, err)
	}
	d := &described{h, meta}
	if texts, action := d.texts(paging.ResourceHistory, last.ID); texts != `{"metadata.properties.n":"1"}` || action != audit.ResourceEdit {
		t.Errorf("%s: %s", action, texts)
	}
}

// TestDescribePermissions: reading or changing metadata requires the same permissions as reading or
// changing their object.
func TestDescribePermissions(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	ctx := t.Context()
	user, err := d.Service.Users.Create(ctx, d.Admin, containers.NewUser{Username: "anna"})
	d.OK(err)
	anna := auth.Principal{UserID: user.ID}
	d.set(`{"tags":["a"]}`)
	id := d.Resources[0].ID.String()
	edit := files.Fields{Metadata: patch(`{"tags":["b"]}`)}
	_, err = d.Service.Files.Get(ctx, anna, id)
	d.Refused(err, errs.CodeForbidden)
	_, err = d.Service.Files.Edit(ctx, anna, id, edit, core.Match{})
	d.Refused(err, errs.CodeForbidden)
	_, _, err = d.Service.Users.Grant(ctx, d.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: d.Space.ID.String(), Role: auth.Member})
	d.OK(err)
	seen, err := d.Service.Files.Get(ctx, anna, id)
	if err != nil || seen.Descriptive != `{"tags":["a"]}` {
		t.Errorf("a member sees %q, %v", seen.Descriptive, err)
	}
	_, err = d.Service.Files.Edit(ctx, anna, id, edit, core.Match{})
	d.Refused(err, errs.CodeForbidden)
}
