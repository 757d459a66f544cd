package repository_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/folders"
	"labshelf/repository/repositorytest"
)

// here returns a path of the drive in the first set, and there a path in the other dataspace.
func (m *moved) here(path string) folders.DrivePath {
	return folders.DrivePath{Dataspace: m.Space.Name, Set: m.Sets[0].Name, Path: path}
}

func (m *moved) there(path string) folders.DrivePath {
	return folders.DrivePath{Dataspace: m.other.Name, Set: m.away.Name, Path: path}
}

// relocate relocates by calling a service of the repository.
func (m *moved) relocate(svc *repository.Service, move bool, from, to folders.DrivePath) error {
	m.T.Helper()
	_, _, err := svc.Drive.Relocate(m.T.Context(), m.Admin, folders.Relocation{From: from, To: to, Move: move, Overwrite: true})
	return err
}

// many returns the names of n files in a folder.
func many(folder string, files int) (names []string) {
	for n := range files {
		names = append(names, fmt.Sprintf("%s%03d", folder, n))
	}
	return names
}

// trees returns the contents of both sets.
func (m *moved) trees() string {
	m.T.Helper()
	return strings.Join(append(m.tree(m.Sets[0]), m.tree(m.away)...), " ")
}

// TestLargeRelocationIsCheckedFirst: a relocation in several steps is refused before the first
// step if any file would be refused, or if the total exceeds a quota.
func TestLargeRelocationIsCheckedFirst(t *testing.T) {
	t.Parallel()
	for _, move := range []bool{false, true} {
		for _, there := range []string{"to", "to/x", "other"} {
			m := newMoved(t)
			m.fill(m.Sets[0], many("d/", 450)...)
			m.fill(m.away, there)
			room := 450*int64(len("d/000")) + int64(len(there))
			allow := func(bytes int64) {
				_, err := m.Service.Dataspaces.Update(t.Context(), m.Admin, m.other.ID.String(), quotaOf(bytes), core.Match{})
				m.OK(err)
			}
			allow(room - 1)
			before := m.trees()
			m.Refused(m.relocate(m.Service, move, m.here("d"), m.there("to")), errs.CodeQuotaExceeded)
			if m.trees() != before {
				t.Errorf("moved %t onto %s: refused, but something has changed", move, there)
			}
			allow(room)
			damaged := m.Upload(m.Sets[0], "d/damaged, and last")
			m.OK(os.Remove(m.Path(damaged.Digest)))
			_, err := m.Content(damaged.ID)
			m.Refused(err, errs.CodeDataDamaged)
			m.Refused(m.relocate(m.Service, move, m.here("d"), m.there("to")), errs.CodeDataDamaged)
			m.Delete(damaged)
			if m.trees() != before {
				t.Errorf("moved %t onto %s: one file is damaged, but something has changed", move, there)
			}
			m.OK(m.relocate(m.Service, move, m.here("d"), m.there("to")))
			want := 450
			if move && there == "to/x" || there == "other" {
				want++
			}
			if got := len(m.tree(m.away)); got != want {
				t.Errorf("moved %t onto %s: %d files, want %d", move, there, got, want)
			}
		}
	}
}

// TestCutRelocationDeletesNothing: after a failed step, everything at the destination still exists.
func TestCutRelocationDeletesNothing(t *testing.T) {
	t.Parallel()
	for _, move := range []bool{false, true} {
		for _, there := range []string{"to", "to/x"} {
			for steps := range 3 {
				m := newMoved(t)
				m.fill(m.Sets[0], many("d/", 450)...)
				m.fill(m.away, there)
				cut := repositorytest.NewStill(&cutAfter{repositorytest.Audited{Store: m.Meta, Fail: t.Errorf}, steps}, m.Blobs, repository.Config{HoldUpTo: 10})
				if m.relocate(cut, move, m.here("d"), m.there("to")) == nil {
					t.Fatal("it was not interrupted")
				}
				tree := m.tree(m.away)
				if len(tree) != 1+200*steps || !strings.Contains(strings.Join(tree, " "), there+"="+there) {
					t.Errorf("moved %t onto %s, interrupted after %d steps: %d files exist", move, there, steps, len(tree))
				}
				m.Sound()
			}
		}
	}
}

// TestFileReplacesLargeFolder: nothing at the destination is deleted before the commit that moves
// the file to the path of the folder.
func TestFileReplacesLargeFolder(t *testing.T) {
	t.Parallel()
	for _, move := range []bool{false, true} {
		for steps := range 3 {
			m := newMoved(t)
			m.fill(m.Sets[0], "file")
			m.fill(m.away, many("to/", 450)...)
			cut := repositorytest.NewStill(&cutAfter{repositorytest.Audited{Store: m.Meta, Fail: t.Errorf}, steps}, m.Blobs, repository.Config{HoldUpTo: 10})
			if m.relocate(cut, move, m.here("file"), m.there("to")) == nil {
				t.Fatal("it was not interrupted")
			}
			arrived, tree := 0, m.tree(m.away)
			if steps > 0 {
				arrived = 1
			}
			if left := len(tree) - arrived; left != 450-steps*200+arrived || arrived == 1 && tree[0] != "to=file" {
				t.Errorf("moved %t, interrupted after %d steps: %d files of the folder remain", move, steps, left)
			}
			if move && len(m.tree(m.Sets[0])) != 1-arrived {
				t.Errorf("interrupted after %d steps, the source is %q", steps, m.tree(m.Sets[0]))
			}
			m.Sound()
		}
	}
}

