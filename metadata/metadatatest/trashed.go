package metadatatest

import (
	"errors"
	"iter"
	"math"
	"testing"

	"pgregory.net/rapid"

	"labshelf/blobs"
	"labshelf/metadata"
)

type trashed struct {
	table[metadata.ObjectKey, metadata.TrashedObject]
	blobs blobRows
}

func (t trashed) Of(digest blobs.Digest) iter.Seq2[metadata.TrashedObject, error] {
	return t.all(func(o metadata.TrashedObject) bool { return o.Digest == digest }, t.byKey)
}

func (t trashed) Named(object string) (bool, error) {
	for _, b := range *t.blobs.rows {
		if b.Object == object {
			return object != "", nil
		}
	}
	for _, o := range *t.rows {
		if o.Object == object {
			return true, nil
		}
	}
	return false, nil
}

// objectNames are names of objects that only blobs with this digest have.
func objectNames(of blobs.Digest) []string {
	text := of.String()
	return []string{text[:13] + text[len(text)-13:], text}
}

func (m *machine) trashed(rt *rapid.T, _ *session) any {
	digest := rapid.SampledFrom(m.pool.digests).Draw(rt, "digest of an object")
	return metadata.TrashedObject{
		Blob:  blobs.Blob{Digest: digest, Size: rapid.Int64Min(0).Draw(rt, "size"), Object: rapid.SampledFrom(objectNames(digest)).Draw(rt, "object")},
		Since: m.last,
	}
}

func (a *answers) askTrashed(tx *metadata.Tx, p probe) {
	noteAll(a, "Trashed.All", tx.Trashed.All(metadata.ObjectKey{}))
	names := []string{"", "o"}
	for _, digest := range p.digests {
		names = append(names, objectNames(digest)...)
		noteAll(a, "Trashed.All after "+digest.String(), tx.Trashed.All(metadata.ObjectKey{Digest: digest, Object: objectNames(digest)[0]}))
	}
	for _, name := range append(names, p.names...) {
		if named, err := tx.Trashed.Named(name); named || err != nil {
			note(a, "Trashed.Named "+name, named, err)
		}
	}
}

// testObjects tests that an object is named as long as a row names it.
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

// waysToObjects is waysTo for blobs and trashed objects.
func waysToObjects(row any) []way {
	switch row := row.(type) {
	case blobs.Blob:
		return []way{{"Blobs.Get", func(tx *metadata.Tx) (any, error) { return tx.Blobs.Get(row.Digest) }}}
	case metadata.TrashedObject:
		return []way{{"Trashed.Of", func(tx *metadata.Tx) (any, error) {
			for o, err := range tx.Trashed.Of(row.Digest) {
				if err != nil || o.Object == row.Object {
					return o, err
				}
			}
			return nil, metadata.ErrNotFound
		}}}
	}
	return waysToWebhooks(row)
}

// sizesOfObjects returns the smallest and largest blob and trashed object.
func sizesOfObjects(name string, latest metadata.Stamp) []any {
	return []any{
		blobs.Blob{},
		blobs.Blob{Digest: blobs.Digest{1}, Size: math.MaxInt64, Object: name},
		metadata.TrashedObject{Blob: blobs.Blob{Object: "o"}},
		metadata.TrashedObject{Blob: blobs.Blob{Digest: blobs.Digest{1}, Size: math.MaxInt64, Object: name}, Since: latest},
	}
}
