package repository_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/files"
	"labshelf/repository/folders"
)

// many applies an action to files of the first set.
func (m *moved) many(action string, of []metadata.Resource, more ...string) []files.ManyResult {
	m.T.Helper()
	fields := files.Many{Action: manyActions[action], IDs: idsOf(of)}
	for i := 0; i < len(more); i += 2 {
		if more[i] == "setId" {
			fields.SetID = more[i+1]
		} else {
			fields.Folder = &more[i+1]
		}
	}
	results, err := m.Service.Files.ChangeMany(m.T.Context(), m.Admin, of[0].SetID.String(), fields)
	m.OK(err)
	for _, r := range results {
		if r.Refused != nil {
			m.T.Errorf("%s of %s: %v", action, r.ID, r.Refused)
		}
	}
	return results
}

var manyActions = map[string]files.ManyAction{"delete": files.DeleteMany, "restore": files.RestoreMany, "copy": files.CopyMany, "move": files.MoveMany}

func idsOf(files []metadata.Resource) (ids []string) {
	for _, r := range files {
		ids = append(ids, r.ID.String())
	}
	return ids
}

// TestChangeMany: more files than fit into one step are deleted, restored, copied and moved like
// single files. Moving them back restores their former records.
func TestChangeMany(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	var files []metadata.Resource
	for n := range 203 {
		files = append(files, m.Upload(m.Sets[0], fmt.Sprintf("a/%03d", n)))
	}
	last := files[202].ID
	m.many("delete", files)
	for _, again := range m.many("delete", files) {
		if !again.Already {
			t.Fatalf("%s is deleted twice", again.ID)
		}
	}
	if r := m.Get(last); r.State != metadata.Deleted {
		t.Errorf("the last file is %v", r.State)
	}
	m.many("restore", files)
	copies := m.many("copy", files, "setId", m.away.ID.String())
	if got := copies[202].Arrived; got.Name != "a/202" || got.SetID != m.away.ID || got.ID == last {
		t.Errorf("copied as %+v", got)
	}
	gone := m.many("move", files, "setId", m.away.ID.String(), "folder", "b/c/")
	var arrived []metadata.Resource
	for _, r := range gone {
		arrived = append(arrived, r.Arrived)
	}
	if got := arrived[202]; got.Name != "b/c/202" || got.SetID != m.away.ID || m.Get(last).MovedTo != got.ID {
		t.Errorf("moved as %+v", got)
	}
	back := m.many("move", arrived, "setId", m.Sets[0].ID.String(), "folder", "")
	if got := back[202].Arrived; got.ID != last || got.Name != "202" || got.State != metadata.Active {
		t.Errorf("moved back as %+v", got)
	}
	slash := m.Upload(m.Sets[0], "raw/data/")
	if got := m.many("move", []metadata.Resource{slash}, "folder", "kept/")[0].Arrived.Name; got != "kept/data/" {
		t.Errorf("the result for a name that ends with a slash is %q", got)
	}
	m.Sound()
}

