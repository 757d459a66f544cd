package tables

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"labshelf/metadata"
)

// table defines how the rows of a noun are stored: as records in one bucket, and as entries in the
// buckets of its indexes. The row alone determines its entries, so a change computes outdated
// entries from the stored row.
type table[K comparable, T any] struct {
	bucket  Bucket
	of      func(K) []byte         // builds a key
	first   int                    // bytes of the first part of a key, for Before and From
	key     func(*T) []byte        // the key of a row, which may be valid only as long as the row
	changed func(T) metadata.Stamp // the stamp of the last change; nil: a row has none, or only clock readings
	fields  func(*codec, *T)
	indexes []index                            // without blobRefs, which two tables share
	entries func(T) []entry                    // nil: no index
	fromKey func(row *T, key []byte) (ok bool) // sets the fields that only the key contains; nil: none
}

// index is a bucket whose entries point to the rows of one table.
type index struct {
	bucket Bucket
	owner  func(key, value []byte) []byte // the primary key of the row that an entry points to
}

// entry is an entry of one row in one index. Either the key contains everything and the value is
// empty, or the key is unique to this row.
type entry struct {
	bucket     Bucket
	key, value []byte
}

func (e entry) sameKey(o entry) bool { return e.bucket == o.bucket && bytes.Equal(e.key, o.key) }

func (e entry) equal(o entry) bool { return e.sameKey(o) && bytes.Equal(e.value, o.value) }

// decode decodes the row stored under key.
func (tb *table[K, T]) decode(key, record []byte) (T, error) {
	var row T
	err := tb.decodeInto(&codec{}, key, record, &row)
	return row, err
}

// decodeInto decodes the row stored under key into an existing one.
func (tb *table[K, T]) decodeInto(c *codec, key, record []byte, row *T) error {
	err := decode(c, key, record, tb.fields, row)
	if err == nil && tb.fromKey != nil && !tb.fromKey(row, key) {
		err = fmt.Errorf("%w: its key is invalid", metadata.ErrRecordDamaged)
	}
	if err == nil && !bytes.Equal(tb.key(row), key) {
		err = fmt.Errorf("%w: it belongs to another row", metadata.ErrRecordDamaged)
	}
	if err != nil {
		err = fmt.Errorf("tables: %s %x: %w", tb.bucket, key, err)
	}
	return err
}

// get returns the row under key.
func (tb *table[K, T]) get(t *Tx, key []byte) (row T, err error) {
	record := t.get(tb.bucket, key)
	if record == nil {
		return row, notFound{tb.bucket, string(key)}
	}
	return tb.decode(key, record)
}

// storedEntries returns the current entries of the row under key. A missing row has no entries.
func (tb *table[K, T]) storedEntries(t *Tx, key []byte) ([]entry, error) {
	record := t.get(tb.bucket, key)
	if record == nil {
		return nil, nil
	}
	var row T
	if err := tb.decodeInto(&codec{views: true}, key, record, &row); err != nil { // the entries copy the values that they use
		return nil, err
	}
	return tb.entries(row), nil
}

// put inserts or replaces a row. It removes exactly the entries that the row no longer has, and
// adds the new ones. Entries that a row of another table also has stay unchanged. A table without
// an index does not read the former row.
func (tb *table[K, T]) put(t *Tx, row T) error {
	t.mustWrite()
	key := tb.key(&row)
	if tb.entries == nil {
		t.put(tb.bucket, key, seal(key, tb.fields, row))
		return t.failed
	}
	old, err := tb.storedEntries(t, key)
	if err != nil {
		return err
	}
	entries := tb.entries(row)
	stale, err := tb.lacking(t, old, entries, entry.sameKey)
	if err != nil {
		return err
	}
	added, err := tb.lacking(t, entries, old, entry.equal)
	if err != nil {
		return err
	}
	for _, e := range added {
		if err := t.checkVacant(e, key, old); err != nil {
			return err
		}
	}
	t.deleteStale(stale)
	for _, e := range added {
		t.put(e.bucket, e.key, e.value)
	}
	t.put(tb.bucket, key, seal(key, tb.fields, row))
	return t.failed
}

