package metadatatest

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
)

// Refs yields the versions of both tables.
func (t blobRows) Refs(of blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
	keys := map[metadata.VersionKey]bool{}
	for _, r := range *t.resources.rows {
		if r.Digest == of && r.Body == metadata.InBlob {
			keys[r.VersionKey()] = true
		}
	}
	for _, v := range *t.versions.rows {
		if v.Digest == of && v.Body == metadata.InBlob {
			keys[v.Key()] = true
		}
	}
	return func(yield func(metadata.VersionKey, error) bool) {
		for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, b metadata.VersionKey) int { return compareKeys(a, b) }) {
			if !yield(key, nil) {
				return
			}
		}
	}
}

// testVersions tests that the versions of a resource are listed newest first, without versions of
// other resources.
func testVersions(t *testing.T, s *store) {
	for n := byte(1); n <= 3; n++ {
		for _, number := range []uint32{0, 1, 255, 256, 1 << 31} {
			s.put(t, metadata.Version{ResourceID: id(n), Number: number, Digest: blobs.Digest{byte(number)}})
		}
	}
	before := func(number uint32) (got []uint32) {
		for _, v := range view(t, s, func(tx *metadata.Tx) ([]metadata.Version, error) {
			return list(tx.Versions.Before(metadata.VersionKey{Resource: id(2), Version: number}))
		}) {
			if got = append(got, v.Number); v.ResourceID != id(2) {
				t.Errorf("version %d is of resource %s", v.Number, v.ResourceID)
			}
		}
		return got
	}
	for number, want := range map[uint32][]uint32{
		0: nil, 1: {0}, 2: {1, 0}, 256: {255, 1, 0}, 1 << 31: {256, 255, 1, 0}, math.MaxUint32: {1 << 31, 256, 255, 1, 0},
	} {
		same(t, fmt.Sprint("versions before ", number), before(number), want)
	}
}

// testReferences tests that a reference remains while its version becomes a former one, in
// whichever order the rows are put, and disappears with the last row that has it.
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
		{"the version has it alone", []any{resource(1, 256, other, metadata.InBlob)}, []metadata.VersionKey{key(1, 255), key(3, 255)}},
		{"nobody has one", []any{former(1, metadata.Purged), former(3, metadata.Purged)}, nil},
	} {
		s.put(t, step.rows...)
		same(t, step.what, view(t, s, func(tx *metadata.Tx) ([]metadata.VersionKey, error) { return list(tx.Blobs.Refs(file)) }), step.want)
	}
}
