package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/metadata"
)

func txTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"a view returns the error of its function":         testViewError,
		"the clock goes back, stamps do not":               testClock,
		"a read transaction cannot write":                  testReadOnly,
		"a context ends an update until the function runs": testContext,
		"a context ends an update while another one runs":  testContextInQueue,
		"a view sees one state while writers commit":       testSnapshot,
		"every view sees whole commits":                    testAtomicCommits,
		"concurrent updates are applied one by one":        testConcurrentUpdates,
		"a closed store refuses transactions":              testClosed,
		"close waits for a view":                           testCloseWaits,
		"acknowledged updates exist after close":           testCloseUnderWriters,
	}
}

var errOnPurpose = errors.New("on purpose")

func testViewError(t *testing.T, s *store) {
	fails := func(*metadata.Tx) error { return errOnPurpose }
	isError(t, "View", s.View(t.Context(), fails), errOnPurpose)
	isError(t, "ViewDurable", s.ViewDurable(t.Context(), fails), errOnPurpose)
}

func testReadOnly(t *testing.T, s *store) {
	rows := filledRows(false)
	writes := map[string]func(*metadata.Tx) error{
		"Stamp": func(tx *metadata.Tx) error { tx.Stamp(); return nil },
		"Now":   func(tx *metadata.Tx) error { tx.Now(); return nil },
	}
	for _, row := range rows {
		n := nounOf(row)
		writes["put in "+n.name] = func(tx *metadata.Tx) error { return n.put(tx, row) }
		if n.remove != nil {
			writes["remove from "+n.name] = func(tx *metadata.Tx) error { return n.remove(tx, row) }
		}
	}
	for in, run := range map[string]func(context.Context, func(*metadata.Tx) error) error{"View": s.View, "ViewDurable": s.ViewDurable} {
		for name, write := range writes {
			err := run(t.Context(), func(tx *metadata.Tx) error {
				if !panics(func() { _ = write(tx) }) {
					return fmt.Errorf("%s in %s does not panic", name, in)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	same(t, "the content of the store", view(t, s, read(probeOf(rows...))), map[string]any{})
	s.put(t, rows...)
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func testContext(t *testing.T, s *store) {
	ended, end := context.WithCancel(t.Context())
	end()
	var ran atomic.Bool
	for range 1000 { // a select over the context and the queue may choose either
		err := s.Update(ended, func(tx *metadata.Tx) error {
			ran.Store(true)
			return put(tx, filled[metadata.User](false))
		})
		isError(t, "update with an ended context", err, context.Canceled)
	}
	if ran.Load() {
		t.Error("the function ran, although the context had ended")
	}
	users := func(tx *metadata.Tx) ([]metadata.User, error) { return list(tx.Users.All(metadata.ID{})) }
	same(t, "users", view(t, s, users), nil)

	ends, end := context.WithCancel(t.Context())
	defer end()
	err := s.Update(ends, func(tx *metadata.Tx) error {
		end()
		return put(tx, filled[metadata.User](false))
	})
	if err != nil {
		t.Errorf("update whose context ended while the function ran: %v", err)
	}
	same(t, "users", view(t, s, users), []metadata.User{filled[metadata.User](false)})
}

func testContextInQueue(t *testing.T, s *store) {
	background := context.WithoutCancel(t.Context())
	inside, release := make(chan struct{}), make(chan struct{})
	enter := sync.OnceFunc(func() { close(inside) })
	var group sync.WaitGroup
	group.Go(func() {
		err := s.Update(background, func(*metadata.Tx) error {
			enter()
			<-release
			return nil
		})
		isError(t, "the update that runs", err, nil)
	})
	<-inside
	waits := waited{make(chan struct{}), make(chan struct{}, 100)}
	for range 3 {
		group.Go(func() {
			err := s.Update(waits, func(*metadata.Tx) error {
				if waits.Err() != nil {
					t.Error("the function ran after the context had ended")
				}
				return nil
			})
			isError(t, "an update that waits", err, context.Canceled)
		})
	}
	for range 3 {
		<-waits.waiting
	}
	close(waits.ended)
	err := s.Update(&endsOnceAsked{waited: waited{make(chan struct{}), nil}}, func(*metadata.Tx) error {
		t.Error("the function ran, although the context had ended before")
		return nil
	})
	isError(t, "an update whose context ends once it has been asked", err, context.Canceled)
	close(release)
	group.Wait()
}

// waited is a context that reports when a caller waits for its end.
type waited struct{ ended, waiting chan struct{} }

func (w waited) Deadline() (at time.Time, ok bool) { return at, false }

func (w waited) Value(any) any { return nil }

func (w waited) Done() <-chan struct{} {
	w.waiting <- struct{}{}
	return w.ended
}

func (w waited) Err() error {
	select {
	case <-w.ended:
		return context.Canceled
	default:
		return nil
	}
}

// endsOnceAsked is a context that ends after the first call that checks it.
type endsOnceAsked struct {
	waited
	once sync.Once
}

func (e *endsOnceAsked) Done() <-chan struct{} {
	e.once.Do(func() { close(e.ended) })
	return e.ended
}

func (e *endsOnceAsked) Err() error {
	err := e.waited.Err()
	e.once.Do(func() { close(e.ended) })
	return err
}

func testClosed(t *testing.T, s *store) {
	s.stamp(t)
	closed := s.Store
	s.stop(t)
	for name, run := range map[string]func(context.Context, func(*metadata.Tx) error) error{
		"View": closed.View, "ViewDurable": closed.ViewDurable, "Update": closed.Update, "UpdateBackground": closed.UpdateBackground,
	} {
		err := run(t.Context(), func(*metadata.Tx) error {
			t.Errorf("%s ran after Close", name)
			return nil
		})
		isError(t, name+" after Close", err, metadata.ErrClosed)
	}
}

// testCloseWaits knows that Close has begun when updates are refused, because no other event shows
// it.
func testCloseWaits(t *testing.T, s *store) {
	rows := filledRows(false)
	s.put(t, rows...)
	inside, release, viewed, closed := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	store := s.Store
	s.Store = nil // closed below
	background := context.WithoutCancel(t.Context())
	go func() {
		viewed <- store.View(background, func(tx *metadata.Tx) error {
			close(inside)
			<-release
			return found(tx, rows)
		})
	}()
	<-inside
	go func() { closed <- store.Close() }()
	for refused := 0; refused < 1000; { // by then, a Close that does not wait would have returned
		if err := store.Update(background, func(*metadata.Tx) error { return nil }); err != nil {
			isError(t, "an update during Close", err, metadata.ErrClosed)
			refused++
		}
	}
	select {
	case err := <-closed:
		t.Errorf("Close returned %v during a view", err)
		closed <- nil
	default:
	}
	close(release)
	if err := errors.Join(<-viewed, <-closed); err != nil {
		t.Errorf("a view during Close, and Close: %v", err)
	}
}

// testClock tests that Now returns the clock, even if it is behind the last stamp.
func testClock(t *testing.T, s *store) {
	last := s.stamp(t)
	s.clock.move(-time.Hour)
	s.update(t, func(tx *metadata.Tx) error {
		if now, want := tx.Now(), metadata.Stamp(s.clock.now().UnixMicro()); now != want {
			return fmt.Errorf("now is %d, want %d", now, want)
		}
		if next := tx.Stamp(); next <= last {
			return fmt.Errorf("stamp %d follows %d", next, last)
		}
		return nil
	})
}
