package repository_test

import (
	"fmt"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// moved is a repository with two dataspaces: one with two sets, the other with one set. Small
// bodies stay inline.
type moved struct {
	*inlineDisk
	other metadata.Dataspace
	away  metadata.Set // in the other dataspace
}

func newMoved(t *testing.T) *moved {
	t.Helper()
	m := &moved{inlineDisk: &inlineDisk{repositorytest.NewDisk(t, repository.Config{HoldUpTo: 10}, 0, 0)}}
	var err error
	m.other, err = m.Service.Dataspaces.Create(t.Context(), m.Admin, containers.NewDataspace{Name: "other"})
	m.OK(err)
	m.away, err = m.Service.Sets.Create(t.Context(), m.Admin, containers.NewSet{Name: "away", DataspaceID: m.other.ID.String()})
	m.OK(err)
	return m
}

// make uploads a file with this many versions. Every other version is too long to be inline.
func (m *moved) make(name string, versions int) metadata.Resource {
	m.T.Helper()
	r := m.Upload(m.Sets[0], name)
	for n := 2; n <= versions; n++ {
		content := fmt.Sprint(name, " ", n)
		if n%2 == 0 {
			content += strings.Repeat("l", 20)
		}
		m.Replace(r, content)
		_, err := m.Service.Files.Edit(m.T.Context(), m.Admin, r.ID.String(), files.Fields{Name: new(name)}, core.Match{})
		m.OK(err)
	}
	_, err := m.Service.Files.Edit(m.T.Context(), m.Admin, r.ID.String(), files.Fields{Metadata: patch(`{"tags":["kept"],"properties":{"n":1}}`)}, core.Match{})
	m.OK(err)
	return m.Get(r.ID)
}

func (m *moved) move(r metadata.Resource, to files.Destination) metadata.Resource {
	m.T.Helper()
	after, err := m.Service.Files.Move(m.T.Context(), m.Admin, r.ID.String(), to)
	m.OK(err)
	return after
}

func (m *moved) copy(r metadata.Resource, to files.Destination) metadata.Resource {
	m.T.Helper()
	after, err := m.Service.Files.Copy(m.T.Context(), m.Admin, r.ID.String(), to)
	m.OK(err)
	return after
}

func (m *moved) content(id metadata.ID) string {
	m.T.Helper()
	content, err := m.Content(id)
	m.OK(err)
	return content
}

// in returns a set as a destination.
func in(set metadata.Set) files.Destination {
	return files.Destination{SetID: set.ID.String()}
}

// logged returns the actions of the last n entries.
func (m *moved) logged(n int) string {
	m.T.Helper()
	all := actions(m.T, m.Meta, 0)
	return strings.Join(all[len(all)-n:], " ")
}

// TestCopy: a copy has the present version and its description, shares the bytes, and is a separate
// file.
func TestCopy(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	for _, versions := range []int{1, 2, 3} {
		r := m.make(fmt.Sprint("a", versions), versions)
		m.OK(m.Meta.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.FileProperties.Put(metadata.FileProperties{ResourceID: r.ID, Properties: "p"})
		}))
		for name, to := range map[string]files.Destination{
			"beside": {}, "another name": {Name: "raw/b.csv"}, "another set": in(m.Sets[1]), "another dataspace": in(m.away),
		} {
			c := m.copy(r, to)
			if got := m.Get(c.ID); got != c || c.ID == r.ID || c.Version != 0 || c.Digest != r.Digest || c.Descriptive != r.Descriptive || c.Created <= r.Modified || c.MovedTo != (metadata.ID{}) {
				t.Errorf("%s: returned %+v for %+v, stored %+v", name, c, r, got)
			}
			if m.content(c.ID) != m.content(r.ID) || m.Get(r.ID) != r {
				t.Errorf("%s: the content differs, or the source has changed", name)
			}
			if got := m.logged(1); got != "resource.copy" {
				t.Errorf("%s: logged %s", name, got)
			}
			m.OK(m.Meta.View(t.Context(), func(tx *metadata.Tx) error {
				p, err := tx.FileProperties.Get(c.ID)
				if p.Properties != "p" {
					t.Errorf("%s: clients' properties are %+v", name, p)
				}
				return err
			}))
			m.Sound()
			m.Delete(c)
		}
	}
	m.flush()
	m.Sound()
}

