package repository_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// folder is a folder of a set.
func folder(set metadata.Set, path string) metadata.FolderKey {
	return metadata.FolderKey{SetID: set.ID, Path: path}
}

// copyFolder copies a folder to another one.
func copyFolder(ctx context.Context, svc *repository.Service, p auth.Principal, from, to metadata.FolderKey, existing folders.Existing) (folders.FolderOutcome, error) {
	_, done, err := svc.Folders.Copy(ctx, p, from.SetID.String(), folders.Placement{Path: from.Path, ToPath: to.Path, SetID: to.SetID.String(), Existing: existing})
	return done, err
}

// moveFolder moves a folder to another one.
func moveFolder(ctx context.Context, svc *repository.Service, p auth.Principal, from, to metadata.FolderKey, existing folders.Existing) (folders.FolderOutcome, error) {
	_, done, err := svc.Folders.Move(ctx, p, from.SetID.String(), folders.Placement{Path: from.Path, ToPath: to.Path, SetID: to.SetID.String(), Existing: existing})
	return done, err
}

// deleteFolder deletes a folder.
func deleteFolder(ctx context.Context, svc *repository.Service, p auth.Principal, folder metadata.FolderKey) (folders.FolderOutcome, error) {
	_, done, err := svc.Folders.Delete(ctx, p, folder.SetID.String(), folders.FolderPath{Path: folder.Path})
	return done, err
}

// tree returns the active contents of a set: the explicitly created folders, and each file with its
// name and content.
func (m *moved) tree(set metadata.Set) (all []string) {
	m.T.Helper()
	var files []metadata.Resource
	m.OK(m.Meta.View(m.T.Context(), func(tx *metadata.Tx) error {
		all, files = nil, nil
		for row, err := range tx.Folders.From(metadata.FolderKey{SetID: set.ID}) {
			if err != nil {
				return err
			}
			all = append(all, row.Path+row.Properties)
		}
		for r, err := range tx.Resources.Range(metadata.ResourceRange{Set: set.ID, States: paging.Active, Order: paging.ByName}) {
			if err != nil {
				return err
			}
			files = append(files, r)
		}
		return nil
	}))
	for _, r := range files {
		all = append(all, r.Name+"="+m.content(r.ID))
	}
	return all
}

func (m *moved) wantTree(what string, set metadata.Set, want string) {
	m.T.Helper()
	if got := strings.Join(m.tree(set), " "); got != want {
		m.T.Errorf("%s: the content is %q, want %q", what, got, want)
	}
}

// fill uploads files to a set. A name that ends with a slash creates a folder.
func (m *moved) fill(set metadata.Set, names ...string) {
	m.T.Helper()
	for _, name := range names {
		if !strings.HasSuffix(name, "/") {
			m.Upload(set, name)
			continue
		}
		m.OK(m.Meta.Update(m.T.Context(), func(tx *metadata.Tx) error {
			return tx.Folders.Put(metadata.Folder{SetID: set.ID, Path: name, Properties: "!", CreatedBy: m.Admin.UserID})
		}))
	}
}