// TestChangeManyRefuses: a problem with one file is reported as its result. A problem with the
// request is an error. Neither changes anything else.
func TestChangeManyRefuses(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	good, gone, elsewhere := m.Upload(m.Sets[0], "good"), m.Upload(m.Sets[0], "gone"), m.Upload(m.away, "elsewhere")
	m.many("delete", []metadata.Resource{gone})
	set := m.Sets[0].ID.String()
	results, err := m.Service.Files.ChangeMany(t.Context(), m.Admin, set, files.Many{
		Action: files.MoveMany, IDs: []string{gone.ID.String(), elsewhere.ID.String(), "x", good.ID.String()}, Folder: new("f/"),
	})
	m.OK(err)
	for i, want := range []errs.Code{errs.CodeDeleted, errs.CodeResourceNotFound, errs.CodeResourceNotFound, ""} {
		var got errs.Code
		if results[i].Refused != nil {
			got = results[i].Refused.Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q", results[i].ID, got, want)
		}
	}
	if got := m.Get(good.ID).Name; got != "f/good" {
		t.Errorf("the result of the accepted file is %q", got)
	}
	if got := m.Get(elsewhere.ID); got.Name != "elsewhere" {
		t.Errorf("the result of a file of another set is %q", got.Name)
	}
	ids := []string{good.ID.String()}
	for name, tc := range map[string]struct {
		fields files.Many
		code   errs.Code
		field  string
	}{
		"no action":        {files.Many{IDs: ids}, errs.CodeMissingField, "action"},
		"no ids":           {files.Many{Action: files.DeleteMany}, errs.CodeMissingField, "ids"},
		"an empty list":    {files.Many{Action: files.DeleteMany, IDs: []string{}}, errs.CodeInvalidField, "ids"},
		"too many":         {files.Many{Action: files.DeleteMany, IDs: make1001()}, errs.CodeInvalidField, "ids"},
		"one twice":        {files.Many{Action: files.DeleteMany, IDs: append(ids, ids...)}, errs.CodeInvalidField, "ids"},
		"a set to delete":  {files.Many{Action: files.DeleteMany, IDs: ids, SetID: set}, errs.CodeInvalidField, "action"},
		"nowhere":          {files.Many{Action: files.MoveMany, IDs: ids}, errs.CodeMissingField, "setId"},
		"an unknown set":   {files.Many{Action: files.MoveMany, IDs: ids, SetID: "x"}, errs.CodeSetNotFound, "setId"},
		"no folder":        {files.Many{Action: files.MoveMany, IDs: ids, Folder: new("f")}, errs.CodeInvalidField, "folder"},
		"a folder of dots": {files.Many{Action: files.MoveMany, IDs: ids, Folder: new("../")}, errs.CodeInvalidField, "folder"},
	} {
		_, err := m.Service.Files.ChangeMany(t.Context(), m.Admin, set, tc.fields)
		refused, _ := errors.AsType[*errs.Error](err)
		if refused == nil || refused.Code != tc.code || refused.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := m.Get(good.ID); got.State != metadata.Active || got.Name != "f/good" {
		t.Errorf("a refused request has changed %+v", got)
	}
}

func make1001() (ids []string) {
	for n := range 1001 {
		ids = append(ids, fmt.Sprint(n))
	}
	return ids
}

// TestFolderRestores: undoing the deletion of a folder restores its files and folders. It does not
// restore files that were deleted earlier, deleted by another user, or moved.
func TestFolderRestores(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	set := m.Sets[0].ID.String()
	before := m.Upload(m.Sets[0], "d/before")
	m.many("delete", []metadata.Resource{before})
	var files []metadata.Resource
	for n := range 201 {
		files = append(files, m.Upload(m.Sets[0], fmt.Sprintf("d/%03d", n)))
	}
	_, err := m.Service.Folders.Create(t.Context(), m.Admin, set, folders.FolderPath{Path: "d/empty/"})
	m.OK(err)
	_, done, err := m.Service.Folders.Delete(t.Context(), m.Admin, set, folders.FolderPath{Path: "d/"})
	m.OK(err)
	if done.Files != 201 || strings.Join(done.Made, " ") != "d/empty/" {
		t.Fatalf("deleted %+v", done)
	}
	after := m.Upload(m.Sets[0], "d/after")
	m.many("delete", []metadata.Resource{after})
	undo := folders.Restoration{Path: "d/", Deletion: done.Deletion, Created: []string{"d/empty/"}}
	for _, want := range []int{201, 0} { // the second time, nothing remains to be restored
		_, restored, err := m.Service.Folders.Restore(t.Context(), m.Admin, set, undo)
		m.OK(err)
		if restored.Files != want || restored.Folders != min(want, 1) {
			t.Errorf("restored %+v", restored)
		}
	}
	for _, r := range []metadata.Resource{before, after} {
		if m.Get(r.ID).State != metadata.Deleted {
			t.Errorf("%s is restored, too", r.Name)
		}
	}
	if m.Get(files[200].ID).State != metadata.Active {
		t.Error("a file of the folder is not restored")
	}
	for name, fields := range map[string]folders.Restoration{
		"a folder outside":  {Path: "d/", Created: []string{"e/"}},
		"no folder":         {Path: "d"},
		"a path of another": {Path: "d/", Created: []string{"d/x"}},
	} {
		_, _, err := m.Service.Folders.Restore(t.Context(), m.Admin, set, fields)
		if refused, _ := errors.AsType[*errs.Error](err); refused == nil || refused.Code != errs.CodeInvalidField {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.Sound()
}

// TestFolderIsNotSplit: of several concurrent moves of one folder, one succeeds and moves all
// files. The others fail because a move is in progress, or because the folder no longer exists.
func TestFolderIsNotSplit(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	set := m.Sets[0].ID.String()
	const files = 450
	for n := range files {
		m.Upload(m.Sets[0], fmt.Sprintf("d/%03d", n))
	}
	var won []string
	var mu sync.Mutex
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			to := fmt.Sprintf("to-%d/", n)
			_, done, err := m.Service.Folders.Move(t.Context(), m.Admin, set, folders.Placement{Path: "d/", ToPath: to})
			mu.Lock()
			defer mu.Unlock()
			refused, _ := errors.AsType[*errs.Error](err)
			switch {
			case err == nil && done.Files == files:
				won = append(won, to)
			case refused == nil || refused.Code != errs.CodeBusy && refused.Code != errs.CodeNotFound:
				t.Errorf("to %s: %+v, %v", to, done, err)
			}
		})
	}
	writers.Wait()
	if len(won) != 1 {
		t.Fatalf("moved to %v", won)
	}
	size, err := m.Service.Folders.Size(t.Context(), m.Admin, set, won[0])
	m.OK(err)
	if size.Files != files {
		t.Errorf("%d of %d files are in one folder", size.Files, files)
	}
}

