package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"labshelf/repository"
)

// Inspect implements repository.Keeping. It compares every row with its checksum and its entries in the indexes, every entry
// with its row, and the stamps with the last one given out.
func (s *Store) Inspect(ctx context.Context, report func(repository.Violation)) error {
	_, err := s.read(ctx, func(t *tx) error {
		last, err := metaRow(t, lastStampRow, lastStampFields)
		if err != nil {
			return err
		}
		c := &checker{t: t, ended: ctx.Err, report: report, last: last}
		c.run()
		return ctx.Err()
	})
	return err
}

// checker is one run of Check.
type checker struct {
	t      *tx
	ended  func() error
	report func(repository.Violation)
	last   repository.Stamp
}

func (c *checker) run() {
	checkTable(c, &dataspaceTable, func(d repository.Dataspace) repository.Stamp { return d.Modified })
	checkTable(c, &setTable, func(s repository.Set) repository.Stamp { return s.Modified })
	checkTable(c, &resourceTable, func(r repository.Resource) repository.Stamp { return r.Modified })
	checkTable(c, &userTable, func(u repository.User) repository.Stamp { return u.Modified })
	checkTable(c, &keyTable, func(k repository.Key) repository.Stamp { return k.Created })
	checkTable(c, &privilegeTable, func(p repository.Privilege) repository.Stamp { return p.Modified })
	checkTable(c, &stepTable, func(s repository.Step) repository.Stamp { return s.Begun })
	checkValues(c, usageBucket, countersFields)
	checkValues(c, usageByDay, countersFields)
	checkTable(c, &damageTable, func(repository.Damage) repository.Stamp { return 0 }) // Found may be the clock's
	checkValues(c, blobsBucket, sizeFields)
	if _, err := (scrub{c.t}).Get(); err != nil {
		c.found(metaBucket, nameKey(scrubRow), "%v", err)
	}
}

func (c *checker) found(b bucket, key []byte, format string, args ...any) {
	c.report(repository.Violation{Part: repository.PartRows, Kind: b.String(), ID: keyText(key), Wrong: fmt.Sprintf(format, args...)})
}

func checkTable[T any](c *checker, tb *table[T], changed func(T) repository.Stamp) {
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
			if value := c.t.get(e.bucket, e.key); value == nil || !bytes.Equal(value, e.value) {
				c.found(tb.bucket, key, "its entry %x in %s is %x, not %x", e.key, e.bucket, value, e.value)
			}
		}
	}
	for _, index := range tb.indexes {
		checkIndex(c, tb, index)
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
	for key, record := range c.t.walk(b, span{}) {
		if _, err := unseal(key, record, fields); err != nil {
			c.found(b, key, "%v", err)
		}
	}
}
