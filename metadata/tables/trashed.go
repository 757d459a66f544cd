package tables

import (
	"iter"

	"labshelf/blobs"
	"labshelf/metadata"
)

type trashed struct {
	rows[metadata.ObjectKey, metadata.TrashedObject, trashedNoun]
}

func (t trashed) Of(digest blobs.Digest) iter.Seq2[metadata.TrashedObject, error] {
	return trashedTable.all(t.Tx, scopeSpan(blobKey(digest)))
}

func (t trashed) Named(object string) (bool, error) {
	return t.get(blobsByObject, nameKey(object)) != nil || t.get(trashedByObject, nameKey(object)) != nil, nil
}
