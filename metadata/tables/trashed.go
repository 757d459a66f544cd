package tables

import (
	"iter"

	"labshelf/blobs"
	"labshelf/metadata"
)

type trashed struct{ *Tx }

func (t trashed) Put(row metadata.TrashedObject) error { return trashedTable.put(t.Tx, row) }

func (t trashed) Remove(of metadata.ObjectKey) error { return trashedTable.remove(t.Tx, objectKey(of)) }

func (t trashed) Of(digest blobs.Digest) iter.Seq2[metadata.TrashedObject, error] {
	return trashedTable.all(t.Tx, scopeSpan(blobKey(digest)))
}

func (t trashed) All(after metadata.ObjectKey) iter.Seq2[metadata.TrashedObject, error] {
	var keys span
	if after != (metadata.ObjectKey{}) {
		keys.lo = justAfter(objectKey(after))
	}
	return trashedTable.all(t.Tx, keys)
}

func (t trashed) Named(object string) (bool, error) {
	return t.get(blobsByObject, nameKey(object)) != nil || t.get(trashedByObject, nameKey(object)) != nil, nil
}
