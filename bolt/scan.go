package bolt

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"labshelf/repository"
)

// listing is a number of spans of one index, merged into one order. Everything that decides what is in it is in the bounds of
// the spans: nothing is read to be thrown away. It costs one step, backwards two, for each span, and one for each item but
// the last.
type listing struct {
	index     bucket
	spans     []span
	backwards bool
}

// ids yields the ids at the end of the keys, in the order of what follows the scopes. A step is taken when the item after it
// is asked for.
func (l listing) ids(t *tx) iter.Seq2[repository.ID, error] {
	return func(yield func(repository.ID, error) bool) {
		heads := l.start(t)
		for len(heads.list) > 0 {
			first := heads.list[0]
			id, ok := trailingID(first.key)
			if !ok {
				yield(id, damagedIndex(l.index, first.key))
				return
			}
			if !yield(id, nil) {
				return
			}
			if first.advance(t, l); first.key == nil {
				heap.Pop(heads)
				continue
			}
			heap.Fix(heads, 0)
		}
	}
}

func (l listing) start(t *tx) *heads {
	heads := &heads{backwards: l.backwards}
	for _, s := range l.spans {
		if s.empty() {
			continue
		}
		h := &head{cursor: t.bucket(l.index).Cursor(), span: s}
		if h.enter(t, l); h.key != nil {
			heads.list = append(heads.list, h)
		}
	}
	heap.Init(heads)
	return heads
}

// head is where a listing stands in one of its spans.
type head struct {
	cursor *bbolt.Cursor
	span   span
	key    []byte // nil at the end
}

func (h *head) enter(t *tx, l listing) {
	t.counts.index++
	if !l.backwards {
		key, _ := h.cursor.Seek(h.span.lo)
		h.at(key)
		return
	}
	h.cursor.Seek(h.span.hi)
	h.key = h.span.hi
	h.advance(t, l)
}

func (h *head) advance(t *tx, l listing) {
	t.counts.index++
	var key []byte
	if l.backwards {
		key = previous(t, h.cursor, h.key)
	} else {
		key, _ = h.cursor.Next()
	}
	if t.disordered(l.index, h.key, key, l.backwards) {
		key = nil
	}
	h.at(key)
}

func (h *head) at(key []byte) {
	if h.key = nil; h.span.holds(key) {
		h.key = key
	}
}

// previous moves the cursor to the last key before the given one, at which it stands, and returns that key. In a write
// transaction bbolt's Prev also returns nil at a page that the transaction has emptied: then there may be more before it.
func previous(t *tx, c *bbolt.Cursor, before []byte) []byte {
	key, _ := c.Prev()
	if key != nil || !t.bolt.Writable() {
		return key
	}
	if first, _ := c.First(); first == nil || bytes.Compare(first, before) >= 0 {
		return nil
	}
	for c.Seek(before); key == nil; {
		key, _ = c.Prev()
	}
	return key
}

// heads is a heap whose first element has the next item. The orders of all spans compare as bytes.
type heads struct {
	list      []*head
	backwards bool
}

func (h *heads) Len() int { return len(h.list) }

func (h *heads) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	order := bytes.Compare(a.key[a.span.scope:], b.key[b.span.scope:])
	return order < 0 != h.backwards
}

func (h *heads) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

func (h *heads) Push(x any) { h.list = append(h.list, x.(*head)) }

func (h *heads) Pop() any {
	last := len(h.list) - 1
	x := h.list[last]
	h.list = h.list[:last]
	return x
}

// rows yields the rows of a listing.
func rows[T any](t *tx, tb *table[T], l listing) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		follower := &follower{cursor: t.bucket(tb.bucket).Cursor(), backwards: l.backwards}
		for id, err := range l.ids(t) {
			var row T
			if err == nil {
				row, err = read(t, tb, follower, idKey(id))
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func read[T any](t *tx, tb *table[T], f *follower, key []byte) (row T, err error) {
	record := f.find(t, key)
	if record == nil {
		return row, fmt.Errorf("bolt: %s %x is in an index only: %w", tb.bucket, key, repository.ErrRecordDamaged)
	}
	t.counts.records++
	return tb.at(key, record)
}

// follower is a cursor over records that moves beside a listing. Ids grow with stamps, so the record wanted next is mostly the
// next one: a quarter of the time of a search for each.
type follower struct {
	cursor    *bbolt.Cursor
	backwards bool
	begun     bool
}

func (f *follower) find(t *tx, wanted []byte) []byte {
	var key, record []byte
	if f.begun {
		t.counts.recordSteps++
		if f.backwards {
			key, record = f.cursor.Prev()
		} else {
			key, record = f.cursor.Next()
		}
	}
	if !f.begun || !bytes.Equal(key, wanted) {
		t.counts.recordSteps++
		key, record = f.cursor.Seek(wanted)
	}
	f.begun = true
	if !bytes.Equal(key, wanted) {
		return nil
	}
	return record
}

// failing is a sequence of one error.
func failing[T any](text string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, errors.New("bolt: "+text))
	}
}
