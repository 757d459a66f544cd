package bolt

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"labshelf/metadata"
)

// Inspect implements metadata.Store. It goes over all pages, compares every row with its checksum and its entries in the
// indexes, every entry with its row, and the stamps with the last one given out.
//
// The file grows while others write: bbolt uses no page again that the transaction, or a later one, may see. Where much is
// written, a copy (Snapshot) is better inspected than the store.
func (s *Store) Inspect(ctx context.Context, report func(metadata.Violation)) error {
	if err := s.inPlace(); err != nil {
		report(metadata.Violation{Part: metadata.PartPages, Kind: "file", Wrong: err.Error()})
	}
	_, err := s.read(ctx, func(t *tx) error {
		if err := s.inspectPages(ctx, t, report); err != nil {
			return err
		}
		c := &checker{t: t, ended: ctx.Err, report: report, last: math.MaxInt64}
		c.checkMeta()
		c.run()
		return ctx.Err()
	})
	return err
}

// checker is one run of Inspect over the rows. What cannot even be read in one bucket does not keep it from the others.
type checker struct {
	t      *tx
	ended  func() error
	report func(metadata.Violation)
	last   metadata.Stamp
}

// checkMeta looks at the rows of the meta bucket, and learns the last stamp from there.
func (c *checker) checkMeta() {
	c.part(metaBucket, func() {
		version, err := metaRow(c.t, schemaRow, schemaFields)
		c.failed(metaBucket, nameKey(schemaRow), err)
		_, err = metaRow(c.t, secretRow, secretFields)
		c.failed(metaBucket, nameKey(secretRow), err)
		_, err = (scrub{c.t}).Get()
		c.failed(metaBucket, nameKey(scrubRow), err)
		_, err = bodies{c.t}.Total()
		c.failed(metaBucket, nameKey(heldRow), err)
		if version >= epochVersion {
			_, err = metaRow(c.t, epochRow, epochFields)
			c.failed(metaBucket, nameKey(epochRow), err)
		}
		_, err = unreferenced{c.t}.Total()
		c.failed(metaBucket, nameKey(unreferencedRow), err)
		last, err := metaRow(c.t, lastStampRow, lastStampFields)
		if c.failed(metaBucket, nameKey(lastStampRow), err); err == nil {
			c.last = last
		}
		for b := range bucketCount {
			if c.t.bucket(b) == nil && buckets[b].since <= version {
				c.found(b, nil, "there is no such bucket")
			}
		}
	})
}

func (c *checker) run() {
	checkTable(c, &dataspaceTable, func(d metadata.Dataspace) metadata.Stamp { return d.Modified })
	checkTable(c, &setTable, func(s metadata.Set) metadata.Stamp { return s.Modified })
	checkTable(c, &resourceTable, func(r metadata.Resource) metadata.Stamp { return r.Modified })
	checkTable(c, &userTable, func(u metadata.User) metadata.Stamp { return u.Modified })
	checkTable(c, &keyTable, func(k metadata.Key) metadata.Stamp { return k.Created })
	checkTable(c, &sessionTable, func(s metadata.Session) metadata.Stamp { return s.Created })
	checkTable(c, &transferTable, func(t metadata.Transfer) metadata.Stamp { return t.Created })
	checkTable(c, &privilegeTable, func(p metadata.Privilege) metadata.Stamp { return p.Modified })
	checkTable(c, &stepTable, func(s metadata.Step) metadata.Stamp { return s.Begun })
	checkTable(c, &damageTable, func(metadata.Damage) metadata.Stamp { return 0 })             // Found may be the clock's
	checkTable(c, &unreferencedTable, func(metadata.Unreferenced) metadata.Stamp { return 0 }) // may be the clock's
	c.part(blobsUnreferenced, c.countUnreferenced)
	checkValues(c, usageBucket, countersFields)
	checkValues(c, usageByDay, countersFields)
	checkValues(c, blobsBucket, sizeFields)
	c.part(bodiesBucket, c.checkBodies)
}

