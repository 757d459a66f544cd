package bolt

import (
	"bytes"

	"go.etcd.io/bbolt"

	"labshelf/metadata/tables"
)

// kv is one transaction of the file, in the form that package tables uses.
type kv struct {
	bolt        *bbolt.Tx
	opened      [tables.BucketCount]*bbolt.Bucket
	recordSteps int // cursor steps over records
}

var (
	_ tables.KV      = (*kv)(nil)
	_ tables.Buckets = (*kv)(nil)
)

// bucket returns nil for a missing bucket, as in a read-only file of an older schema.
func (k *kv) bucket(b tables.Bucket) *bbolt.Bucket {
	if k.opened[b] == nil {
		if k.opened[b] = k.bolt.Bucket([]byte(b.String())); k.opened[b] != nil {
			k.opened[b].FillPercent = b.Fill()
		}
	}
	return k.opened[b]
}

func (k *kv) Get(b tables.Bucket, key []byte) []byte {
	in := k.bucket(b)
	if in == nil {
		return nil
	}
	return in.Get(key)
}

func (k *kv) Put(b tables.Bucket, key, value []byte) error { return k.bucket(b).Put(key, value) }

func (k *kv) Delete(b tables.Bucket, key []byte) error { return k.bucket(b).Delete(key) }

func (k *kv) CreateBucket(b tables.Bucket) error {
	_, err := k.bolt.CreateBucket([]byte(b.String()))
	return err
}

func (k *kv) DeleteBucket(b tables.Bucket) error {
	k.opened[b] = nil
	return k.bolt.DeleteBucket([]byte(b.String()))
}

func (k *kv) Cursor(b tables.Bucket, backwards bool) tables.Cursor {
	in := k.bucket(b)
	switch {
	case in == nil:
		return nil
	case backwards:
		return &descending{cursor: in.Cursor(), writable: k.bolt.Writable()}
	}
	return ascending{in.Cursor()}
}

type ascending struct{ cursor *bbolt.Cursor }

func (c ascending) Seek(lo, _ []byte) (key, value []byte) { return c.cursor.Seek(lo) }

func (c ascending) Next() (key, value []byte) { return c.cursor.Next() }

// descending is a cursor that moves backwards.
type descending struct {
	cursor   *bbolt.Cursor
	writable bool
	at       []byte // current key, or the bound where it begins
}

func (c *descending) Seek(_, hi []byte) (key, value []byte) {
	if hi == nil {
		key, value = c.cursor.Last()
		c.at = key
		return key, value
	}
	c.cursor.Seek(hi)
	c.at = hi
	return c.Next()
}

// Next moves the cursor to the previous key. In a write transaction, bbolt's Prev also returns nil
// at a page that the transaction has emptied, so there may be more keys before it.
func (c *descending) Next() (key, value []byte) {
	before := c.at
	key, value = c.cursor.Prev()
	if key == nil && c.writable {
		if first, _ := c.cursor.First(); first == nil || bytes.Compare(first, before) >= 0 {
			return nil, nil
		}
		for c.cursor.Seek(before); key == nil; {
			key, value = c.cursor.Prev()
		}
	}
	c.at = key
	return key, value
}

// Records tries Next before it seeks. Ids grow with stamps, so the next record is mostly the next
// one in the bucket, and a step is much faster than a seek.
func (k *kv) Records(b tables.Bucket, backwards bool) func(key []byte) []byte {
	in := k.bucket(b)
	if in == nil {
		return nil
	}
	cursor, started := in.Cursor(), false
	return func(wanted []byte) []byte {
		var key, record []byte
		if started {
			k.recordSteps++
			if backwards {
				key, record = cursor.Prev()
			} else {
				key, record = cursor.Next()
			}
		}
		if !started || !bytes.Equal(key, wanted) {
			k.recordSteps++
			key, record = cursor.Seek(wanted)
		}
		started = true
		if !bytes.Equal(key, wanted) {
			return nil
		}
		return record
	}
}
