package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
)

// Row is a key with its value, as an engine stores them. Rows of a sequence are valid until the
// next row.
type Row struct {
	Bucket     Bucket
	Key, Value []byte
}

// Compare orders rows by bucket, then by key.
func (r Row) Compare(other Row) int {
	return cmp.Or(cmp.Compare(r.Bucket, other.Bucket), bytes.Compare(r.Key, other.Key))
}

// Rows returns all rows of one transaction in order, so that another engine can load them. It calls
// ended before each row, and an error of ended ends the sequence. Metadata of another schema
// version than Schema yield an error instead of rows. Rows out of order end the sequence with
// metadata.ErrRecordDamaged. Rows does not verify checksums; Check does.
func Rows(kv KV, ended func() error) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		header, err := ReadHeader(kv)
		if err == nil && header.Schema != Schema {
			err = fmt.Errorf("tables: the metadata are of version %d; the service upgrades them to %d when it starts", header.Schema, Schema)
		}
		if err != nil {
			yield(Row{}, err)
			return
		}
		t := Read(kv, 0)
		for b := range BucketCount {
			if b.In(Schema) && !t.yieldRows(b, ended, yield) {
				return
			}
		}
	}
}

// yieldRows yields the rows of a bucket, and reports whether the sequence may continue with other
// buckets.
func (t *Tx) yieldRows(b Bucket, ended func() error, yield func(Row, error) bool) bool {
	for key, value := range t.walk(b, span{}) {
		if err := ended(); err != nil {
			yield(Row{}, err)
			return false
		}
		if !yield(Row{b, key, value}, nil) {
			return false
		}
	}
	if t.failed != nil {
		yield(Row{}, t.failed)
	}
	return t.failed == nil
}
