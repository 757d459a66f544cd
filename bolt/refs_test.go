package bolt

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// TestReferencesOfSchema8 tests that the references of former versions are found in the place of
// that schema, and stay the same after the migration.
func TestReferencesOfSchema8(t *testing.T) {
	t.Parallel()
	path := olderFile(t, "version-8")
	var before map[blobs.Digest][]metadata.VersionKey
	for _, readOnly := range []bool{true, false, true} {
		s, err := Open(path, Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		checkIntegrity(t, s)
		references, former, shared := referencesIn(t, s)
		if former < 30 || shared < 2 {
			t.Errorf("%d references of former versions, %d of blobs that present ones have, too", former, shared)
		}
		if before == nil {
			before = references
		}
		if len(before) != len(references) {
			t.Errorf("%d blobs, and %d before", len(references), len(before))
		}
		for digest, want := range before {
			if !slices.Equal(references[digest], want) {
				t.Errorf("references to %s: %v, want %v", digest, references[digest], want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	inFile(t, path, func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte("version_refs")) != nil {
			t.Error("the former bucket is still there")
		}
		return nil
	})
}

// referencesIn returns the references to each blob, the number of references of former versions,
// and how many of these are to blobs that current versions also reference.
func referencesIn(t *testing.T, s *Store) (references map[blobs.Digest][]metadata.VersionKey, former, shared int) {
	t.Helper()
	references = map[blobs.Digest][]metadata.VersionKey{}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for blob, err := range tx.Blobs.All(blobs.Digest{}) {
			if err != nil {
				return err
			}
			old, present := 0, 0
			for of, err := range tx.Blobs.Refs(blob.Digest) {
				r, failed := tx.Resources.Get(of.Resource)
				if err = errors.Join(err, failed); err != nil {
					return err
				}
				if references[blob.Digest] = append(references[blob.Digest], of); r.Version == of.Version {
					present++
				} else {
					old++
				}
			}
			former += old
			shared += min(old, present)
			slices.SortFunc(references[blob.Digest], func(a, b metadata.VersionKey) int {
				return cmp.Or(a.Resource.Compare(b.Resource), cmp.Compare(a.Version, b.Version))
			})
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return references, former, shared
}

// TestDamagedReferencesOfSchema8 removes and adds a reference. The check must find both, wherever
// the schema stores them.
func TestDamagedReferencesOfSchema8(t *testing.T) {
	t.Parallel()
	for _, upgraded := range []bool{false, true} {
		for what, change := range map[string]func(*bbolt.Bucket) error{
			"missing": func(in *bbolt.Bucket) error { key, _ := in.Cursor().First(); return in.Delete(key) },
			"of another digest": func(in *bbolt.Bucket) error {
				key, _ := in.Cursor().First()
				key = slices.Clone(key)
				key[3] ^= 1
				return in.Put(key, nil)
			},
			"with a value": func(in *bbolt.Bucket) error {
				key, _ := in.Cursor().First()
				return in.Put(slices.Clone(key), []byte{1})
			},
		} {
			path := olderFile(t, "version-8")
			index, options := "version_refs", Options{ReadOnly: true}
			if upgraded {
				s, err := Open(path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				index = "blob_refs"
			}
			inFile(t, path, func(tx *bbolt.Tx) error { return change(tx.Bucket([]byte(index))) })
			s, err := Open(path, options)
			if err != nil {
				t.Fatal(err)
			}
			if found := violations(t, s); len(found) == 0 {
				t.Errorf("upgraded: %v: a reference %s: nothing found", upgraded, what)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReplacementLeavesTheIndexOfReferences tests that no page of the index is written when the row
// of a version takes over the entry of its resource.
func TestReplacementLeavesTheIndexOfReferences(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	resource := func(tx *metadata.Tx, n int, version uint32, body metadata.BodyLocation) metadata.Resource {
		stamp := tx.Stamp()
		record := metadata.Record{ID: metadatatest.IDAt('R', n), State: metadata.Active, Created: stamp, Modified: stamp}
		return metadata.Resource{Record: record, Version: version, Digest: blobs.Digest{byte(n), byte(version)}, Body: body}
	}
	const many = 200 // more than fit on the page of the buckets
	err := s.Update(t.Context(), func(tx *metadata.Tx) (err error) {
		for n := range many {
			err = errors.Join(err, tx.Resources.Put(resource(tx, n, 0, metadata.InBlob)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	before := rootOf(t, s, "blob_refs")
	err = s.Update(t.Context(), func(tx *metadata.Tx) (err error) {
		for n := range many {
			former := metadata.VersionOf(resource(tx, n, 0, metadata.InBlob))
			err = errors.Join(err, tx.Versions.Put(former), tx.Resources.Put(resource(tx, n, 1, metadata.Inline)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := rootOf(t, s, "blob_refs"); before == 0 || after != before {
		t.Errorf("the root of the index is page %d, and was %d", after, before)
	}
	checkIntegrity(t, s)
}

// rootOf returns the first page of a bucket, which changes with each write. 0 means that the bucket
// is on the page of the buckets.
func rootOf(t *testing.T, s *Store, bucket string) (page uint64) {
	t.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		page = uint64(tx.Bucket([]byte(bucket)).Root())
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return page
}