// TestCopyNamesAndTypes: a new extension determines the type if the former extension did, or if the
// type was unknown.
func TestCopyNamesAndTypes(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	r := m.Upload(m.Sets[0], "~1.tmp")
	saved := m.move(r, files.Destination{Name: "table.csv"})
	if saved.ID != r.ID || saved.Format != "CSV" || saved.MimeType != "text/csv; charset=utf-8" {
		t.Errorf("%s is now %s with format %s", r.MimeType, saved.MimeType, saved.Format)
	}
	for name, want := range map[string]string{"x.py": "PY text/x-python; charset=utf-8", "x.unknown": "UNKNOWN text/csv; charset=utf-8", "x": " text/csv; charset=utf-8", "y.csv": "CSV text/csv; charset=utf-8"} {
		c := m.copy(saved, files.Destination{Name: name})
		if got := c.Format + " " + c.MimeType; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestMove: a file that moves to another set keeps its history, and the old record names the new
// one. The counters of both dataspaces are correct. The single commit has two entries, and the
// second one names the first.
func TestMove(t *testing.T) {
	t.Parallel()
	for _, versions := range []int{1, 2, 5} {
		for _, far := range []bool{false, true} {
			for _, flushed := range []bool{false, true} {
				m := newMoved(t)
				to := m.Sets[1]
				if far {
					to = m.away
				}
				r := m.make("a", versions)
				if flushed {
					m.flush()
				}
				was := m.versions(r.ID)
				n := m.move(r, files.Destination{SetID: to.ID.String(), Name: "b"})
				left := m.Get(r.ID)
				if m.Get(n.ID) != n || n.SetID != to.ID || n.DataspaceID != to.DataspaceID || n.Name != "b" || n.Version != r.Version || n.Descriptive != r.Descriptive {
					t.Errorf("%+v is now %+v", r, n)
				}
				if left.State != metadata.Deleted || left.MovedTo != n.ID || left.Modified <= n.Modified || left.Name != "a" {
					t.Errorf("the old record is %+v", left)
				}
				m.wantVersions("moved", n.ID, was...)
				if got := m.logged(2); got != "resource.move resource.delete" {
					t.Errorf("logged %s", got)
				}
				m.Sound()
				m.flush()
				m.Sound()
				m.wantVersions("flushed", n.ID, was...)
				m.Purge(maintenance.PurgeOptions{})
				m.Sound()
				m.wantVersions("the old one purged", n.ID, was...)
			}
		}
	}
}

// TestMoveWithinSet: a move within a set only renames the file.
func TestMoveWithinSet(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	r := m.make("a", 2)
	n := m.move(r, files.Destination{Name: "b"})
	if n.ID != r.ID || n.Name != "b" || n.Modified <= r.Modified || m.logged(1) != "resource.edit" {
		t.Errorf("%+v is now %+v", r, n)
	}
	if same := m.move(n, files.Destination{SetID: m.Sets[0].ID.String()}); same != n {
		t.Errorf("a move that changes nothing returned %+v, want %+v", same, n)
	}
	m.Sound()
}

// TestMoveBack: a file that moves back gets its earlier record again, with the later changes, any
// number of times. If that record was restored or purged in the meantime, a third record is
// created.
func TestMoveBack(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	first, ctx := m.make("a", 3), t.Context()
	r := first
	for round := range 3 {
		n := m.move(r, in(m.away))
		if round > 0 {
			m.Replace(n, fmt.Sprint("in round ", round, strings.Repeat("!", round*5)))
			m.Replace(n, fmt.Sprint(round))
		}
		_, err := m.Service.Versions.Label(ctx, m.Admin, n.ID.String(), "2", files.VersionFields{Label: new(fmt.Sprint("l", round))}, repositorytest.Always)
		m.OK(err)
		_, err = m.Service.Files.Edit(ctx, m.Admin, n.ID.String(), files.Fields{Metadata: patch(fmt.Sprintf(`{"tags":["%d"]}`, round))}, core.Match{})
		m.OK(err)
		n = m.Get(n.ID)
		want := m.versions(n.ID)
		if round == 1 {
			m.flush()
		}
		back := m.move(n, files.Destination{SetID: m.Sets[0].ID.String(), Name: "back"})
		if back.ID != first.ID || back.Name != "back" || back.Descriptive != n.Descriptive || back.State != metadata.Active || back.MovedTo != (metadata.ID{}) || back.Created != first.Created || m.Get(back.ID) != back {
			t.Fatalf("round %d: after moving back, it is %+v", round, back)
		}
		m.wantVersions("back", back.ID, want...)
		if v, err := m.Service.Versions.Get(ctx, m.Admin, back.ID.String(), "2"); err != nil || v.Label != fmt.Sprint("l", round) {
			t.Errorf("the label is %q, %v", v.Label, err)
		}
		if left := m.Get(n.ID); left.MovedTo != back.ID || left.State != metadata.Deleted {
			t.Errorf("the old record is %+v", left)
		}
		m.Sound()
		r = back
	}
	var ids []metadata.ID
	for _, set := range []metadata.Set{m.Sets[1], m.away, m.Sets[1], m.away, m.Sets[1], m.Sets[0]} { // each step is undone or repeated
		r = m.move(r, in(set))
		ids = append(ids, r.ID)
	}
	if ids[2] != ids[0] || ids[3] != ids[1] || ids[4] != ids[0] || ids[5] != first.ID {
		t.Errorf("after moving there and back, it is %s", ids)
	}
	m.Sound()

	r = m.move(r, in(m.Sets[1]))
	restored, err := m.Service.Files.Restore(ctx, m.Admin, first.ID.String(), repositorytest.Always)
	if m.OK(err); restored.MovedTo != (metadata.ID{}) {
		t.Errorf("after the restoration, it still names %s", restored.MovedTo)
	}
	if third := m.move(r, in(m.Sets[0])); third.ID == first.ID {
		t.Error("it got the record of an existing file")
	}
	m.Sound()

	p := m.make("p", 3)
	n := m.move(p, in(m.away))
	m.Purge(maintenance.PurgeOptions{})
	if third := m.move(n, in(m.Sets[0])); third.ID == p.ID {
		t.Error("it got a purged record")
	}
	m.Sound()
}

// TestMoveBackErased: content erased in the new record does not return from the old record.
func TestMoveBackErased(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	r := m.make("a", 5)
	n := m.move(r, in(m.away))
	for _, number := range []string{"1", "2"} {
		_, shared, err := m.Service.Versions.Erase(t.Context(), m.Admin, n.ID.String(), number)
		if m.OK(err); number == "2" && !shared {
			t.Error("the result does not report that the old record shares the bytes")
		}
	}
	back := m.move(n, in(m.Sets[0]))
	for _, number := range []string{"1", "2"} {
		_, err := m.version(back.ID, int(number[0]-'0'))
		m.Refused(err, errs.CodeVersionRemoved)
	}
	m.Sound()
	m.Purge(maintenance.PurgeOptions{})
	m.Sound()
}

// TestOnto: a file that is copied or moved onto another file becomes its next version. The other
// file keeps its id, name, tags and versions.
func TestOnto(t *testing.T) {
	t.Parallel()
	for _, move := range []bool{false, true} {
		for _, far := range []bool{false, true} {
			m := newMoved(t)
			r := m.make("a.tmp", 2)
			set := m.Sets[0]
			if far {
				set = m.away
			}
			t1 := m.Upload(set, "t.csv")
			_, err := m.Service.Files.Edit(t.Context(), m.Admin, t1.ID.String(), files.Fields{Metadata: patch(`{"tags":["target"]}`)}, core.Match{})
			m.OK(err)
			t1 = m.Get(t1.ID)
			content := m.content(r.ID)
			to := files.Destination{SetID: set.ID.String(), Name: "ignored", Onto: t1.ID.String()}
			var after metadata.Resource
			if move {
				after = m.move(r, to)
			} else {
				after = m.copy(r, to)
			}
			if after.ID != t1.ID || after.Name != "t.csv" || after.Descriptive != t1.Descriptive || after.Version != 1 || after.Format != "CSV" || m.Get(t1.ID) != after {
				t.Errorf("%+v is now %+v", t1, after)
			}
			m.wantVersions("onto", t1.ID, "2 "+content, "1 t.csv")
			left := m.Get(r.ID)
			if (left.State == metadata.Deleted) != move || left.MovedTo != (metadata.ID{}) {
				t.Errorf("the old record is %+v", left)
			}
			m.Sound()
			if far && move {
				if again := m.move(after, in(m.Sets[0])); again.ID == r.ID {
					t.Error("a file got the record of the file that it was moved onto")
				}
				m.Sound()
			}
		}
	}
}
