package postgres

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"

	"labshelf/metadata/tables"
)

// writes are the changes of a transaction, in the order of keys. They are sent when the transaction
// commits.
type writes struct {
	buckets [tables.BucketCount][]write
}

// write is a key with its new value. A nil value deletes the key.
type write struct{ key, value []byte }

func (w *writes) find(bucket tables.Bucket, key []byte) (at int, ok bool) {
	in := w.buckets[bucket]
	if len(in) == 0 || bytes.Compare(in[len(in)-1].key, key) < 0 {
		return len(in), false
	}
	return slices.BinarySearchFunc(in, key, func(w write, key []byte) int { return bytes.Compare(w.key, key) })
}

func (w *writes) set(bucket tables.Bucket, key, value []byte) {
	at, ok := w.find(bucket, key)
	if ok {
		w.buckets[bucket][at].value = value
		return
	}
	w.buckets[bucket] = slices.Insert(w.buckets[bucket], at, write{key, value})
}

// next returns the first key with a value in a range. If behind is not nil, it returns the first
// one after that key.
func (w *writes) next(of keyRange, behind []byte) (write, bool) {
	in := w.buckets[of.bucket]
	if of.backwards {
		at := len(in)
		switch {
		case behind != nil:
			at, _ = w.find(of.bucket, behind)
		case !of.open:
			at, _ = w.find(of.bucket, []byte(of.hi))
		}
		for at--; at >= 0 && of.contains(in[at].key); at-- {
			if in[at].value != nil {
				return in[at], true
			}
		}
		return write{}, false
	}
	from, found := []byte(of.lo), false
	if behind != nil {
		from = behind
	}
	at, found := w.find(of.bucket, from)
	if found && behind != nil {
		at++
	}
	for ; at < len(in) && of.contains(in[at].key); at++ {
		if in[at].value != nil {
			return in[at], true
		}
	}
	return write{}, false
}

// any reports whether any change must be sent.
func (w *writes) any() bool {
	return slices.ContainsFunc(w.buckets[:], func(in []write) bool { return len(in) > 0 })
}

// The statements of a commit.
const (
	deleteSQL     = "delete from key_values r using unnest($1::smallint[], $2::bytea[]) as d (bucket, key) where r.bucket = d.bucket and r.key = d.key"
	putSQL        = "insert into key_values (bucket, key, value) select * from unnest($1::smallint[], $2::bytea[], $3::bytea[]) on conflict (bucket, key) do update set value = excluded.value"
	deleteLongSQL = "delete from long_key_values r using unnest($1::smallint[], $2::bytea[]) as d (bucket, digest) where r.bucket = d.bucket and r.digest = d.digest"
	putLongSQL    = "insert into long_key_values (bucket, digest, head, key, value) select * from unnest($1::smallint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) on conflict (bucket, digest) do update set value = excluded.value"
)

// columns are the arguments of these statements.
type columns struct {
	buckets                     []int16
	digests, heads, keys, value [][]byte
}

func (c *columns) add(number int16, w write, far bool) {
	c.buckets, c.keys, c.value = append(c.buckets, number), append(c.keys, w.key), append(c.value, w.value)
	if far {
		c.digests, c.heads = append(c.digests, digest(string(w.key))), append(c.heads, w.key[:headBytes])
	}
}

// queueWrites adds the changes to a batch. It omits values that are stored already.
func (t *transaction) queueWrites(batch *pgx.Batch, w *writes) {
	var puts, deletes, longPuts, longDeletes columns
	for b := range tables.BucketCount {
		number := t.store.numbers[b]
		for _, change := range w.buckets[b] {
			far := len(change.key) > longest
			was, ok := t.values[place{b, string(change.key)}]
			switch {
			case ok && (was == nil) == (change.value == nil) && slices.Equal(was, change.value):
			case change.value == nil && far:
				longDeletes.add(number, change, true)
			case change.value == nil:
				deletes.add(number, change, false)
			case far:
				longPuts.add(number, change, true)
				t.store.noteLong(longBuckets{number})
			default:
				puts.add(number, change, false)
			}
		}
	}
	if len(deletes.keys) > 0 {
		batch.Queue(deleteSQL, deletes.buckets, deletes.keys)
	}
	if len(longDeletes.keys) > 0 {
		batch.Queue(deleteLongSQL, longDeletes.buckets, longDeletes.digests)
	}
	if len(puts.keys) > 0 {
		batch.Queue(putSQL, puts.buckets, puts.keys, puts.value)
	}
	if len(longPuts.keys) > 0 {
		batch.Queue(putLongSQL, longPuts.buckets, longPuts.digests, longPuts.heads, longPuts.keys, longPuts.value)
	}
}
