package metadatatest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// finderTests test the finders of tables, in addition to the tests derived from the nouns.
func finderTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"references outlast replacements":           testReferences,
		"dataspaces are shown to readers":           testReaders,
		"schemas are listed by dataspace and state": testSchemas,
		"edits are listed newest first":             testEdits,
		"children are files, and each folder once":  testChildren,
		"links are found by their present fields":   testLinks,
		"leases are found by their names":           testLeases,
		"objects are reported as named":             testObjects,
	}
}

// testChildren compares children with the children in Memory, whole and page by page, and some with
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
		page := view(t, s, func(tx *metadata.Tx) ([]Child, error) { return take(childrenOf(tx.Resources, q), size) })
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

// testLinks tests that a link is found by its present digest, dataspace and owner, and not by
// former ones.
func testLinks(t *testing.T, s *store) {
	link := func(n, dataspace, owner, digest byte) metadata.Link {
		return metadata.Link{
			Record: metadata.Record{ID: id(n), State: metadata.Active}, Kind: metadata.ShareLink, DataspaceID: id(dataspace), OwnerID: id(owner),
			Digest: auth.LinkDigest{digest},
		}
	}
	s.put(t, link(3, 1, 2, 3), link(1, 1, 1, 1), link(2, 2, 1, 2))
	s.put(t, link(1, 2, 2, 9))
	found := func(q metadata.LinkRange) []metadata.ID {
		all := view(t, s, func(tx *metadata.Tx) ([]metadata.Link, error) { return list(tx.Links.Range(q)) })
		return mapped(all, func(l metadata.Link) metadata.ID { return l.ID })
	}
	same(t, "of a dataspace", found(metadata.LinkRange{Dataspace: id(2)}), []metadata.ID{id(1), id(2)})
	same(t, "of an owner, after one", found(metadata.LinkRange{Owner: id(2), After: id(1)}), []metadata.ID{id(3)})
	same(t, "all", found(metadata.LinkRange{}), []metadata.ID{id(1), id(2), id(3)})
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		if l, err := tx.Links.ByDigest(auth.LinkDigest{9}); err != nil || l.ID != id(1) {
			t.Errorf("by its present digest: %v, %v", l.ID, err)
		}
		_, err := tx.Links.ByDigest(auth.LinkDigest{1})
		return err
	})
	isError(t, "by the digest that it had", err, metadata.ErrNotFound)
}

// testReaders tests that public and open dataspaces are found, and the privileges of a user after a
// certain one.
func testReaders(t *testing.T, s *store) {
	for n, visibility := range []metadata.Visibility{metadata.Private, metadata.Public, metadata.Open} {
		of := id(byte(n + 1))
		s.put(t, metadata.Dataspace{Record: metadata.Record{ID: of}, Name: visibility.String(), Visibility: visibility},
			metadata.Privilege{Record: metadata.Record{ID: id(byte(9 - n))}, UserID: id(7), DataspaceID: of, Role: auth.Editor})
	}
	for after, want := range map[metadata.ID][]metadata.ID{{}: {id(2), id(3)}, id(2): {id(3)}} {
		same(t, fmt.Sprint("public after ", after), view(t, s, func(tx *metadata.Tx) ([]metadata.ID, error) { return list(tx.Dataspaces.Public(after)) }), want)
	}
	granted := view(t, s, func(tx *metadata.Tx) ([]metadata.Privilege, error) { return list(tx.Privileges.OfUser(id(7), id(1))) })
	same(t, "granted after one", mapped(granted, func(p metadata.Privilege) metadata.ID { return p.DataspaceID }), []metadata.ID{id(2), id(3)})
}

// testSchemas tests that schemas are listed by dataspace and state.
func testSchemas(t *testing.T, s *store) {
	row := func(n byte, dataspace metadata.ID, state metadata.State) metadata.Schema {
		return metadata.Schema{Record: metadata.Record{ID: id(n), State: state}, DataspaceID: dataspace, Name: "same"}
	}
	s.put(t, row(4, id(1), metadata.Active), row(3, id(2), metadata.Active), row(2, id(1), metadata.Deleted), row(1, id(1), metadata.Active), row(5, id(1), metadata.Active))
	s.put(t, row(4, id(1), metadata.Deleted))
	for states, want := range map[paging.States][]metadata.ID{
		paging.Active: {id(1), id(5)}, paging.Deleted: {id(2), id(4)},
	} {
		got := view(t, s, func(tx *metadata.Tx) ([]metadata.Schema, error) { return list(tx.Schemas.OfDataspace(id(1), states)) })
		same(t, fmt.Sprint("schemas in states ", states), mapped(got, func(s metadata.Schema) metadata.ID { return s.ID }), want)
	}
}

// testEdits tests that the bulk edits of a set are listed newest first.
func testEdits(t *testing.T, s *store) {
	for n := byte(1); n <= 6; n++ {
		s.put(t, metadata.BulkEdit{ID: id(n), SetID: id(n % 2), Objects: int64(n)})
	}
	for before, want := range map[metadata.ID][]metadata.ID{{}: {id(5), id(3), id(1)}, id(5): {id(3), id(1)}, id(1): {}} {
		got := view(t, s, func(tx *metadata.Tx) ([]metadata.BulkEdit, error) { return list(tx.Edits.OfSet(id(1), before)) })
		same(t, fmt.Sprint("edits before ", before), mapped(got, func(e metadata.BulkEdit) metadata.ID { return e.ID }), want)
	}
}

