package metadatatest

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/metadata"
	"labshelf/paging"
)

// Children builds a list of all children, and yields those after the position.
func (t resources) Children(q metadata.ResourceRange, file func(*metadata.Resource) bool, folder func(string) bool) error {
	after, order := q.After, orderOf(q.Order)
	q.After = paging.Position{}
	var all []metadata.Resource // a folder has no id
	named := map[string]bool{}
	add := func(r metadata.Resource) {
		rest, within := strings.CutPrefix(r.Name, q.NamePrefix)
		element, _, below := strings.Cut(rest, "/")
		if path := q.NamePrefix + element + "/"; within && below && !named[path] {
			named[path] = true
			all = append(all, metadata.Resource{Name: path})
		} else if !below && r.ID != (metadata.ID{}) {
			all = append(all, r)
		}
	}
	rows, err := list(t.Range(q))
	for _, r := range rows {
		add(r)
	}
	for _, f := range *t.made.rows {
		if f.SetID == q.Set && has(q.States, metadata.Active) {
			add(metadata.Resource{Name: f.Path})
		}
	}
	slices.SortFunc(all, order)
	for _, r := range all {
		switch {
		case after != paging.Position{} && order(r, at(after)) <= 0:
		case r.ID == metadata.ID{} && !folder(r.Name), r.ID != metadata.ID{} && !file(&r):
			return err
		}
	}
	return err
}

// Child is a file or a folder of Resources.Children.
type Child struct {
	Folder string
	File   metadata.Resource
}

// Children yields copies of the children.
func Children(tx *metadata.Tx, q metadata.ResourceRange) iter.Seq2[Child, error] {
	return func(yield func(Child, error) bool) {
		more := true
		give := func(c Child) bool {
			more = yield(c, nil)
			return more
		}
		err := tx.Resources.Children(q,
			func(r *metadata.Resource) bool { return give(Child{File: CloneResource(r)}) },
			func(path string) bool { return give(Child{Folder: path}) })
		if err != nil && more {
			yield(Child{}, err)
		}
	}
}

// Position returns the position after which a range continues after this child.
func (c Child) Position() paging.Position {
	if c.Folder != "" {
		return paging.Position{Name: c.Folder}
	}
	return paging.Position{Name: c.File.Name, ID: c.File.ID}
}

// putFolder is put for folders, the properties of files, links, and the usage of users.
func putFolder(tx *metadata.Tx, row any) error {
	switch row := row.(type) {
	case metadata.Folder:
		return tx.Folders.Put(row)
	case metadata.FileProperties:
		return tx.FileProperties.Put(row)
	case metadata.Link:
		return tx.Links.Put(row)
	case metadata.LinkUse:
		return tx.LinkUses.Put(row)
	case metadata.UserUsage:
		return tx.UserUsage.Put(row)
	}
	return putNode(tx, row)
}

// waysToFolder is waysTo for the rows of putFolder.
func waysToFolder(row any) []way {
	switch row := row.(type) {
	case metadata.Folder:
		return []way{{"Folders.Get", func(tx *metadata.Tx) (any, error) { return tx.Folders.Get(row.Key()) }}}
	case metadata.FileProperties:
		return []way{{"FileProperties.Get", func(tx *metadata.Tx) (any, error) { return tx.FileProperties.Get(row.ResourceID) }}}
	case metadata.Link:
		return []way{
			{"Links.Get", func(tx *metadata.Tx) (any, error) { return tx.Links.Get(row.ID) }},
			{"Links.ByDigest", func(tx *metadata.Tx) (any, error) { return tx.Links.ByDigest(row.Digest) }},
		}
	case metadata.LinkUse:
		return []way{{"LinkUses.Get", func(tx *metadata.Tx) (any, error) { return tx.LinkUses.Get(row.LinkID) }}}
	case metadata.UserUsage:
		return []way{{"UserUsage.Get", func(tx *metadata.Tx) (any, error) { return tx.UserUsage.Get(row.UserID) }}}
	}
	return waysToNodes(row)
}

