package metadatatest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// folderKey is one that can be ordered.
type folderKey metadata.FolderKey

func (k folderKey) Compare(o folderKey) int {
	return cmp.Or(k.SetID.Compare(o.SetID), strings.Compare(k.Path, o.Path))
}

type folders struct {
	table[folderKey, metadata.Folder]
}

func (t folders) Get(of metadata.FolderKey) (metadata.Folder, error) {
	return t.table.Get(folderKey(of))
}

func (t folders) Remove(of metadata.FolderKey) error { return t.table.Remove(folderKey(of)) }

func (t folders) From(of metadata.FolderKey) iter.Seq2[metadata.Folder, error] {
	return t.all(func(f metadata.Folder) bool { return f.SetID == of.SetID && f.Path >= of.Path }, t.byKey)
}

func (t folders) All(after metadata.FolderKey) iter.Seq2[metadata.Folder, error] {
	if after == (metadata.FolderKey{}) {
		return t.every()
	}
	return t.table.All(folderKey(after))
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
	return fmt.Errorf("no table holds a %T", row)
}

// waysToFolder is waysTo for what putFolder puts.
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
	return nil
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

// sizesOfFolders are the least and the most that a folder, the properties of a file, a link, and the usage of a user may be.
func sizesOfFolders(least, most metadata.Record, long string) []any {
	return append(sizesOfLinks(least, most, long),
		metadata.Folder{SetID: id(15)},
		metadata.Folder{SetID: maxID(), Path: strings.Repeat("n", 4095) + "/", Properties: long, CreatedBy: maxID()},
		metadata.FileProperties{ResourceID: id(15)},
		metadata.FileProperties{ResourceID: maxID(), Properties: long},
		metadata.UserUsage{UserID: id(7)},
		metadata.UserUsage{UserID: maxID(), Bytes: math.MaxInt64},
	)
}

// testFolders: those of a set come in the order of the bytes of their paths, from one on, and are removed, also where there is none.
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
