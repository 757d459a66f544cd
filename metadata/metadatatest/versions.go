package metadatatest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
)

type versions struct {
	table[versionKey, metadata.Version]
}

func (t versions) Get(of metadata.VersionKey) (metadata.Version, error) {
	return t.table.Get(versionKey(of))
}

func (t versions) Before(of metadata.VersionKey) iter.Seq2[metadata.Version, error] {
	older := func(v metadata.Version) bool { return v.ResourceID == of.Resource && v.Number < of.Version }
	return t.all(older, func(a, b metadata.Version) int { return cmp.Compare(b.Number, a.Number) })
}

func (t versions) All(after metadata.VersionKey) iter.Seq2[metadata.Version, error] {
	return t.all(afterVersion(after, t.key), t.byKey)
}

func (t versions) Refs(of blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
	filed := func(v metadata.Version) bool { return v.Digest == of && v.Body == metadata.InBlob }
	return fields(t.all(filed, t.byKey), metadata.Version.Key)
}

// afterVersion selects the rows after a key; zero: all.
func afterVersion[T any](after metadata.VersionKey, key func(T) versionKey) func(T) bool {
	return func(row T) bool {
		return after == (metadata.VersionKey{}) || key(row).Compare(versionKey(after)) > 0
	}
}

// testVersions: the versions of a resource come the newest first, and no version of another one.
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
	same(t, "references to a file", view(t, s, func(tx *metadata.Tx) ([]metadata.VersionKey, error) {
		return list(tx.Versions.Refs(blobs.Digest{255}))
	}), []metadata.VersionKey{{Resource: id(1), Version: 255}, {Resource: id(2), Version: 255}, {Resource: id(3), Version: 255}})
}