// TestReadersLockNoFolder: while another user copies a folder repeatedly, its owner can always move
// it.
func TestReadersLockNoFolder(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	set := m.Sets[0].ID.String()
	for n := range 150 {
		m.Upload(m.Sets[0], fmt.Sprintf("d/%03d", n))
	}
	ctx, stop := context.WithCancel(t.Context())
	var copier sync.WaitGroup
	copier.Go(func() {
		for n := 0; ctx.Err() == nil; n++ { // a copy may find a part of it, or nothing
			_, _, _ = m.Service.Folders.Copy(ctx, m.Admin, set, folders.Placement{Path: "d/", SetID: m.away.ID.String(), ToPath: fmt.Sprintf("c%d/", n)})
		}
	})
	for n := range 20 {
		places := []string{"d/", "e/"}
		_, _, err := m.Service.Folders.Move(t.Context(), m.Admin, set, folders.Placement{Path: places[n%2], ToPath: places[1-n%2]})
		m.OK(err)
	}
	stop()
	copier.Wait()
	m.Sound()
}

// TestFolderDeletionFitsARequest: the folders that a deletion reports fit into a request that
// restores them.
func TestFolderDeletionFitsARequest(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	set := m.Sets[0].ID.String()
	for n := range 300 {
		_, err := m.Service.Folders.Create(t.Context(), m.Admin, set, folders.FolderPath{Path: fmt.Sprintf("d/%03d/%s", n, strings.Repeat(strings.Repeat("x", 249)+"/", 4))})
		m.OK(err)
	}
	_, done, err := m.Service.Folders.Delete(t.Context(), m.Admin, set, folders.FolderPath{Path: "d/"})
	m.OK(err)
	if named := len(strings.Join(done.Made, "")); done.Folders != 300 || named > 256<<10 || named < 250<<10 {
		t.Errorf("%d folders, %d bytes of paths", done.Folders, named)
	}
	_, again, err := m.Service.Folders.Restore(t.Context(), m.Admin, set, folders.Restoration{Path: "d/", Created: done.Made})
	if m.OK(err); again.Folders != len(done.Made) {
		t.Errorf("%d of %d folders are restored", again.Folders, len(done.Made))
	}
	m.Sound()
}