// testLeases tests that leases are found by a prefix of their names, in byte order. A removed lease
// is not found, and removing it again is not an error.
func testLeases(t *testing.T, s *store) {
	for _, of := range []string{"b", "a/2", "a/1", "a", "a0", "a/\xff"} {
		s.put(t, metadata.Lease{Name: of, Fence: 1})
	}
	s.put(t, metadata.Lease{Name: "a/1", Fence: 2})
	s.update(t, func(tx *metadata.Tx) error { return errors.Join(tx.Leases.Remove("a/2"), tx.Leases.Remove("a/2")) })
	under := func(prefix string) []string {
		all := view(t, s, func(tx *metadata.Tx) ([]metadata.Lease, error) { return list(tx.Leases.Under(prefix)) })
		return mapped(all, func(l metadata.Lease) string { return fmt.Sprint(l.Name, " ", l.Fence) })
	}
	same(t, "under a/", under("a/"), []string{"a/1 2", "a/\xff 1"})
	same(t, "all", under(""), []string{"a 1", "a/1 2", "a/\xff 1", "a0 1", "b 1"})
	same(t, "with an unknown prefix", len(under("c")), 0)
}

// testObjects tests that an object is reported as named as long as a row names it.
func testObjects(t *testing.T, s *store) {
	first, second := blobs.Blob{Digest: blobs.Digest{1}, Size: 3, Object: "A"}, blobs.Blob{Digest: blobs.Digest{1}, Size: 3, Object: "B"}
	other := blobs.Blob{Digest: blobs.Digest{2}, Size: 4}
	named := func(want ...string) {
		t.Helper()
		var got []string
		for _, name := range []string{"", "A", "AB", "B", "C"} {
			if view(t, s, func(tx *metadata.Tx) (bool, error) { return tx.Trashed.Named(name) }) {
				got = append(got, name)
			}
		}
		same(t, "named", got, want)
	}
	s.put(t, first, other)
	named("A")
	s.put(t, second)
	named("B")
	s.put(t, metadata.TrashedObject{Blob: first, Since: 1})
	named("A", "B")
	of := func(d blobs.Digest) []metadata.TrashedObject {
		return view(t, s, func(tx *metadata.Tx) ([]metadata.TrashedObject, error) { return list(tx.Trashed.Of(d)) })
	}
	same(t, "of the digest", of(first.Digest), []metadata.TrashedObject{{Blob: first, Since: 1}})
	same(t, "of another digest", len(of(other.Digest)), 0)
	s.update(t, func(tx *metadata.Tx) error {
		key := metadata.TrashedObject{Blob: first}.Key()
		return errors.Join(tx.Trashed.Remove(key), tx.Trashed.Remove(key), tx.Blobs.Remove(second.Digest))
	})
	named()
}

// testReferences tests that a reference remains while its version becomes a former one, in
// whichever order the rows are put. It disappears with the last row that has it.
func testReferences(t *testing.T, s *store) {
	file, other := blobs.Digest{1}, blobs.Digest{2}
	resource := func(n byte, version uint32, digest blobs.Digest, body metadata.BodyLocation) metadata.Resource {
		return metadata.Resource{Record: metadata.Record{ID: id(n), State: metadata.Active}, Version: version, Digest: digest, Body: body}
	}
	former := func(n byte, body metadata.BodyLocation) metadata.Version {
		return metadata.Version{ResourceID: id(n), Number: 255, Digest: file, Body: body}
	}
	key := func(n byte, version uint32) metadata.VersionKey {
		return metadata.VersionKey{Resource: id(n), Version: version}
	}
	for _, step := range []struct {
		what string
		rows []any
		want []metadata.VersionKey
	}{
		{"files of resources", []any{resource(2, 255, file, metadata.InBlob), resource(1, 255, file, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(2, 255)}},
		{"the version is put, then the resource", []any{former(1, metadata.InBlob), resource(1, 256, other, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(2, 255)}},
		{"the resource is put, then the version", []any{resource(2, 256, file, metadata.InBlob), former(2, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(2, 255), key(2, 256)}},
		{"an inline version", []any{former(3, metadata.Inline)}, []metadata.VersionKey{key(1, 255), key(2, 255), key(2, 256)}},
		{"it is flushed", []any{former(3, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(2, 255), key(2, 256), key(3, 255)}},
		{"a version is purged", []any{former(2, metadata.Purged)}, []metadata.VersionKey{key(1, 255), key(2, 256), key(3, 255)}},
		{"a resource is purged", []any{resource(2, 256, file, metadata.Purged)}, []metadata.VersionKey{key(1, 255), key(3, 255)}},
		{"both have it", []any{resource(1, 255, file, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(3, 255)}},
		{"only the version has it", []any{resource(1, 256, other, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(3, 255)}},
		{"no row has one", []any{former(1, metadata.Purged), former(3, metadata.Purged)}, nil},
	} {
		s.put(t, step.rows...)
		same(t, step.what, view(t, s, func(tx *metadata.Tx) ([]metadata.VersionKey, error) { return list(tx.Blobs.Refs(file)) }), step.want)
	}
}
