package tables

import (
	"errors"
	"fmt"
	"iter"

	"labshelf/blobs"
	"labshelf/metadata"
)

type blobRows struct {
	rows[blobs.Digest, blobs.Blob, blobNoun]
}

// Refs yields the references to a blob.
func (b blobRows) Refs(digest blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
	return func(yield func(metadata.VersionKey, error) bool) {
		for key := range b.walk(blobRefs, scopeSpan(blobKey(digest))) {
			of, ok := splitBlobRef(key)
			if !ok {
				yield(of, damagedIndex(blobRefs, key))
				return
			}
			if !yield(of, nil) {
				return
			}
		}
	}
}

// unreferenced keeps its total in a row, so that Total reads a single row.
type unreferenced struct {
	rows[blobs.Digest, metadata.Unreferenced, unreferencedNoun]
}

func (u unreferenced) Put(row metadata.Unreferenced) error {
	return errors.Join(u.count(row.Digest, metadata.BlobCount{Blobs: 1, Bytes: row.Bytes}), u.rows.Put(row))
}

// Remove writes nothing if the row is missing, because every upload calls it.
func (u unreferenced) Remove(digest blobs.Digest) error {
	u.mustWrite()
	if u.get(blobsUnreferenced, blobKey(digest)) == nil {
		return nil
	}
	return errors.Join(u.count(digest, metadata.BlobCount{}), u.rows.Remove(digest))
}

// count updates the total when a row is replaced or removed. It subtracts the old row, and adds the
// given count.
func (u unreferenced) count(digest blobs.Digest, by metadata.BlobCount) error {
	u.mustWrite()
	total, err := u.Total()
	if err != nil {
		return err
	}
	old, err := u.Get(digest)
	switch {
	case err == nil:
		total.Blobs--
		total.Bytes -= old.Bytes
	case !errors.Is(err, metadata.ErrNotFound):
		return err
	}
	total.Blobs += by.Blobs
	total.Bytes += by.Bytes
	putMetaRow(u.Tx, unreferencedRow, blobCountFields, total)
	return u.failed
}

func (u unreferenced) Total() (metadata.BlobCount, error) { return unreferencedTotal(u.Tx) }

// unreferencedTotal returns the stored number of unreferenced blobs.
func unreferencedTotal(t *Tx) (metadata.BlobCount, error) {
	return value(t, metaBucket, nameKey(unreferencedRow), blobCountFields)
}

// inlineBodies are the bodies of small files until they are flushed to the blob store. Until then
// nothing is written under their digests, so an upload writes only pages at the end of its ranges.
type inlineBodies struct{ *Tx }

func (b inlineBodies) Get(of metadata.VersionKey) ([]byte, error) {
	key := versionKey(of)
	record := b.get(bodiesBucket, key)
	if record == nil {
		return nil, notFound{bodiesBucket, string(key)}
	}
	body, err := unseal(key, record, bodyFields)
	if err != nil {
		err = fmt.Errorf("tables: %s %x: %w", bodiesBucket, key, err)
	}
	return body, err
}

func (b inlineBodies) Put(of metadata.VersionKey, body []byte) error {
	b.mustWrite()
	key := versionKey(of)
	b.uncount(key)
	b.state.Inline.Bodies++
	b.state.Inline.Bytes += int64(len(body))
	b.put(bodiesBucket, key, seal(key, bodyFields, body))
	return b.failed
}

func (b inlineBodies) Remove(of metadata.VersionKey) error {
	b.mustWrite()
	key := versionKey(of)
	b.uncount(key)
	b.delete(bodiesBucket, key)
	return b.failed
}

// uncount subtracts the body under a key from the total.
func (b inlineBodies) uncount(key []byte) {
	if record := b.get(bodiesBucket, key); record != nil {
		b.state.Inline.Bodies--
		b.state.Inline.Bytes -= bodyBytes(record)
	}
}

// bodyBytes returns the length of the body in a record, damaged or not.
func bodyBytes(record []byte) int64 { return int64(len(record) - recordHeader) }

func (b inlineBodies) All(after metadata.VersionKey) iter.Seq2[metadata.VersionKey, error] {
	return func(yield func(metadata.VersionKey, error) bool) {
		var s span
		if after != (metadata.VersionKey{}) {
			s.lo = justAfter(versionKey(after))
		}
		for key := range b.walk(bodiesBucket, s) {
			of, ok := splitVersionKey(key)
			if !ok {
				yield(of, fmt.Errorf("tables: %s %x: %w", bodiesBucket, key, metadata.ErrRecordDamaged))
				return
			}
			if !yield(of, nil) {
				return
			}
		}
	}
}

// Total reads the row that the committer writes once per commit. In a write transaction, it returns
// the total that will be written.
func (b inlineBodies) Total() (metadata.BodyCount, error) {
	if b.writable {
		return b.state.Inline, nil
	}
	return value(b.Tx, metaBucket, nameKey(inlineRow), bodyCountFields)
}
