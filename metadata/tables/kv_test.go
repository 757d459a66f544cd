package tables

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"labshelf/metadata"
)

// memory is an engine for one reader or writer at a time. Tests change its rows directly.
type memory struct {
	buckets [BucketCount]*mapBucket
	state   State
}

// newMemory returns an engine without rows.
func newMemory(t *testing.T) *memory {
	t.Helper()
	m := &memory{}
	if err := Initialize(m, m, time.Now); err != nil {
		t.Fatal(err)
	}
	header, err := ReadHeader(m)
	if err != nil {
		t.Fatal(err)
	}
	m.state = header.State
	return m
}

func (m *memory) View(_ context.Context, fn func(*metadata.Tx) error) error {
	tx := Read(m, 1)
	return errors.Join(fn(tx.Contract()), tx.Failed())
}

// Update has no rollback: an operation that fails after it wrote fails the test.
func (m *memory) Update(_ context.Context, fn func(*metadata.Tx) error) error {
	tx := Write(m, m.state, 1, time.Now)
	end := tx.Begin()
	spoiled, err := end(fn(tx.Contract()))
	if spoiled {
		panic(err)
	}
	if err == nil {
		err = tx.Finish(m.state)
		m.state = tx.State()
	}
	return err
}

// Inspect calls Check.
func (m *memory) Inspect(ctx context.Context, report func(metadata.Violation)) error {
	Check(m, ctx.Err, func(fn func() error) error { return fn() }, report)
	return ctx.Err()
}

// checkIntegrity reports all violations in the tables.
func checkIntegrity(t *testing.T, m *memory) {
	t.Helper()
	if err := m.Inspect(t.Context(), func(v metadata.Violation) { t.Errorf("violation: %v", v) }); err != nil {
		t.Error(err)
	}
}

// behind changes keys and values directly.
func behind(t *testing.T, change func() error) {
	t.Helper()
	if err := change(); err != nil {
		t.Fatal(err)
	}
}

func (m *memory) bucket(b Bucket) *mapBucket { return m.buckets[b] }

func (m *memory) CreateBucket(b Bucket) error { m.buckets[b] = &mapBucket{}; return nil }

func (m *memory) DeleteBucket(b Bucket) error { m.buckets[b] = nil; return nil }

func (m *memory) Get(b Bucket, key []byte) []byte {
	if m.buckets[b] == nil {
		return nil
	}
	return m.buckets[b].Get(key)
}

func (m *memory) Put(b Bucket, key, value []byte) error { return m.buckets[b].Put(key, value) }

func (m *memory) Delete(b Bucket, key []byte) error { return m.buckets[b].Delete(key) }

func (m *memory) Cursor(b Bucket, backwards bool) Cursor {
	if m.buckets[b] == nil {
		return nil
	}
	return &mapCursor{in: m.buckets[b], backwards: backwards}
}

func (m *memory) Records(b Bucket, _ bool) func(key []byte) []byte {
	if m.buckets[b] == nil {
		return nil
	}
	return m.buckets[b].Get
}

// mapBucket contains the keys and values of a bucket in order.
type mapBucket struct{ rows [][2][]byte }

func (b *mapBucket) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(b.rows, key, func(row [2][]byte, key []byte) int { return bytes.Compare(row[0], key) })
}

func (b *mapBucket) Get(key []byte) []byte {
	if i, ok := b.find(key); ok {
		return b.rows[i][1]
	}
	return nil
}

func (b *mapBucket) Put(key, value []byte) error {
	i, ok := b.find(key)
	row := [2][]byte{bytes.Clone(key), append([]byte{}, value...)}
	if ok {
		b.rows[i] = row
	} else {
		b.rows = slices.Insert(b.rows, i, row)
	}
	return nil
}

func (b *mapBucket) Delete(key []byte) error {
	if i, ok := b.find(key); ok {
		b.rows = slices.Delete(b.rows, i, i+1)
	}
	return nil
}

func (b *mapBucket) first() (key, value []byte) { return b.seek(nil) }

func (b *mapBucket) seek(lo []byte) (key, value []byte) {
	i, _ := b.find(lo)
	return b.at(i)
}

func (b *mapBucket) at(i int) (key, value []byte) {
	if i < 0 || i >= len(b.rows) {
		return nil, nil
	}
	return b.rows[i][0], b.rows[i][1]
}

// mapCursor is at a key. The key may be removed while the cursor is there, as in checks and
// migrations.
type mapCursor struct {
	in        *mapBucket
	backwards bool
	key       []byte
}

func (c *mapCursor) Seek(lo, hi []byte) (key, value []byte) {
	if !c.backwards {
		return c.stand(c.in.seek(lo))
	}
	if hi == nil {
		return c.stand(c.in.at(len(c.in.rows) - 1))
	}
	c.key = hi
	return c.Next()
}

func (c *mapCursor) Next() (key, value []byte) {
	i, found := c.in.find(c.key)
	switch {
	case c.backwards:
		i--
	case found:
		i++
	}
	return c.stand(c.in.at(i))
}

func (c *mapCursor) stand(key, value []byte) ([]byte, []byte) {
	c.key = key
	return key, value
}