// checkBodies reads all held bodies, and counts them again. That each belongs to a resource is for the rules.
func (c *checker) checkBodies() {
	var found metadata.BodyCount
	for key, record := range c.t.walk(bodiesBucket, span{}) {
		if c.ended() != nil {
			return
		}
		if _, ok := splitBodyKey(key); !ok {
			c.found(bodiesBucket, key, "its key is none of a body")
		}
		_, err := unseal(key, record, bodyFields)
		c.failed(bodiesBucket, key, err)
		found.Bodies++
		found.Bytes += bodyBytes(record)
	}
	if kept, err := (bodies{c.t}).Total(); err == nil && kept != found {
		c.found(bodiesBucket, nil, "there are %+v, and %s says %+v", found, metaBucket, kept)
	}
}

// countUnreferenced counts the unreferenced blobs again.
func (c *checker) countUnreferenced() {
	var found metadata.BlobCount
	for row, err := range (unreferenced{c.t}).All(nil) {
		if err != nil {
			return // it has been told
		}
		found.Blobs++
		found.Bytes += row.Bytes
	}
	if kept, err := (unreferenced{c.t}).Total(); err == nil && kept != found {
		c.found(blobsUnreferenced, nil, "there are %+v, and %s says %+v", found, metaBucket, kept)
	}
}

// part runs fn, which looks at a bucket.
func (c *checker) part(b bucket, fn func()) {
	c.failed(b, nil, guarded(func() error { fn(); return c.t.failed }))
	c.t.failed = nil
}

func (c *checker) failed(b bucket, key []byte, err error) {
	if err != nil {
		c.found(b, key, "%v", err)
	}
}

func (c *checker) found(b bucket, key []byte, format string, args ...any) {
	c.report(metadata.Violation{Part: metadata.PartRows, Kind: b.String(), ID: keyText(key), Wrong: fmt.Sprintf(format, args...)})
}

func checkTable[T any](c *checker, tb *table[T], changed func(T) metadata.Stamp) {
	c.part(tb.bucket, func() { checkRows(c, tb, changed) })
	for _, index := range tb.indexes {
		c.part(index.bucket, func() { checkIndex(c, tb, index) })
	}
}

func checkRows[T any](c *checker, tb *table[T], changed func(T) metadata.Stamp) {
	for key, record := range c.t.walk(tb.bucket, span{}) {
		if c.ended() != nil {
			return
		}
		row, err := tb.at(key, record)
		if err != nil {
			c.found(tb.bucket, key, "%v", err)
			continue
		}
		if stamp := changed(row); stamp > c.last {
			c.found(tb.bucket, key, "its stamp %d is later than the last one given out, %d", stamp, c.last)
		}
		for _, e := range tb.entries(row) {
			switch value := c.t.get(e.bucket, e.key); {
			case value == nil:
				c.found(tb.bucket, key, "its entry %x in %s is missing", e.key, e.bucket)
			case !bytes.Equal(value, e.value):
				c.found(tb.bucket, key, "its entry %x in %s is %x, not %x", e.key, e.bucket, value, e.value)
			}
		}
	}
}

// checkIndex looks for entries that no row has.
func checkIndex[T any](c *checker, tb *table[T], in index) {
	for key, value := range c.t.walk(in.bucket, span{}) {
		if c.ended() != nil {
			return
		}
		row, err := tb.get(c.t, in.owner(key, value))
		if err != nil {
			c.found(in.bucket, key, "%v", err)
			continue
		}
		if !slices.ContainsFunc(tb.entries(row), entry{in.bucket, key, value}.equal) {
			c.found(in.bucket, key, "the row that it points to has no such entry")
		}
	}
}

func checkValues[T any](c *checker, b bucket, fields func(*codec, *T)) {
	c.part(b, func() {
		for key, record := range c.t.walk(b, span{}) {
			_, err := unseal(key, record, fields)
			c.failed(b, key, err)
		}
	})
}
