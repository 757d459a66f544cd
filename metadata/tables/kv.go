// Package tables implements the tables of metadata.Tx over ordered keys and values, once for all
// engines. It contains the records, the indexes and their consistency, the listings, the schema and
// its migrations, and the check of all these. An engine stores keys and values in buckets, and
// provides them in transactions as a [KV]; packages bolt and postgres do. docs/reference/keys.md
// lists the buckets; keys.go builds and splits their keys.
//
// # Records and indexes
//
// A record is a format byte, a CRC-32C over its key and its fields, and the fields. The checksum is
// needed because engines may have none of their own. It covers the key, so that it also detects a
// record in the place of another one. The row alone determines its index entries (nouns.go): a
// change computes the outdated ones from the stored row, and a check compares both for all rows. An
// entry whose key contains everything has an empty value.
//
// # Listings
//
// A listing reads index keys with one cursor, and records with [KV.Records]. Records come nearly in
// the order of the index, since ids and stamps grow together. A row of a page of resources is
// borrowed: each call reuses it, and its strings are views of the engine's memory. Its checksum is
// always verified.
package tables

// KV provides the buckets of an engine in one transaction, with keys in byte order. Keys and values
// that it returns are valid until the transaction ends, and the caller must not change them. The KV
// does not change the keys and values that it receives, and keeps none after the transaction. An
// engine that can no longer read panics with a value that its own transaction function recovers.
type KV interface {
	// Get returns the value under a key, or nil. An empty value is not nil.
	Get(b Bucket, key []byte) []byte
	// Put inserts or replaces a value. After an error the transaction is not committed.
	Put(b Bucket, key, value []byte) error
	// Delete removes a key. A missing key is not an error.
	Delete(b Bucket, key []byte) error
	// Cursor returns a cursor over a bucket, ascending or backwards. It returns nil for a missing
	// bucket, as in metadata of an older schema.
	Cursor(b Bucket, backwards bool) Cursor
	// Records returns a function that gets records by key. The keys come mostly in the order of the
	// bucket. It returns nil for a missing bucket.
	Records(b Bucket, backwards bool) func(key []byte) (record []byte)
}

// Cursor iterates over a range of keys. A nil key, or a key outside the range, is the end.
type Cursor interface {
	// Seek returns the first key from lo up to but excluding hi. Backwards, it returns the last
	// one. A nil hi means no upper bound.
	Seek(lo, hi []byte) (key, value []byte)
	// Next returns the next key in the direction of the cursor.
	Next() (key, value []byte)
}

// Ahead is an optional interface of a KV that reads many ranges together faster than separately.
type Ahead interface {
	// Ahead announces that the caller reads these ranges next, in one direction. Each range is a
	// pair of bounds, lo and hi. For each entry, the caller also reads a record in the bucket
	// records. The key of the record is the value of the entry or, if that is empty, the last 16
	// bytes of the entry's key. If records is BucketCount, the caller reads no records.
	Ahead(b Bucket, ranges [][2][]byte, backwards bool, records Bucket)
}

// Prefetcher is an optional interface of a KV that answers many reads as fast as one.
type Prefetcher interface {
	// Prefetch calls a function, which may find keys missing, and then fetches all keys that the
	// function requested.
	Prefetch(reads func())
}

// Buckets is the interface of an engine for migrations.
type Buckets interface {
	CreateBucket(b Bucket) error
	DeleteBucket(b Bucket) error
}
