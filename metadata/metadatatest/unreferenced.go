package metadatatest

import (
	"bytes"
	"iter"

	"labshelf/blobs"
	"labshelf/metadata"
)

// unreferenced is the table of blobs that nothing refers to.
type unreferenced struct {
	access
	rows map[blobs.Digest]metadata.Unreferenced
}

func (t unreferenced) Get(digest blobs.Digest) (metadata.Unreferenced, error) {
	row, ok := t.rows[digest]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t unreferenced) Put(row metadata.Unreferenced) error {
	t.mustWrite()
	t.rows[row.Digest] = row
	return nil
}

func (t unreferenced) Remove(digest blobs.Digest) error {
	t.mustWrite()
	delete(t.rows, digest)
	return nil
}

func (t unreferenced) All(after *blobs.Digest) iter.Seq2[metadata.Unreferenced, error] {
	return func(yield func(metadata.Unreferenced, error) bool) {
		for _, digest := range inDigestOrder(t.rows) {
			if (after == nil || bytes.Compare(digest[:], after[:]) > 0) && !yield(t.rows[digest], nil) {
				return
			}
		}
	}
}

func (t unreferenced) Total() (total metadata.BlobCount, err error) {
	for _, row := range t.rows {
		total.Blobs++
		total.Bytes += row.Bytes
	}
	return total, nil
}
