package metadatatest

import (
	"bytes"
	"iter"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/metadata"
)

type sessions struct {
	access
	rows map[auth.SessionDigest]metadata.Session
}

func (t sessions) Get(user metadata.ID, digest auth.SessionDigest) (metadata.Session, error) {
	row := t.rows[digest]
	if row.UserID != user || row.Digest != digest {
		return metadata.Session{}, metadata.ErrNotFound
	}
	return row, nil
}

func (t sessions) Put(row metadata.Session) error {
	t.mustWrite()
	t.rows[row.Digest] = row
	return nil
}

func (t sessions) Remove(user metadata.ID, digest auth.SessionDigest) error {
	t.mustWrite()
	if t.rows[digest].UserID == user {
		delete(t.rows, digest)
	}
	return nil
}

func (t sessions) OfUser(user metadata.ID) iter.Seq2[metadata.Session, error] {
	return func(yield func(metadata.Session, error) bool) {
		for _, row := range slices.SortedFunc(maps.Values(t.rows), func(a, b metadata.Session) int { return bytes.Compare(a.Digest[:], b.Digest[:]) }) {
			if row.UserID == user && !yield(row, nil) {
				return
			}
		}
	}
}