// TestFolders: a folder is copied or moved with all its contents, within its set and to another
// set. The destination is treated as requested.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		what            string
		move, far       bool
		existing        folders.Existing
		there           []string // at the destination
		here, elsewhere string   // contents after the operation; elsewhere is "" if it stays in the set
	}{
		{"copy", false, false, folders.RefuseExisting, nil, "d/e/! to/e/! d/a=d/a d/b=d/b d/e/c=d/e/c d0=d0 to/a=d/a to/b=d/b to/e/c=d/e/c", ""},
		{"move", true, false, folders.RefuseExisting, nil, "to/e/! d0=d0 to/a=d/a to/b=d/b to/e/c=d/e/c", ""},
		{"copy far", false, true, folders.RefuseExisting, nil, "d/e/! d/a=d/a d/b=d/b d/e/c=d/e/c d0=d0", "to/e/! to/a=d/a to/b=d/b to/e/c=d/e/c"},
		{"move far", true, true, folders.RefuseExisting, nil, "d0=d0", "to/e/! to/a=d/a to/b=d/b to/e/c=d/e/c"},
		{"merge", true, true, folders.MergeExisting, []string{"to/f/", "to/a", "to/z", "to0"}, "d0=d0", "to/e/! to/f/! to/a=d/a to/b=d/b to/e/c=d/e/c to/z=to/z to0=to0"},
		{"replace", false, true, folders.ReplaceExisting, []string{"to/f/", "to/e/", "to/a", "to/z", "to0"}, "d/e/! d/a=d/a d/b=d/b d/e/c=d/e/c d0=d0", "to/e/! to/a=d/a to/b=d/b to/e/c=d/e/c to0=to0"},
		{"replace within", false, false, folders.ReplaceExisting, []string{"to/a", "to/z"}, "d/e/! to/e/! d/a=d/a d/b=d/b d/e/c=d/e/c d0=d0 to/a=d/a to/b=d/b to/e/c=d/e/c", ""},
		{"merge of equal names", false, true, folders.MergeExisting, []string{"to/a", "to/a"}, "d/e/! d/a=d/a d/b=d/b d/e/c=d/e/c d0=d0", "to/e/! to/a=d/a to/a=to/a to/b=d/b to/e/c=d/e/c"},
	} {
		m := newMoved(t)
		m.fill(m.Sets[0], "d/b", "d/a", "d/e/", "d/e/c", "d0")
		to := m.Sets[0]
		if tc.far {
			to = m.away
		}
		m.fill(to, tc.there...)
		do := copyFolder
		if tc.move {
			do = moveFolder
		}
		done, err := do(t.Context(), m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(to, "to/"), tc.existing)
		if m.OK(err); done.Files != 3 || done.Folders != 1 {
			t.Errorf("%s: done %+v", tc.what, done)
		}
		m.wantTree(tc.what, m.Sets[0], tc.here)
		m.wantTree(tc.what+", elsewhere", m.away, tc.elsewhere)
		m.Sound()
	}
}

// TestFolderReplacedKeepsIDs: if a folder is replaced by a folder with a file of the same name, the
// file keeps its id and gets another version.
func TestFolderReplacedKeepsIDs(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	m.fill(m.Sets[0], "new/a")
	r := m.Upload(m.away, "old/a")
	_, err := copyFolder(t.Context(), m.Service, m.Admin, folder(m.Sets[0], "new/"), folder(m.away, "old/"), folders.ReplaceExisting)
	m.OK(err)
	m.wantVersions("replaced", r.ID, "2 new/a", "1 old/a")
}

// TestFolderEqualNames: each of several files with the same name replaces a different file, or
// creates a new one.
func TestFolderEqualNames(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	m.fill(m.Sets[0], "d/a", "d/a", "d/a")
	m.fill(m.away, "to/a", "to/a")
	_, err := copyFolder(t.Context(), m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "to/"), folders.MergeExisting)
	m.OK(err)
	m.wantTree("merged", m.away, "to/a=d/a to/a=d/a to/a=d/a")
	_, err = copyFolder(t.Context(), m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "to/"), folders.ReplaceExisting)
	m.OK(err)
	m.wantTree("replaced", m.away, "to/a=d/a to/a=d/a to/a=d/a")
	m.Sound()
}

// TestFolderSteps: a large folder with equal names moves in steps. Moving it back restores the ids
// of its files. Deleting it deletes all of them.
func TestFolderSteps(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	ctx, names := t.Context(), []string{}
	for i := range 450 {
		names = append(names, fmt.Sprintf("d/%d", i/3)) // steps begin and end between equal names
	}
	for i := range 201 {
		names = append(names, fmt.Sprintf("d/f%d/", i))
	}
	m.fill(m.Sets[0], names...)
	before, listed := m.tree(m.Sets[0]), m.Listed()
	for range 2 {
		done, err := moveFolder(ctx, m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "longer than d/"), folders.RefuseExisting)
		if m.OK(err); done.Files != 450 || done.Folders != 201 || len(m.tree(m.Sets[0])) != 0 || len(m.tree(m.away)) != 651 {
			t.Fatalf("moved %+v", done)
		}
		_, err = moveFolder(ctx, m.Service, m.Admin, folder(m.away, "longer than d/"), folder(m.Sets[0], "d/"), folders.RefuseExisting)
		m.OK(err)
		if !maps.Equal(m.Listed(), listed) || !slices.Equal(m.tree(m.Sets[0]), before) {
			t.Fatal("after moving back, the set has changed")
		}
	}
	_, err := copyFolder(ctx, m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(m.Sets[0], "e/"), folders.MergeExisting)
	m.OK(err)
	if all := m.tree(m.Sets[0]); len(all) != 2*651 {
		t.Errorf("with the copy, the set has %d", len(all))
	}
	done, err := deleteFolder(ctx, m.Service, m.Admin, folder(m.Sets[0], "d/"))
	if m.OK(err); done.Files != 450 || done.Folders != 201 || len(m.tree(m.Sets[0])) != 651 {
		t.Errorf("deleted %+v", done)
	}
	m.Sound()
}

