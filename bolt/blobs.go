package bolt

import (
	"fmt"
	"iter"

	"labshelf/blobs"
	"labshelf/repository"
)

type blobRows struct{ *tx }

func (b blobRows) Size(digest blobs.Digest) (int64, error) {
	key := blobKey(digest)
	if b.get(blobsBucket, key) == nil {
		return 0, notFound{blobsBucket, string(key)}
	}
	return value(b.tx, blobsBucket, key, sizeFields)
}

func (b blobRows) Put(digest blobs.Digest, size int64) error {
	b.mustWrite()
	b.tx.put(blobsBucket, blobKey(digest), seal(blobKey(digest), sizeFields, size))
	return b.failed
}

func (b blobRows) Remove(digest blobs.Digest) error {
	b.mustWrite()
	b.delete(blobsBucket, blobKey(digest))
	return b.failed
}

func (b blobRows) All(after *blobs.Digest) iter.Seq2[repository.Blob, error] {
	var keys span
	if after != nil {
		keys.lo = justAfter(blobKey(*after))
	}
	return func(yield func(repository.Blob, error) bool) {
		for key, record := range b.walk(blobsBucket, keys) {
			size, err := unseal(key, record, sizeFields)
			digest, ok := splitBlobKey(key)
			if err != nil || !ok {
				yield(repository.Blob{}, fmt.Errorf("bolt: %s %x: %w", blobsBucket, key, repository.ErrRecordDamaged))
				return
			}
			if !yield(repository.Blob{Digest: digest, Bytes: size}, nil) {
				return
			}
		}
	}
}

func (b blobRows) Refs(digest blobs.Digest) iter.Seq2[repository.ID, error] {
	return func(yield func(repository.ID, error) bool) {
		for key := range b.walk(blobRefs, scopeSpan(blobKey(digest))) {
			id, ok := trailingID(ownerOfRef(key, nil))
			if !ok {
				yield(id, damagedIndex(blobRefs, key))
				return
			}
			if !yield(id, nil) {
				return
			}
		}
	}
}

type damages struct{ *tx }

func (d damages) Get(digest blobs.Digest) (repository.Damage, error) {
	return damageTable.get(d.tx, blobKey(digest))
}

func (d damages) Put(row repository.Damage) error { return damageTable.put(d.tx, row) }

func (d damages) Remove(digest blobs.Digest) error {
	d.mustWrite()
	d.delete(blobsDamaged, blobKey(digest))
	return d.failed
}

func (d damages) All() iter.Seq2[repository.Damage, error] { return damageTable.all(d.tx, span{}) }

type scrub struct{ *tx }

func (s scrub) Get() (repository.ScrubState, error) {
	return value(s.tx, metaBucket, nameKey(scrubRow), scrubFields)
}

func (s scrub) Put(state repository.ScrubState) error {
	s.mustWrite()
	s.put(metaBucket, nameKey(scrubRow), seal(nameKey(scrubRow), scrubFields, state))
	return s.failed
}
