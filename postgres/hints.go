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

// An operation first runs without the lock of a commit, to learn what it reads. Its changes and its
// result are discarded. The commit then requests everything that its operations read in the round
// trip that acquires the lock, and mostly nothing is missing. The first run may read outdated
// values, and therefore other keys than the real run. The real run reads the missing keys under the
// lock. For this reason the first run has no access version.

// The bounds of hints.
const (
	mostHints = 1 << 15
	mostHint  = 1 << 10 // bytes of a value
)

// hints are the latest values that this node has seen. They are safe for concurrent use.
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
	h.values[at] = bytes.Clone(value) // a separate copy, not the memory of the whole answer
}

// learning records the reads of an operation's first run.
type learning struct {
	hints *hints
	begun string // beginning of ids created since its start
	learnt
}

// learnt contains the places and ranges that an operation reads. grows contains the growing buckets
// in which a place was empty; the next run will look there for another new id.
type learnt struct {
	places map[place]bool
	ranges map[keyRange]int // number of pairs
	grows  map[tables.Bucket]bool
}

func newLearnt() learnt {
	return learnt{places: map[place]bool{}, ranges: map[keyRange]int{}, grows: map[tables.Bucket]bool{}}
}

// guess returns the most likely value of a place. For an id that the run has created itself, it
// returns nil.
func (l *learning) guess(at place) ([]byte, bool) {
	value, ok := l.hints.value(at)
	return value, ok || l.made(at)
}

// made reports whether the key of a place begins with an id that the run has created.
func (l *learning) made(at place) bool { return at.bucket.Fill() == 1 && at.key >= l.begun }

func (l *learning) read(at place, value []byte) {
	if !l.made(at) { // others are not requested again
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
		most += 4 // more may have been added in the meantime
	}
	l.ranges[of] = max(l.ranges[of], most)
}

// add adds the reads of another operation.
func (l *learnt) add(other learnt) {
	maps.Copy(l.places, other.places)
	for of, most := range other.ranges {
		l.ranges[of] = max(l.ranges[of], most)
	}
	maps.Copy(l.grows, other.grows)
}

// question returns a question for all recorded places and ranges.
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
	defer func() { _ = recover() }() // including panics of fn, which will recur in the real run
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