// cutAfter is a store that fails after a number of changes.
type cutAfter struct {
	metadata.Store
	left int
}

var errCutHere = errors.New("cut")

func (s *cutAfter) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.left--; s.left < 0 {
		return errCutHere
	}
	return s.Store.Update(ctx, fn)
}

// TestInterruptedFolderMove: after a move that ended early, each file is in exactly one set, and
// the same move can continue.
func TestInterruptedFolderMove(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	for i := range 450 {
		m.Upload(m.Sets[0], fmt.Sprintf("d/%03d", i))
	}
	svc := repositorytest.NewStill(&cutAfter{repositorytest.Audited{Store: m.Meta, Fail: t.Errorf}, 2}, m.Blobs, repository.Config{HoldUpTo: 10})
	done, err := moveFolder(t.Context(), svc, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "d/"), folders.RefuseExisting)
	if err == nil || done.Files != 400 || len(m.tree(m.Sets[0])) != 50 || len(m.tree(m.away)) != 400 {
		t.Errorf("done %+v, %v", done, err)
	}
	m.Sound()
	done, err = moveFolder(t.Context(), m.Service, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "d/"), folders.MergeExisting)
	if m.OK(err); done.Files != 50 || len(m.tree(m.away)) != 450 {
		t.Errorf("then done %+v", done)
	}
	m.Sound()
}

