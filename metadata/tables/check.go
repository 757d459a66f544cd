package tables

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"labshelf/metadata"
)

// Guard runs fn, which reads. It returns an error, instead of a panic, for unreadable data.
type Guard func(fn func() error) error

// Check verifies every row against its checksum and its index entries, every entry against its row,
// and the stamps against the last one given out. It calls report for each violation, and stops
// early when ended returns an error. If a bucket is unreadable, as guard reports, Check continues
// with the others.
func Check(kv KV, ended func() error, guard Guard, report func(metadata.Violation)) {
	c := &checker{t: Read(kv, 0), ended: ended, guard: guard, report: report, last: math.MaxInt64}
	c.checkMeta()
	c.run()
}

// CheckRows is like Check, but skips the single rows of the meta bucket and the stamps.
func CheckRows(kv KV, ended func() error, guard Guard, report func(metadata.Violation)) {
	c := &checker{t: Read(kv, 0), ended: ended, guard: guard, report: report, last: math.MaxInt64, version: Schema}
	c.run()
}

// checker is one Check.
type checker struct {
	t       *Tx
	ended   func() error
	guard   Guard
	report  func(metadata.Violation)
	last    metadata.Stamp
	version uint32 // of the schema; 0: unreadable
}

// checkMeta verifies the rows of the meta bucket, and reads the last stamp.
func (c *checker) checkMeta() {
	c.inBucket(metaBucket, func() {
		version, err := metaRow(c.t, schemaRow, schemaFields)
		if c.failed(metaBucket, nameKey(schemaRow), err); err == nil {
			c.version = version
		}
		_, err = metaRow(c.t, secretRow, secretFields)
		c.failed(metaBucket, nameKey(secretRow), err)
		_, err = scrub{c.t}.Get()
		c.failed(metaBucket, nameKey(scrubRow), err)
		_, err = filling{c.t}.Get()
		c.failed(metaBucket, nameKey(fillingRow), err)
		_, err = inlineBodies{c.t}.Total()
		c.failed(metaBucket, nameKey(inlineRow), err)
		_, err = metaRow(c.t, epochRow, epochFields)
		c.failed(metaBucket, nameKey(epochRow), err)
		_, err = auditLog{c.t}.State()
		c.failed(metaBucket, nameKey(auditRow), err)
		_, err = unreferencedTotal(c.t)
		c.failed(metaBucket, nameKey(unreferencedRow), err)
		last, err := metaRow(c.t, lastStampRow, lastStampFields)
		if c.failed(metaBucket, nameKey(lastStampRow), err); err == nil {
			c.last = last
		}
		for b := range BucketCount {
			if b.In(version) && c.t.kv.Cursor(b, false) == nil {
				c.violation(b, nil, "there is no such bucket")
			}
		}
	})
}

func (c *checker) run() {
	for _, tb := range everyTable {
		tb.check(c)
	}
	c.inBucket(blobRefs, c.checkRefs)
	c.inBucket(blobsUnreferenced, c.countUnreferenced)
	checkValues(c, usageBucket, countersFields)
	checkValues(c, usageByDay, countersFields)
	c.inBucket(bodiesBucket, c.checkBodies)
	c.inBucket(auditBucket, c.checkLog)
}

// checkBodies reads and recounts all inline bodies. The rules of the repository check that each
// belongs to a resource.
func (c *checker) checkBodies() {
	var counted metadata.BodyCount
	for key, record := range c.t.walk(bodiesBucket, span{}) {
		if c.ended() != nil {
			return
		}
		if _, ok := splitVersionKey(key); !ok {
			c.violation(bodiesBucket, key, "its key is not the key of a body")
		}
		_, err := unseal(key, record, bodyFields)
		c.failed(bodiesBucket, key, err)
		counted.Bodies++
		counted.Bytes += bodyBytes(record)
	}
	if total, err := (inlineBodies{c.t}).Total(); err == nil && total != counted {
		c.violation(bodiesBucket, nil, "there are %+v, and %s says %+v", counted, metaBucket, total)
	}
}

