package metadatatest

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"labshelf/blobs"
	"labshelf/metadata"
)

type transfers struct {
	access
	rows map[metadata.ID]metadata.Transfer
}

func (t transfers) Get(id metadata.ID) (metadata.Transfer, error) {
	row, ok := t.rows[id]
	if !ok {
		return metadata.Transfer{}, metadata.ErrNotFound
	}
	return row, nil
}

func (t transfers) Put(row metadata.Transfer) error {
	t.mustWrite()
	t.rows[row.ID] = row
	return nil
}

func (t transfers) Remove(id metadata.ID) error {
	t.mustWrite()
	delete(t.rows, id)
	return nil
}

func (t transfers) Ended(by metadata.Stamp) iter.Seq2[metadata.ID, error] {
	return func(yield func(metadata.ID, error) bool) {
		for _, row := range slices.SortedFunc(maps.Values(t.rows), func(a, b metadata.Transfer) int {
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