// TestFolderRefusals: a refused operation changes nothing.
func TestFolderRefusals(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	ctx := t.Context()
	m.fill(m.Sets[0], "d/e/"+strings.Repeat("n", 4080), "d/b", "to/x", "f/")
	damaged := m.Upload(m.Sets[0], "g/damaged damaged")
	m.OK(os.Remove(m.Path(damaged.Digest)))
	_, err := m.Content(damaged.ID)
	m.Refused(err, errs.CodeDataDamaged)
	before := len(actions(t, m.Meta, 0))
	unknown := metadata.Set{Record: metadata.Record{ID: metadata.NewID(1)}}
	for what, tc := range map[string]struct {
		from, to metadata.FolderKey
		code     errs.Code
	}{
		"none":             {folder(m.Sets[0], "x/"), folder(m.away, "x/"), errs.CodeNotFound},
		"a file":           {folder(m.Sets[0], "d/b"), folder(m.away, "x/"), errs.CodeInvalidField},
		"the set":          {folder(m.Sets[0], ""), folder(m.away, "x/"), errs.CodeInvalidField},
		"to the set":       {folder(m.Sets[0], "d/"), folder(m.away, ""), errs.CodeInvalidField},
		"to a file":        {folder(m.Sets[0], "d/"), folder(m.away, "x"), errs.CodeInvalidField},
		"to dots":          {folder(m.Sets[0], "f/"), folder(m.away, "a/../"), errs.CodeInvalidField},
		"into itself":      {folder(m.Sets[0], "d/"), folder(m.Sets[0], "d/x/"), errs.CodeFolderWithin},
		"onto itself":      {folder(m.Sets[0], "d/"), folder(m.Sets[0], "d/"), errs.CodeFolderWithin},
		"above":            {folder(m.Sets[0], "d/e/"), folder(m.Sets[0], "d/"), errs.CodeFolderWithin},
		"taken":            {folder(m.Sets[0], "d/"), folder(m.Sets[0], "to/"), errs.CodePathTaken},
		"used by a row":    {folder(m.Sets[0], "to/"), folder(m.Sets[0], "f/"), errs.CodePathTaken},
		"too long":         {folder(m.Sets[0], "d/"), folder(m.away, "d is longer now/"), errs.CodeInvalidField},
		"an unknown set":   {folder(m.Sets[0], "d/"), folder(unknown, "x/"), errs.CodeSetNotFound},
		"from an unknown":  {folder(unknown, "d/"), folder(m.away, "x/"), errs.CodeSetNotFound},
		"one file damaged": {folder(m.Sets[0], "g/"), folder(m.away, "g/"), errs.CodeDataDamaged},
	} {
		for _, do := range []func(context.Context, *repository.Service, auth.Principal, metadata.FolderKey, metadata.FolderKey, folders.Existing) (folders.FolderOutcome, error){copyFolder, moveFolder} {
			done, err := do(ctx, m.Service, m.Admin, tc.from, tc.to, folders.RefuseExisting)
			if repositorytest.WantCode(t, err, tc.code); t.Failed() || done.Files != 0 {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	if after := len(actions(t, m.Meta, 0)); after != before {
		t.Errorf("refused, but %d entries were written", after-before)
	}
	u, err := m.Service.Users.Create(ctx, m.Admin, containers.NewUser{Username: "reader"})
	m.OK(err)
	for space, role := range map[metadata.ID]string{m.Space.ID: "member", m.other.ID: "editor"} {
		_, _, err := m.Service.Users.Grant(ctx, m.Admin, containers.NewPrivilege{UserID: u.ID.String(), DataspaceID: space.String(), Role: repositorytest.RoleOf(role)})
		m.OK(err)
	}
	reader := auth.Principal{UserID: u.ID}
	_, err = copyFolder(ctx, m.Service, reader, folder(m.Sets[0], "to/"), folder(m.away, "x/"), folders.RefuseExisting)
	m.OK(err)
	_, err = moveFolder(ctx, m.Service, reader, folder(m.Sets[0], "to/"), folder(m.away, "y/"), folders.RefuseExisting)
	m.Refused(err, errs.CodeForbidden)
	_, err = deleteFolder(ctx, m.Service, reader, folder(m.Sets[0], "to/"))
	m.Refused(err, errs.CodeForbidden)
}

// meanwhile is a store that calls a function before its next change.
type meanwhile struct {
	metadata.Store
	do func()
}

func (s *meanwhile) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return s.Store.Update(ctx, fn)
}

// TestFolderIsCheckedInItsCommit: after the first check, a file appears at the destination, or
// bytes use up the quota. The whole folder is then refused.
func TestFolderIsCheckedInItsCommit(t *testing.T) {
	t.Parallel()
	for code, do := range map[errs.Code]func(m *moved, r metadata.Resource){
		errs.CodePathTaken:     func(m *moved, _ metadata.Resource) { m.Upload(m.away, "to/x") },
		errs.CodeQuotaExceeded: func(m *moved, _ metadata.Resource) { m.Upload(m.away, "xxxx") },
		errs.CodeNotFound:      func(m *moved, r metadata.Resource) { m.Delete(r) },
	} {
		m := newMoved(t)
		r := m.Upload(m.Sets[0], "d/a")
		_, err := m.Service.Dataspaces.Update(t.Context(), m.Admin, m.other.ID.String(), quotaOf(6), core.Match{})
		m.OK(err)
		store := &meanwhile{repositorytest.Audited{Store: m.Meta, Fail: t.Errorf}, func() { do(m, r) }}
		svc := repositorytest.NewStill(store, m.Blobs, repository.Config{HoldUpTo: 10})
		_, err = copyFolder(t.Context(), svc, m.Admin, folder(m.Sets[0], "d/"), folder(m.away, "to/"), folders.RefuseExisting)
		repositorytest.WantCode(t, err, code)
		if strings.Contains(m.trees(), "to/a") {
			t.Errorf("%s: the file was copied", code)
		}
	}
}