func (a *answers) askFolders(tx *metadata.Tx, p probe) {
	noteAll(a, "Folders.All", tx.Folders.All(metadata.FolderKey{}))
	noteAll(a, "FileProperties.All", tx.FileProperties.All(metadata.ID{}))
	for _, id := range p.ids {
		row, err := tx.FileProperties.Get(id)
		note(a, "FileProperties.Get "+id.String(), row, err)
		noteAll(a, "FileProperties.All after "+id.String(), tx.FileProperties.All(id))
		for _, path := range append(folderPaths(), p.names...) {
			of := metadata.FolderKey{SetID: id, Path: path}
			row, err := tx.Folders.Get(of)
			note(a, fmt.Sprintf("Folders.Get %s %q", id, path), row, err)
			noteAll(a, fmt.Sprintf("Folders.From %s %q", id, path), tx.Folders.From(of))
			noteAll(a, fmt.Sprintf("Folders.All after %s %q", id, path), tx.Folders.All(of))
		}
	}
}

func folderPaths() []string {
	return []string{"", "a/", "a/b/", "a!/", "\xff/", strings.Repeat("n", 255) + "/"}
}

func (m *machine) folderKey(rt *rapid.T) metadata.FolderKey {
	return metadata.FolderKey{SetID: rapid.SampledFrom(m.pool.sets).Draw(rt, "folder of set"), Path: rapid.SampledFrom(folderPaths()).Draw(rt, "path")}
}

func (m *machine) folder(rt *rapid.T, _ *session) any {
	of := m.folderKey(rt)
	return metadata.Folder{
		SetID: of.SetID, Path: of.Path, Properties: rapid.SampledFrom(texts()).Draw(rt, "properties"), Created: m.last,
		CreatedBy: rapid.SampledFrom(m.pool.users).Draw(rt, "by"),
	}
}

func (m *machine) fileProperties(rt *rapid.T, _ *session) any {
	return metadata.FileProperties{ResourceID: rapid.SampledFrom(m.pool.resources).Draw(rt, "file"), Properties: rapid.SampledFrom(texts()).Draw(rt, "properties")}
}

