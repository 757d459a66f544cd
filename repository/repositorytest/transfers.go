package repositorytest

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"labshelf/blobs"
	"labshelf/repository"
)

type transfers struct {
	access
	rows map[repository.ID]repository.Transfer
}

func (t transfers) Get(id repository.ID) (repository.Transfer, error) {
	row, ok := t.rows[id]
	if !ok {
		return repository.Transfer{}, repository.ErrNotFound
	}
	return row, nil
}

func (t transfers) Put(row repository.Transfer) error {
	t.mustWrite()
	t.rows[row.ID] = row
	return nil
}

func (t transfers) Remove(id repository.ID) error {
	t.mustWrite()
	delete(t.rows, id)
	return nil
}

func (t transfers) Ended(by repository.Stamp) iter.Seq2[repository.ID, error] {
	return func(yield func(repository.ID, error) bool) {
		for _, row := range slices.SortedFunc(maps.Values(t.rows), func(a, b repository.Transfer) int {
			return cmp.Or(cmp.Compare(a.Expires, b.Expires), a.ID.Compare(b.ID))
		}) {
			if row.Expires <= by && !yield(row.ID, nil) {
				return
			}
		}
	}
}

func (t transfers) Wait(digest blobs.Digest) (bool, error) {
	for _, row := range t.rows {
		if row.Waits() && row.Digest == digest {
			return true, nil
		}
	}
	return false, nil
}