// TestRelocationIntoItsSource: a folder cannot be replaced by an entry in it, because the entry
// would be deleted with it.
func TestRelocationIntoItsSource(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	m.fill(m.Sets[0], "d/e/f", "d/e/g", "d/e/h/")
	before := m.trees()
	for _, how := range []folders.Relocation{{}, {Move: true}, {Shallow: true}} {
		for from, to := range map[string]string{"d/e/f": "d/e", "d/e": "d", "d/e/h": "d/e"} {
			how.From, how.To, how.Overwrite = m.here(from), m.here(to), true
			_, _, err := m.Service.Drive.Relocate(t.Context(), m.Admin, how)
			if repositorytest.WantCode(t, err, errs.CodeFolderWithin); m.trees() != before {
				t.Fatalf("%s onto %s: something has changed", from, to)
			}
		}
		how.From, how.To = m.here("d"), m.here("d/e/x")
		_, _, err := m.Service.Drive.Relocate(t.Context(), m.Admin, how)
		m.Refused(err, errs.CodeForbidden)
	}
}

// TestShallowCopyReplaces: a shallow copy has the properties of the source folder. It replaces the
// contents of the destination.
func TestShallowCopyReplaces(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"to", "to/x/y", "to/x/", "other"} {
		m := newMoved(t)
		m.fill(m.Sets[0], "d/", "d/a", "d/e/")
		m.fill(m.away, there)
		_, _, err := m.Service.Drive.Relocate(t.Context(), m.Admin, folders.Relocation{From: m.here("d"), To: m.there("to"), Shallow: true, Overwrite: true})
		m.OK(err)
		want := "to/!"
		if there == "other" {
			want += " other=other"
		}
		m.wantTree(there, m.away, want)
		m.Sound()
	}
}

// gate is a store that blocks one change until the gate is opened.
type gate struct {
	metadata.Store
	left             int
	reached, release chan struct{}
}

func (s *gate) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.left--; s.left == 0 {
		close(s.reached)
		<-s.release
	}
	return s.Store.Update(ctx, fn)
}

// TestBusyRelocationChangesNothing: while the destination, or a folder in it, is being moved,
// nothing can replace it.
func TestBusyRelocationChangesNothing(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	m.fill(m.Sets[0], "file", "d/a", "d/b")
	m.fill(m.away, "to/in/x", "to/in/y")
	store := &gate{repositorytest.Audited{Store: m.Meta, Fail: t.Errorf}, 1, make(chan struct{}), make(chan struct{})}
	svc := repositorytest.NewStill(store, m.Blobs, repository.Config{HoldUpTo: 10})
	moved := make(chan error, 1)
	go func() {
		_, err := moveFolder(t.Context(), svc, m.Admin, folder(m.away, "to/in/"), folder(m.away, "elsewhere/"), folders.RefuseExisting)
		moved <- err
	}()
	<-store.reached
	before := m.trees()
	for _, move := range []bool{false, true} {
		for _, from := range []string{"file", "d"} {
			for _, to := range []string{"to", "to/in"} {
				if repositorytest.WantCode(t, m.relocate(svc, move, m.here(from), m.there(to)), errs.CodeBusy); m.trees() != before {
					t.Fatalf("moved %t, %s onto %s: something has changed", move, from, to)
				}
			}
		}
	}
	close(store.release)
	m.OK(<-moved)
	m.wantTree("moved", m.away, "elsewhere/x=to/in/x elsewhere/y=to/in/y")
}

// TestRelocationChecksInItsCommit: the check is called with the entries at the time of the commit,
// and not with earlier ones.
func TestRelocationChecksInItsCommit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ from, to string }{{"file", "to"}, {"file", "to/in"}, {"d", "to"}, {"d", "to/in"}} {
		m := newMoved(t)
		m.fill(m.Sets[0], "file", "d/a")
		m.fill(m.away, tc.to)
		at := strings.TrimSuffix(tc.to, "/in")
		checks := 0
		_, _, err := m.Service.Drive.Relocate(t.Context(), m.Admin, folders.Relocation{
			From: m.here(tc.from), To: m.there(at), Overwrite: true, Move: true, Check: func(from, to folders.DriveEntry) error {
				if checks++; checks == 1 { // the next call is in the commit
					return nil
				}
				return errCutHere
			},
		})
		if err == nil || checks < 2 {
			t.Errorf("%s onto %s: checked %d times, %v", tc.from, tc.to, checks, err)
		}
		m.wantTree("there", m.away, tc.to+"="+tc.to)
		m.wantTree("here", m.Sets[0], "d/a=d/a file=file")
	}
}

// TestDriveDeletionChecks: an entry for which the check fails is not deleted.
func TestDriveDeletionChecks(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	m.fill(m.Sets[0], "file", "d/a")
	for _, path := range []string{"file", "d"} {
		checks := 0
		_, err := m.Service.Drive.Delete(t.Context(), m.Admin, m.here(path), func(folders.DriveEntry) error {
			if checks++; checks == 1 {
				return nil
			}
			return errCutHere
		})
		if err == nil {
			t.Errorf("%s is deleted", path)
		}
	}
	m.wantTree("here", m.Sets[0], "d/a=d/a file=file")
	_, err := m.Service.Drive.Delete(t.Context(), auth.Principal{UserID: metadata.NewID(1)}, m.here("file"), func(folders.DriveEntry) error { return nil })
	m.Refused(err, errs.CodeUnauthenticated)
}
