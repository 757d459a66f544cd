package bolt

import (
	"errors"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// TestDamagedReferences removes and adds a reference. The check must find both.
func TestDamagedReferences(t *testing.T) {
	t.Parallel()
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
		path := olderFile(t)
		for _, upgrade := range []bool{false, true} {
			if upgrade {
				s, err := Open(path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			} else {
				inFile(t, path, func(tx *bbolt.Tx) error { return change(tx.Bucket([]byte("blob_refs"))) })
			}
			s, err := Open(path, Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if found := violations(t, s); len(found) == 0 {
				t.Errorf("upgraded: %v: a reference %s: no violation found", upgrade, what)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReplacementKeepsReferenceIndex tests that no page of the index is written when the row
// of a version takes over the entry of its resource.
func TestReplacementKeepsReferenceIndex(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	resource := func(tx *metadata.Tx, n int, version uint32, body metadata.BodyLocation) metadata.Resource {
		stamp := tx.Stamp()
		record := metadata.Record{ID: metadatatest.IDAt('R', n), State: metadata.Active, Created: stamp, Modified: stamp}
		return metadata.Resource{Record: record, Version: version, Digest: blobs.Digest{byte(n), byte(version)}, Body: body}
	}
	const many = 200 // more than fit into the page of the buckets
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
		t.Errorf("the root of the index is page %d, and was %d before", after, before)
	}
	checkIntegrity(t, s)
}

// rootOf returns the first page of a bucket, which changes with each write. It returns 0 if the
// bucket is stored in the page of the buckets.
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
