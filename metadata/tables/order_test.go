package tables

import (
	"bytes"
	"errors"
	"testing"

	"labshelf/metadata"
)

// disordered is an engine whose cursors return the first key again after the third one.
type disordered struct{ *memory }

func (d disordered) Cursor(b Bucket, backwards bool) Cursor {
	return &disorderedCursor{Cursor: d.memory.Cursor(b, backwards)}
}

type disorderedCursor struct {
	Cursor
	first []byte
	steps int
}

func (c *disorderedCursor) Seek(lo, hi []byte) (key, value []byte) {
	key, value = c.Cursor.Seek(lo, hi)
	c.first = bytes.Clone(key)
	return key, value
}

func (c *disorderedCursor) Next() (key, value []byte) {
	if c.steps++; c.steps == 3 {
		return c.first, nil
	}
	return c.Cursor.Next()
}

// TestKeysOutOfOrder tests that an operation that reads keys out of order fails, even if it ignores
// errors. The rows are complete and have valid checksums, but they come twice or too early.
func TestKeysOutOfOrder(t *testing.T) {
	t.Parallel()
	s := newMemory(t)
	for id := byte(1); id < 9; id++ {
		if err := s.bucket(setsByState).Put(append([]byte{1}, bytes.Repeat([]byte{id}, idSize)...), nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, list := range map[string]func(*Tx){
		"keys":      func(tx *Tx) { tx.walk(setsByState, span{})(func(_, _ []byte) bool { return true }) },
		"a listing": func(tx *Tx) { _ = last(listing{index: setsByState, spans: []span{scopeSpan([]byte{1})}}.ids(tx)) },
		"a listing, backwards": func(tx *Tx) {
			_ = last(listing{index: setsByState, spans: []span{scopeSpan([]byte{1})}, backwards: true}.ids(tx))
		},
	} {
		tx := Read(disordered{s}, 0)
		if list(tx); !errors.Is(tx.Failed(), metadata.ErrRecordDamaged) {
			t.Errorf("%s: %v", name, tx.Failed())
		}
		tx = Read(s, 0)
		if list(tx); tx.Failed() != nil {
			t.Errorf("%s with an engine in order: %v", name, tx.Failed())
		}
	}
}
