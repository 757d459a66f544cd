package metadatatest

import (
	"errors"
	"iter"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/metadata"
)

// Open opens the store in a directory, and creates it if it is missing. now is the clock, which the
// tests set. The caller closes the store before it opens the directory again.
type Open func(dir string, now func() time.Time) (metadata.Store, error)

// Run tests an implementation against the contract, sentence by sentence. Each test has a separate
// store. The tests run in parallel, and Run returns when all have ended.
func Run(t *testing.T, open Open) {
	t.Run("contract", func(t *testing.T) {
		for _, tests := range []map[string]func(*testing.T, *store){
			rowTests(), finderTests(), rangeTests(), txTests(), snapshotTests(), accessTests(), identityTests(), auditTests(),
		} {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, newStore(t, open))
				})
			}
		}
	})
}

// store is an open store that can be closed and opened again.
type store struct {
	metadata.Store
	clock *clock
	open  Open
	dir   string
}

func newStore(t *testing.T, open Open) *store {
	s := &store{clock: newClock(), open: open, dir: t.TempDir()}
	s.start(t)
	t.Cleanup(func() {
		if s.Store != nil {
			s.stop(t)
		}
	})
	return s
}

func (s *store) start(t *testing.T) {
	t.Helper()
	var err error
	if s.Store, err = s.open(s.dir, s.clock.now); err != nil {
		t.Fatalf("open: %v", err)
	}
}

func (s *store) stop(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	s.Store = nil
}

func (s *store) reopen(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.start(t)
}

// put commits rows.
func (s *store) put(t *testing.T, rows ...any) {
	t.Helper()
	s.update(t, func(tx *metadata.Tx) error { return putAll(tx, rows) })
}

// update commits fn. fn may run in any goroutine, so it returns errors, and never ends the test
// itself.
func (s *store) update(t *testing.T, fn func(*metadata.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// stamp commits only a stamp.
func (s *store) stamp(t *testing.T) (stamp metadata.Stamp) {
	t.Helper()
	s.update(t, func(tx *metadata.Tx) error {
		stamp = tx.Stamp()
		return nil
	})
	return stamp
}

// view returns the result of fn in a read transaction.
func view[T any](t *testing.T, s metadata.Reader, fn func(*metadata.Tx) (T, error)) (answer T) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) (err error) {
		answer, err = fn(tx)
		return err
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	return answer
}

// clock is a clock that advances only when the test moves it.
type clock struct{ micros atomic.Int64 }

// newClock returns a clock at a whole millisecond.
func newClock() *clock {
	c := &clock{}
	c.micros.Store(time.Date(2015, 3, 30, 16, 9, 44, 90e6, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()) }

func (c *clock) move(by time.Duration) { c.micros.Add(by.Microseconds()) }

// list reads a sequence to its end. It returns nil for an empty sequence, and an error if an error
// is not the last element.
func list[T any](seq iter.Seq2[T, error]) (items []T, err error) {
	for item, failed := range seq {
		if err != nil {
			return items, errors.Join(err, errors.New("the sequence continues after its error"))
		}
		if err = failed; err == nil {
			items = append(items, item)
		}
	}
	return items, err
}

// take reads the first items of a sequence.
func take[T any](seq iter.Seq2[T, error], most int) (items []T, err error) {
	for item, err := range seq {
		if err != nil {
			return items, err
		}
		if items = append(items, item); len(items) == most {
			return items, nil
		}
	}
	return items, nil
}

// upTo reads a sequence. most limits the number of items; 0 means all items.
func upTo[T any](most int, seq iter.Seq2[T, error]) ([]T, error) {
	if most == 0 {
		return list(seq)
	}
	return take(seq, most)
}

// mapped calls a function for each item, and returns the results.
func mapped[A, B any](items []A, of func(A) B) []B {
	out := make([]B, 0, len(items))
	for _, item := range items {
		out = append(out, of(item))
	}
	return out
}

// same reports an error if got differs from want. The string of names the values.
func same[T any](t testing.TB, of string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) { // much faster than cmp, which explains the difference
		t.Errorf("%s (-want +got):\n%s", of, cmp.Diff(want, got))
	}
}

// isError reports an error if err is not want.
func isError(t testing.TB, of string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", of, err, want)
	}
}
