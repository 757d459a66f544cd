package repositorytest

import (
	"bytes"
	"iter"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/repository"
)

type sessions struct {
	access
	rows map[auth.SessionDigest]repository.Session
}

func (t sessions) Get(user repository.ID, digest auth.SessionDigest) (repository.Session, error) {
	row := t.rows[digest]
	if row.UserID != user || row.Digest != digest {
		return repository.Session{}, repository.ErrNotFound
	}
	return row, nil
}

func (t sessions) Put(row repository.Session) error {
	t.mustWrite()
	t.rows[row.Digest] = row
	return nil
}

func (t sessions) Remove(user repository.ID, digest auth.SessionDigest) error {
	t.mustWrite()
	if t.rows[digest].UserID == user {
		delete(t.rows, digest)
	}
	return nil
}

func (t sessions) OfUser(user repository.ID) iter.Seq2[repository.Session, error] {
	return func(yield func(repository.Session, error) bool) {
		for _, row := range slices.SortedFunc(maps.Values(t.rows), func(a, b repository.Session) int { return bytes.Compare(a.Digest[:], b.Digest[:]) }) {
			if row.UserID == user && !yield(row, nil) {
				return
			}
		}
	}
}
