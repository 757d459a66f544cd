// Package tables implements the tables of metadata.Tx over ordered keys and values, once for all
// engines: the records, the indexes and what keeps them in line, the listings, the schema and its
// migrations, and the check of all that. An engine keeps keys and values in buckets, and offers
// them in transactions as a [KV]; packages bolt and postgres do. docs/reference/keys.md lists
// the buckets; keys.go builds and splits their keys.
//
// # Records and indexes
//
// A record is a format byte, a CRC-32C over its key and its fields, and the fields. Engines may
// have no checksums of their own: of 1,024 single bits turned in a bbolt file, 235 changed data
// unnoticed. With the key under the checksum, a record in another's place is found, too. The index
// entries of a row follow from the row alone (nouns.go): what a change removes is computed from
// what is stored, and a check compares both for all rows. An entry whose key is the fact has an
// empty value.
//
// # Listings
//
// Index keys are read with one cursor and records by [KV.Records], which may expect them in nearly
// the order of the index, since ids and stamps grow together. A row of a page of resources is
// borrowed: it is filled anew for each call, its texts are views of what the engine returned, and
// its checksum is verified like any other's.
package tables

// KV is the buckets of an engine as one transaction sees them, in the order of the bytes of their
// keys. Keys and values that it returns are valid until the transaction ends, and are not changed
// by the caller; those that it is given are not changed, and not kept once the transaction has
// ended. An engine that can no longer read panics with a value that its own transaction function
// recovers.
type KV interface {
	// Get returns the value under a key; nil: there is none. An empty value is not nil.
	Get(b Bucket, key []byte) []byte
	// Put inserts or replaces. After an error the transaction is not committed.
	Put(b Bucket, key, value []byte) error
	// Delete removes a key; that there is none is no error.
	Delete(b Bucket, key []byte) error
	// Cursor reads ranges of a bucket, ascending or backwards; nil: there is no such bucket, as in
	// metadata of an older schema.
	Cursor(b Bucket, backwards bool) Cursor
	// Records returns a function that gets records by keys which come, mostly, in the order of the
	// bucket; nil: there is no such bucket.
	Records(b Bucket, backwards bool) func(key []byte) (record []byte)
}

// Cursor goes through a range of keys. A nil key, or one outside of the range, is its end.
type Cursor interface {
	// Seek returns the first key from lo up to, not including, hi, or backwards the last one. A nil
	// hi is no bound.
	Seek(lo, hi []byte) (key, value []byte)
	// Next returns the key that follows in the direction of the cursor.
	Next() (key, value []byte)
}

// Ahead is what a KV may offer that reads many ranges at once faster than one after the other.
type Ahead interface {
	// Ahead tells that these ranges, lo and hi of each, are read next, in one direction, and with
	// each entry the record in another bucket whose key is its value, or if that is empty the 16
	// bytes at the end of its key; records is BucketCount where none is read.
	Ahead(b Bucket, ranges [][2][]byte, backwards bool, records Bucket)
}

// Prefetcher is what a KV may offer that answers many questions as fast as one.
type Prefetcher interface {
	// Prefetch calls reads, in which keys may be missing, and then fetches what it asked for.
	Prefetch(reads func())
}

// Buckets is what an engine offers to a migration.
type Buckets interface {
	CreateBucket(b Bucket) error
	DeleteBucket(b Bucket) error
}