func (m *machine) removeFolder(rt *rapid.T, s *session) {
	of, file := m.folderKey(rt), rapid.SampledFrom(m.pool.resources).Draw(rt, "file")
	s.do(op{"Folders.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Folders.Remove(of) }})
	s.do(op{"FileProperties.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.FileProperties.Remove(file) }})
}

// sizesOfFolders returns the smallest and largest folder, file properties, link and user usage.
func sizesOfFolders(least, most metadata.Record, long string) []any {
	return append(append(sizesOfLinks(least, most, long), sizesOfNodes(long)...),
		metadata.Folder{SetID: id(15)},
		metadata.Folder{SetID: maxID(), Path: strings.Repeat("n", 4095) + "/", Properties: long, CreatedBy: maxID()},
		metadata.FileProperties{ResourceID: id(15)},
		metadata.FileProperties{ResourceID: maxID(), Properties: long},
		metadata.UserUsage{UserID: id(7)},
		metadata.UserUsage{UserID: maxID(), Bytes: math.MaxInt64},
	)
}

// testFolders tests that the folders of a set are listed in the byte order of their paths, from any
// path, and can be removed, even if missing.
func testFolders(t *testing.T, s *store) {
	for _, path := range []string{"b/", "a/", "a!/", "a/b/", "", "a0/"} {
		s.put(t, metadata.Folder{SetID: id(1), Path: path, Properties: "old"}, metadata.Folder{SetID: id(2), Path: path})
	}
	s.put(t, metadata.Folder{SetID: id(1), Path: "a/", Properties: "new"}, metadata.FileProperties{ResourceID: id(1), Properties: "p"})
	from := func(path string) []string {
		found := view(t, s, func(tx *metadata.Tx) ([]metadata.Folder, error) {
			return list(tx.Folders.From(metadata.FolderKey{SetID: id(1), Path: path}))
		})
		return mapped(found, func(f metadata.Folder) string { return f.Path + f.Properties })
	}
	same(t, "all", from(""), []string{"old", "a!/old", "a/new", "a/b/old", "a0/old", "b/old"})
	same(t, "from one on", from("a/"), []string{"a/new", "a/b/old", "a0/old", "b/old"})
	for range 2 {
		s.update(t, func(tx *metadata.Tx) error {
			if err := tx.FileProperties.Remove(id(1)); err != nil {
				return err
			}
			return tx.Folders.Remove(metadata.FolderKey{SetID: id(1), Path: "a/"})
		})
		same(t, "after one is removed", from("a/"), []string{"a/b/old", "a0/old", "b/old"})
	}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.FileProperties.Get(id(1))
		return err
	})
	isError(t, "what was removed", err, metadata.ErrNotFound)
}

// testChildren compares children with those of Memory, whole and page by page, and some with
// hand-written lists.
func testChildren(t *testing.T, s *store) {
	var rows []any
	for n, name := range []string{"a", "a/", "a/b", "a/b/c", "a/b/d", "a/c", "a0", "b", "a/b", "b//c", "b//d/e", "/", "c/x", "d/y", "a/b/"} {
		rows = append(rows, metadata.Resource{
			Record: metadata.Record{ID: id(byte(100 + n)), State: metadata.State(1 + n%3/2), Modified: metadata.Stamp(n + 1)},
			SetID:  id(11), DataspaceID: id(1), Name: name,
		})
	}
	for _, path := range []string{"", "a/", "a/made/", "e/f/", "e/g/", "a!/"} {
		rows = append(rows, metadata.Folder{SetID: id(11), Path: path}, metadata.Folder{SetID: id(12), Path: path + "other/"})
	}
	rows = append(rows, metadata.Folder{SetID: maxID(), Path: "m/"})
	s.put(t, rows...)
	obvious := onlyHolds(t, rows...)
	var ranges []metadata.ResourceRange
	for _, prefix := range []string{"", "a", "a/", "a/b/", "b/", "b//", "e/", "e/f", "x", "/"} {
		for _, of := range states() {
			for _, set := range []metadata.ID{id(11), id(12), id(13), maxID()} {
				q := metadata.ResourceRange{Set: set, NamePrefix: prefix, States: of, Order: paging.ByName}
				ranges = append(ranges, q)
				q.Order = paging.ByNameDown
				ranges = append(ranges, q)
				q.Keys = true
				ranges = append(ranges, q)
			}
		}
	}
	for _, q := range ranges {
		want := children(t, obvious, q, math.MaxInt)
		for _, size := range []int{math.MaxInt, 1, 2} {
			same(t, fmt.Sprintf("children of %+v by %d", q, size), children(t, s, q, size), want)
		}
	}
	active := metadata.ResourceRange{Set: id(11), States: paging.Active, Order: paging.ByName}
	same(t, "active", children(t, s, active, 3), []string{"a 100", "a!/", "a/", "a0 106", "b 107", "b/", "c/", "d/", "e/"})
	active.NamePrefix = "a/"
	same(t, "active below", children(t, s, active, 3), []string{"a/ 101", "a/b/", "a/made/"})
	active.States, active.NamePrefix, active.Order = paging.Deleted, "", paging.ByNameDown
	same(t, "deleted, backwards", children(t, s, active, 3), []string{"a/", "/"})
}

// children returns the children of all pages of a size.
func children(t *testing.T, s metadata.Reader, q metadata.ResourceRange, size int) (all []string) {
	for {
		page := view(t, s, func(tx *metadata.Tx) ([]Child, error) { return take(Children(tx, q), size) })
		for _, c := range page {
			if all = append(all, c.Folder); c.Folder == "" {
				all[len(all)-1] = fmt.Sprintf("%s %d", c.File.Name, c.File.ID[15])
			}
		}
		if len(page) < size {
			return all
		}
		q.After = page[len(page)-1].Position()
	}
}
