package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

func txTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"an update that fails changes nothing":           testFailure,
		"an update behind is an update":                  testBehind,
		"a view returns the error of its function":       testViewError,
		"a read transaction cannot write":                testReadOnly,
		"a context counts until the function runs":       testContext,
		"a context counts while another update runs":     testContextInQueue,
		"a view sees one state while writers commit":     testSnapshot,
		"every view sees whole commits":                  testWholeCommits,
		"concurrent updates are applied one by one":      testConcurrentUpdates,
		"a closed store refuses transactions":            testClosed,
		"close waits for a view":                         testCloseWaits,
		"what an update answered before close was there": testCloseUnderWriters,
	}
}

var errOnPurpose = errors.New("on purpose")

func testFailure(t *testing.T, s *store) {
	rows, others := filledRows(false), filledRows(true)
	asked := probeOf(append(rows, others...)...)
	before := view(t, s, read(asked))
	for _, when := range []string{"empty", "with rows"} {
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			tx.Stamp()
			err := errors.Join(putAll(tx, rows), putAll(tx, others), tx.Steps.Remove(rows[6].(metadata.Step).Container))
			return errors.Join(err, fmt.Errorf("wrapped: %w", errOnPurpose))
		})
		isError(t, "update", err, errOnPurpose)
		same(t, "a store "+when+" after a failed update", view(t, s, read(asked)), before)
		s.reopen(t)
		same(t, "a store "+when+" after a failed update, opened again", view(t, s, read(asked)), before)
		s.put(t, rows...)
		before = view(t, s, read(asked))
	}
}

// testBehind does not tell when an update that gives way is carried out, only that it is one.
func testBehind(t *testing.T, s *store) {
	rows := filledRows(false)
	err := s.UpdateBehind(t.Context(), func(tx *metadata.Tx) error { return errors.Join(putAll(tx, rows), errOnPurpose) })
	isError(t, "an update that fails", err, errOnPurpose)
	same(t, "what is in the store", view(t, s, read(probeOf(rows...))), map[string]any{})
	isError(t, "an update", s.UpdateBehind(t.Context(), func(tx *metadata.Tx) error { return putAll(tx, rows) }), nil)
	ended, end := context.WithCancel(t.Context())
	end()
	err = s.UpdateBehind(ended, func(tx *metadata.Tx) error { return tx.Steps.Remove(rows[6].(metadata.Step).Container) })
	isError(t, "an update with an ended context", err, context.Canceled)
	s.reopen(t)
	isError(t, "what is in the store, opened again", s.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) }), nil)
}

func testViewError(t *testing.T, s *store) {
	fails := func(*metadata.Tx) error { return errOnPurpose }
	isError(t, "View", s.View(t.Context(), fails), errOnPurpose)
	isError(t, "ViewDurable", s.ViewDurable(t.Context(), fails), errOnPurpose)
}

func testReadOnly(t *testing.T, s *store) {
	rows := filledRows(false)
	writes := map[string]func(*metadata.Tx) error{
		"Stamp":        func(tx *metadata.Tx) error { tx.Stamp(); return nil },
		"Steps.Remove": func(tx *metadata.Tx) error { return tx.Steps.Remove(id(1)) },
		"Sessions.Remove": func(tx *metadata.Tx) error {
			return tx.Sessions.Remove(id(1), auth.SessionDigest{})
		},
		"Blobs.Remove":        func(tx *metadata.Tx) error { return tx.Blobs.Remove(blobs.Digest{}) },
		"Damages.Remove":      func(tx *metadata.Tx) error { return tx.Damages.Remove(blobs.Digest{}) },
		"Unreferenced.Remove": func(tx *metadata.Tx) error { return tx.Unreferenced.Remove(blobs.Digest{}) },
	}
	for _, row := range rows {
		writes[fmt.Sprintf("put %T", row)] = func(tx *metadata.Tx) error { return put(tx, row) }
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
	same(t, "what is in the store", view(t, s, read(probeOf(rows...))), map[string]any{})
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
	for range 1000 { // whoever waits for a context and a turn at once may see either first
		err := s.Update(ended, func(tx *metadata.Tx) error {
			ran.Store(true)
			return put(tx, filled[metadata.User](false))
		})
		isError(t, "update with an ended context", err, context.Canceled)
	}
	if ran.Load() {
		t.Error("the function ran though the context had ended")
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
	waits, end := context.WithCancel(background)
	for range 3 {
		group.Go(func() {
			err := s.Update(waits, func(*metadata.Tx) error {
				t.Error("the function ran after the context had ended")
				return nil
			})
			isError(t, "an update that waits", err, context.Canceled)
		})
	}
	time.Sleep(5 * time.Millisecond) // so that they do wait
	end()
	close(release)
	group.Wait()
}

func testClosed(t *testing.T, s *store) {
	s.stamp(t)
	closed := s.Store
	s.stop(t)
	for name, run := range map[string]func(context.Context, func(*metadata.Tx) error) error{
		"View": closed.View, "ViewDurable": closed.ViewDurable, "Update": closed.Update, "UpdateBehind": closed.UpdateBehind,
	} {
		err := run(t.Context(), func(*metadata.Tx) error {
			t.Errorf("%s ran after Close", name)
			return nil
		})
		isError(t, name+" after Close", err, metadata.ErrClosed)
	}
}

func testCloseWaits(t *testing.T, s *store) {
	rows := filledRows(false)
	s.put(t, rows...)
	var ended atomic.Bool
	inside, viewed := make(chan struct{}), make(chan error)
	store := s.Store
	go func() {
		viewed <- store.View(context.WithoutCancel(t.Context()), func(tx *metadata.Tx) error {
			close(inside)
			time.Sleep(30 * time.Millisecond) // Close is called meanwhile
			err := found(tx, rows)
			ended.Store(true)
			return err
		})
	}()
	<-inside
	s.stop(t)
	if !ended.Load() {
		t.Error("Close returned while a view was under way")
	}
	if err := <-viewed; err != nil {
		t.Errorf("a view during Close: %v", err)
	}
}