// remove removes a row with all its entries. A missing row is not an error. A table without an
// index does not read the row.
func (tb *table[K, T]) remove(t *Tx, key []byte) error {
	t.mustWrite()
	if tb.entries == nil {
		t.delete(tb.bucket, key)
		return t.failed
	}
	old, err := tb.storedEntries(t, key)
	if err != nil {
		return err
	}
	stale, err := tb.lacking(t, old, nil, entry.sameKey)
	if err != nil {
		return err
	}
	t.deleteStale(stale)
	t.delete(tb.bucket, key)
	return t.failed
}

// lacking returns the entries of a row that are not among its other entries, and that no row of
// another table has. The entries are the former or the future ones.
func (tb *table[K, T]) lacking(t *Tx, entries, others []entry, same func(a, b entry) bool) (lacking []entry, err error) {
	for _, e := range entries {
		if slices.ContainsFunc(others, func(o entry) bool { return same(o, e) }) {
			continue
		}
		shared, err := t.shared(e, tb.bucket)
		if err != nil {
			return nil, err
		}
		if !shared {
			lacking = append(lacking, e)
		}
	}
	return lacking, nil
}

// checkVacant returns an error for an entry whose key already points to another row, which would
// disappear from the index.
func (t *Tx) checkVacant(e entry, key []byte, own []entry) error {
	if len(e.value) == 0 || slices.ContainsFunc(own, e.sameKey) {
		return nil
	}
	if present := t.get(e.bucket, e.key); present != nil {
		return fmt.Errorf("tables: %s %x: %w by %x, wanted for %x", e.bucket, e.key, ErrTaken, present, key)
	}
	return nil
}

// ErrTaken means that a unique index entry belongs to another row. Use cases check this before they
// write.
var ErrTaken = errors.New("taken")

// all yields the rows whose keys are in a span of the table's bucket.
func (tb *table[K, T]) all(t *Tx, s span) iter.Seq2[T, error] { return tb.rows(t, s, false) }

// backwards is like all, in descending order.
func (tb *table[K, T]) backwards(t *Tx, s span) iter.Seq2[T, error] { return tb.rows(t, s, true) }

func (tb *table[K, T]) rows(t *Tx, s span, backwards bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for key, record := range t.span(tb.bucket, s, backwards) {
			row, err := tb.decode(key, record)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// byIndex yields the rows to which the values of a span of an index point.
func (tb *table[K, T]) byIndex(t *Tx, index Bucket, s span) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		t.announce(index, []span{s}, false, tb.bucket)
		for key, owner := range t.walk(index, s) {
			row, err := tb.get(t, owner)
			if errors.Is(err, metadata.ErrNotFound) {
				err = damagedIndex(index, key)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func damagedIndex(index Bucket, key []byte) error {
	return fmt.Errorf("tables: %s %x points to no row: %w", index, key, metadata.ErrRecordDamaged)
}

// idIn returns the id under a key of an index.
func idIn(t *Tx, index Bucket, key []byte) (metadata.ID, error) {
	value := t.get(index, key)
	if value == nil {
		return metadata.ID{}, notFound{index, string(key)}
	}
	if len(value) != idSize {
		return metadata.ID{}, damagedIndex(index, key)
	}
	return metadata.ID(value), nil
}

// deleteStale removes entries that no row has any longer.
func (t *Tx) deleteStale(entries []entry) {
	for _, e := range entries {
		t.delete(e.bucket, e.key)
	}
}

// shared reports whether a row of another table has the same entry. Two tables share blobRefs: when
// a file is replaced, the row of the version takes over the entry of the resource. So no page of
// the index, where digests are at random places, is read or written.
func (t *Tx) shared(e entry, own Bucket) (bool, error) {
	if e.bucket != blobRefs {
		return false, nil
	}
	return t.referred(e, own)
}

// referred reports whether a row has an entry of blobRefs: the resource in this version, or the row
// of the version. It skips the table in the given bucket; BucketCount skips none.
func (t *Tx) referred(e entry, without Bucket) (bool, error) {
	of, ok := splitBlobRef(e.key)
	if !ok {
		return false, nil
	}
	var entries []entry
	var err error
	if without != resourcesBucket {
		entries, err = resourceTable.storedEntries(t, idKey(of.Resource))
	}
	if without != versionsBucket && err == nil && !slices.ContainsFunc(entries, e.equal) {
		entries, err = versionTable.storedEntries(t, versionKey(of))
	}
	return err == nil && slices.ContainsFunc(entries, e.equal), err
}