// checkLog reads all entries of the audit log, which are numbered without a gap. The rules of the
// repository check the hashes of the entries.
func (c *checker) checkLog() {
	next, log := uint64(0), auditLog{c.t}
	for key := range c.t.walk(auditBucket, span{}) {
		if c.ended() != nil {
			return
		}
		if number, ok := splitEntryKey(key); !ok || number != next {
			c.violation(auditBucket, key, "it is not entry %d, which is missing", next)
			return
		}
		_, err := log.Get(next)
		c.failed(auditBucket, key, err)
		next++
	}
	if state, err := log.State(); err == nil && state.Size != next {
		c.violation(auditBucket, nil, "there are %d entries, and %s says %d", next, metaBucket, state.Size)
	}
}

// countUnreferenced recounts the unreferenced blobs.
func (c *checker) countUnreferenced() {
	var counted metadata.BlobCount
	for row, err := range unreferencedTable.all(c.t, span{}) {
		if err != nil {
			return // checkTable reports it
		}
		counted.Blobs++
		counted.Bytes += row.Bytes
	}
	if total, err := unreferencedTotal(c.t); err == nil && total != counted {
		c.violation(blobsUnreferenced, nil, "there are %+v, and %s says %+v", counted, metaBucket, total)
	}
}

// inBucket runs fn, which checks a bucket, and reports its error or fault.
func (c *checker) inBucket(b Bucket, fn func()) {
	c.failed(b, nil, c.guard(func() error { fn(); return c.t.failed }))
	c.t.failed = nil
}

func (c *checker) failed(b Bucket, key []byte, err error) {
	if err != nil {
		c.violation(b, key, "%v", err)
	}
}

func (c *checker) violation(b Bucket, key []byte, format string, args ...any) {
	c.report(metadata.Violation{Part: metadata.PartRows, Kind: b.String(), ID: keyText(key), Wrong: fmt.Sprintf(format, args...)})
}

// check verifies the rows of the table and the entries of its indexes.
func (tb *table[K, T]) check(c *checker) {
	c.inBucket(tb.bucket, func() { checkRows(c, tb) })
	for _, index := range tb.indexes {
		c.inBucket(index.bucket, func() { checkIndex(c, tb, index) })
	}
}

func checkRows[K comparable, T any](c *checker, tb *table[K, T]) {
	for key, record := range c.t.walk(tb.bucket, span{}) {
		if c.ended() != nil {
			return
		}
		row, err := tb.decode(key, record)
		if err != nil {
			c.violation(tb.bucket, key, "%v", err)
			continue
		}
		if tb.changed != nil {
			if stamp := tb.changed(row); stamp > c.last {
				c.violation(tb.bucket, key, "its stamp %d is later than the last one given out, %d", stamp, c.last)
			}
		}
		if tb.entries == nil {
			continue
		}
		for _, e := range tb.entries(row) {
			switch value := c.t.get(e.bucket, e.key); {
			case value == nil:
				c.violation(tb.bucket, key, "its entry %x in %s is missing", e.key, e.bucket)
			case !bytes.Equal(value, e.value):
				c.violation(tb.bucket, key, "its entry %x in %s is %x, not %x", e.key, e.bucket, value, e.value)
			}
		}
	}
}

// checkIndex reports entries that belong to no row.
func checkIndex[K comparable, T any](c *checker, tb *table[K, T], in index) {
	for key, value := range c.t.walk(in.bucket, span{}) {
		if c.ended() != nil {
			return
		}
		row, err := tb.get(c.t, in.owner(key, value))
		if err != nil {
			c.violation(in.bucket, key, "%v", err)
			continue
		}
		if !slices.ContainsFunc(tb.entries(row), entry{in.bucket, key, value}.equal) {
			c.violation(in.bucket, key, "the row that it points to has no such entry")
		}
	}
}

// checkRefs reports references that belong to no row. The rules of the repository find a reference
// that a former version and a resource share, since one of them then has an impossible number.
func (c *checker) checkRefs() {
	for key, value := range c.t.walk(blobRefs, span{}) {
		if c.ended() != nil {
			return
		}
		if has, err := c.t.referred(entry{blobRefs, key, value}, BucketCount); err != nil {
			c.violation(blobRefs, key, "%v", err)
		} else if !has {
			c.violation(blobRefs, key, "the resource or version that it points to does not refer to this blob")
		}
	}
}

func checkValues[T any](c *checker, b Bucket, fields func(*codec, *T)) {
	c.inBucket(b, func() {
		for key, record := range c.t.walk(b, span{}) {
			_, err := unseal(key, record, fields)
			c.failed(b, key, err)
		}
	})
}
