package metadatatest

import (
	"math"
	"slices"
	"testing"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// transferAt is one of which nothing has come yet.
func transferAt(n byte, expires metadata.Stamp) metadata.Transfer {
	return metadata.Transfer{ID: id(n), UserID: id(9), SetID: id(8), Created: 1, Expires: expires, Length: 3}
}

func (s *store) ended(t *testing.T, by metadata.Stamp) []metadata.ID {
	t.Helper()
	return view(t, s, func(tx *metadata.Tx) ([]metadata.ID, error) { return list(tx.Transfers.Ended(by)) })
}

func (s *store) removeTransfer(t *testing.T, n byte) {
	t.Helper()
	s.update(t, func(tx *metadata.Tx) error { return tx.Transfers.Remove(id(n)) })
}

// testEnded finds what expires by a moment, in that order.
func testEnded(t *testing.T, s *store) {
	same(t, "ended, of none", s.ended(t, math.MaxInt64), nil)
	s.put(t, transferAt(1, 7), transferAt(2, 5), transferAt(3, 7), transferAt(4, 256), transferAt(5, -1))
	for by, want := range map[metadata.Stamp][]byte{
		math.MinInt64: nil, -2: nil, -1: {5}, 4: {5}, 5: {5, 2}, 6: {5, 2}, 7: {5, 2, 1, 3}, 255: {5, 2, 1, 3}, math.MaxInt64: {5, 2, 1, 3, 4},
	} {
		var ids []metadata.ID
		for _, n := range want {
			ids = append(ids, id(n))
		}
		same(t, "ended", s.ended(t, by), ids)
	}
	s.put(t, transferAt(1, 300))
	same(t, "ended after one went on", s.ended(t, 299), []metadata.ID{id(5), id(2), id(3), id(4)})
	s.removeTransfer(t, 2)
	s.removeTransfer(t, 2) // that there is none is no error
	s.removeTransfer(t, 5)
	s.reopen(t)
	same(t, "those left", s.ended(t, math.MaxInt64), []metadata.ID{id(3), id(4), id(1)})
	for _, n := range []byte{1, 2, 3, 4, 5} {
		gone := s.View(t.Context(), func(tx *metadata.Tx) error {
			_, err := tx.Transfers.Get(id(n))
			return err
		})
		var want error
		if !slices.Contains([]byte{1, 3, 4}, n) {
			want = metadata.ErrNotFound
		}
		isError(t, "get", gone, want)
	}
}

// testWaits has a digest wait from the last byte of a transfer until that has made a resource, begins anew or is gone.
func testWaits(t *testing.T, s *store) {
	digest, other := blobs.Digest{1}, blobs.Digest{1, 31: 1}
	waits := func(of blobs.Digest) bool {
		return view(t, s, func(tx *metadata.Tx) (bool, error) { return tx.Transfers.Wait(of) })
	}
	s.put(t, transferAt(1, 7))
	same(t, "a transfer that has not come whole waits", waits(blobs.Digest{}), false)
	whole, second, refused := transferAt(1, 7), transferAt(2, 5), transferAt(3, 7)
	whole.Mark, whole.Digest, second.Digest = blobs.Mark{Size: 3, Hash: "abc"}, digest, digest
	s.put(t, whole, second)
	same(t, "a whole one waits", waits(digest), true)
	same(t, "another digest waits", waits(other), false)
	whole.Made, whole.Expires = id(7), 400
	s.put(t, whole)
	same(t, "the second one still waits", waits(digest), true)
	s.removeTransfer(t, 2)
	same(t, "one that has made a resource waits", waits(digest), false)

	refused.Digest, refused.Refusal = digest, metadata.Refusal{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: "m"}
	s.put(t, refused)
	same(t, "a refused one waits", waits(digest), true)
	s.reopen(t)
	same(t, "a refused one waits, after closing and opening again", waits(digest), true)
	s.put(t, transferAt(3, 7))
	same(t, "one that has begun anew waits", waits(digest), false)
}
