package postgres

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// An operation runs first without the lock of a commit, to learn what it reads: what it changes and
// returns does not count. Then the commit asks for all that its operations read in the round trip
// that takes the lock, and mostly none is left. What the first run reads may be out of date: then
// it may have read something else, and the rest is read under the lock. It therefore knows no
// access version.

// The bounds of what hints keep.
const (
	mostHints = 1 << 15
	mostHint  = 1 << 10 // bytes of a value
)

// hints are values as this node saw them last. They are safe for concurrent use.
type hints struct {
	mu     sync.Mutex
	values map[place][]byte
}

func (h *hints) value(at place) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, ok := h.values[at]
	return value, ok
}

func (h *hints) note(at place, value []byte) {
	if len(value) > mostHint || len(at.key) > mostHint {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.values) >= mostHints {
		clear(h.values)
	}
	h.values[at] = bytes.Clone(value) // alone, and not with all that came beside it
}

// learning is what the first run of an operation reads.
type learning struct {
	hints *hints
	begun string // what ids begin with that are made since it began
	learnt
}

// learnt is the places and ranges that an operation reads, and the growing buckets in which it
// found nothing at a place: it will look there for another new id.
type learnt struct {
	places map[place]bool
	ranges map[keyRange]int // how many pairs
	grows  map[tables.Bucket]bool
}

func newLearnt() learnt {
	return learnt{places: map[place]bool{}, ranges: map[keyRange]int{}, grows: map[tables.Bucket]bool{}}
}

// guess returns what is at a place most likely: under an id that the run has made itself there is
// nothing.
func (l *learning) guess(at place) ([]byte, bool) {
	value, ok := l.hints.value(at)
	return value, ok || l.made(at)
}

// made tells whether the key of a place begins with an id that the run has made.
func (l *learning) made(at place) bool { return at.bucket.Fill() == 1 && at.key >= l.begun }

func (l *learning) read(at place, value []byte) {
	if !l.made(at) { // else nobody asks again
		l.hints.note(at, value)
	}
	if value == nil && at.bucket.Fill() == 1 {
		l.grows[at.bucket] = true
	}
	l.places[at] = true
}

func (l *learning) readRange(of keyRange, answer found) {
	most := len(answer.pairs)
	if answer.complete {
		most += 4 // others may have come meanwhile
	}
	l.ranges[of] = max(l.ranges[of], most)
}

// add adds what another operation reads.
func (l *learnt) add(other learnt) {
	maps.Copy(l.places, other.places)
	for of, most := range other.ranges {
		l.ranges[of] = max(l.ranges[of], most)
	}
	maps.Copy(l.grows, other.grows)
}

// question asks for all of it.
func (l *learnt) question() *question {
	q := &question{places: slices.Collect(maps.Keys(l.places)), last: slices.Collect(maps.Keys(l.grows))}
	for of, most := range l.ranges {
		q.ranges, q.most = append(q.ranges, of), append(q.most, most)
	}
	return q
}

// learn runs an operation for the first time.
func (s *Store) learn(ctx context.Context, fn func(*metadata.Tx) error) (all learnt) {
	now := metadata.NewID(metadata.Stamp(s.Now().UnixMicro()))
	l := &learning{hints: &s.hints, begun: string(now[:6]), learnt: newLearnt()} // the milliseconds of the id
	all = l.learnt
	r := &reader{known: newKnown(), learns: l}
	r.ask = func(q *question) {
		if err := s.askOutside(ctx, q, r); err != nil {
			panic(failure{err})
		}
	}
	defer func() { _ = recover() }() // also of fn's own, which will do the same when it counts
	k := &kv{reader: r, writes: &writes{}, store: s}
	before, err := tables.ReadState(k)
	if err != nil {
		return all
	}
	tx := tables.Write(k, before, 0, s.Now)
	tx.Begin()
	_ = fn(tx.Contract())
	return all
}
