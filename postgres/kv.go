package postgres

import (
	"bytes"

	"labshelf/metadata/tables"
)

// The numbers of pairs that a cursor fetches: at first, after an announcement, and at most. A page
// of 100 rows from few ranges takes one round trip. With many ranges, each gets fewer pairs.
const (
	firstFetch = 16
	firstAhead = 102
	allAhead   = 4 * firstAhead // of all ranges together
	mostFetch  = 1024
)

// kv is one transaction in the form that package tables uses. It keeps its writes in memory, and
// merges them into its reads.
type kv struct {
	*reader
	writes *writes // nil: read-only
	store  *Store
	ahead  map[tables.Bucket]fetching
}

// fetching defines how the pairs of an index are fetched.
type fetching struct {
	records tables.Bucket
	first   int
}

var (
	_ tables.KV      = (*kv)(nil)
	_ tables.Ahead   = (*kv)(nil)
	_ tables.Buckets = (*kv)(nil)

	_ tables.Prefetcher = (*kv)(nil)
)

func (k *kv) Get(b tables.Bucket, key []byte) []byte {
	if k.writes != nil {
		if at, ok := k.writes.find(b, key); ok {
			return k.writes.buckets[b][at].value
		}
	}
	return k.get(b, key)
}

func (k *kv) Put(b tables.Bucket, key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	k.writes.set(b, key, value)
	return nil
}

func (k *kv) Delete(b tables.Bucket, key []byte) error {
	k.writes.set(b, key, nil)
	return nil
}

// CreateBucket does nothing: all buckets of this program get their numbers before the first
// migration.
func (k *kv) CreateBucket(tables.Bucket) error { return nil }

// DeleteBucket deletes all keys of the bucket.
func (k *kv) DeleteBucket(b tables.Bucket) error {
	cursor := k.Cursor(b, false)
	for key, _ := cursor.Seek(nil, nil); key != nil; key, _ = cursor.Next() {
		k.writes.set(b, key, nil)
	}
	return nil
}

func (k *kv) Records(b tables.Bucket, _ bool) func(key []byte) []byte {
	return func(key []byte) []byte { return k.Get(b, key) }
}

// Ahead fetches the beginnings of all ranges in one round trip.
func (k *kv) Ahead(b tables.Bucket, ranges [][2][]byte, backwards bool, records tables.Bucket) {
	how := fetching{records: records, first: min(firstAhead, max(firstFetch/2, allAhead/max(1, len(ranges))))}
	if k.ahead == nil {
		k.ahead = map[tables.Bucket]fetching{}
	}
	k.ahead[b] = how
	if len(ranges) < 2 {
		return // the cursor fetches them itself
	}
	q := &question{}
	for _, bounds := range ranges {
		of := rangeOf(b, bounds[0], bounds[1], backwards, records)
		if _, ok := k.ranges[of]; !ok {
			q.ranges, q.most = append(q.ranges, of), append(q.most, how.first)
		}
	}
	switch {
	case k.collects != nil:
		for i, of := range q.ranges {
			k.collects.ranges[of] = q.most[i]
		}
	case len(q.ranges) > 0 && k.learns == nil:
		k.ask(q)
	}
}

func (k *kv) Prefetch(reads func()) { k.prefetch(reads) }

func (k *kv) Cursor(b tables.Bucket, backwards bool) tables.Cursor {
	how, ok := k.ahead[b]
	if !ok {
		how = fetching{records: tables.BucketCount, first: firstFetch}
	}
	return &cursor{kv: k, bucket: b, backwards: backwards, fetching: how}
}

func rangeOf(b tables.Bucket, lo, hi []byte, backwards bool, records tables.Bucket) keyRange {
	return keyRange{bucket: b, lo: string(lo), hi: string(hi), open: hi == nil, backwards: backwards, records: records}
}

// cursor merges the database with the writes of the transaction.
type cursor struct {
	*kv
	fetching
	bucket    tables.Bucket
	backwards bool

	all   keyRange
	at    []byte   // last returned key; nil: none
	rest  keyRange // part of all that is not fetched yet
	stock found    // fetched, but not returned yet
	size  int      // number of pairs of the next fetch
}

func (c *cursor) Seek(lo, hi []byte) (key, value []byte) {
	c.all = rangeOf(c.bucket, lo, hi, c.backwards, c.records)
	c.at, c.rest, c.stock, c.size = nil, c.all, found{}, c.first
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		c.stock.complete = true
	}
	return c.Next()
}

func (c *cursor) Next() (key, value []byte) {
	base, ok := c.peek()
	if c.writes == nil || c.collects != nil || len(c.writes.buckets[c.bucket]) == 0 {
		if !ok {
			return nil, nil
		}
		return c.take(base)
	}
	for ok {
		if _, covered := c.writes.find(c.bucket, base.key); !covered {
			break
		}
		c.stock.pairs = c.stock.pairs[1:]
		base, ok = c.peek()
	}
	own, written := c.writes.next(c.all, c.at)
	switch {
	case written && (!ok || (bytes.Compare(own.key, base.key) < 0) != c.backwards):
		c.at = own.key
		return own.key, own.value
	case ok:
		return c.take(base)
	}
	return nil, nil
}

// peek returns the next pair of the database without consuming it.
func (c *cursor) peek() (pair, bool) {
	for len(c.stock.pairs) == 0 && !c.stock.complete {
		c.stock = c.fetch(c.rest, c.size)
		if n := len(c.stock.pairs); n > 0 {
			c.rest = c.rest.after(c.stock.pairs[n-1].key)
		}
		c.size = min(2*c.size, mostFetch)
	}
	if len(c.stock.pairs) == 0 {
		return pair{}, false
	}
	return c.stock.pairs[0], true
}

func (c *cursor) take(p pair) (key, value []byte) {
	c.stock.pairs = c.stock.pairs[1:]
	c.at = p.key
	return p.key, p.value
}
