package bolt

import (
	"cmp"
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// visibleCommit makes commits of the store visible, and delays their return until release receives
// their result.
func visibleCommit(s *Store) (visible chan struct{}, release chan error) {
	visible, release = make(chan struct{}), make(chan error)
	s.committer.commit = func(tx *bbolt.Tx) error {
		if err := tx.Commit(); err != nil {
			return err
		}
		visible <- struct{}{}
		return <-release
	}
	return visible, release
}

// count stores the number of users that a view sees.
func count(into *int) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		*into = 0
		for _, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			*into++
		}
		return nil
	}
}

// TestViewDurableWaits delays the return of a commit that readers already see.
func TestViewDurableWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		outcome error
		want    error
	}{
		"synced": {nil, nil},
		"failed": {syscall.EIO, metadata.ErrNotDurable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { viewDurableWaits(t, tc.outcome, tc.want) })
		})
	}
}

func viewDurableWaits(t *testing.T, outcome, want error) {
	s := openStore(t)
	visible, release := visibleCommit(s)
	written := make(chan error, 1)
	go func() { written <- s.Update(context.Background(), putUser("anna")) }()
	<-visible

	var seen int
	if err := s.View(t.Context(), count(&seen)); err != nil || seen != 1 {
		t.Errorf("View: %d users, %v", seen, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.ViewDurable(short, count(&seen)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a durable view did not wait: %v", err)
	}
	viewed := make(chan error, 1)
	go func() { viewed <- s.ViewDurable(context.Background(), count(&seen)) }()
	synctest.Wait()
	select {
	case err := <-viewed:
		t.Errorf("a durable view returned before the commit: %v", err)
		viewed <- err
	default:
	}
	release <- outcome
	if err := <-viewed; !errors.Is(err, want) || seen != 1 {
		t.Errorf("a durable view: %d users, %v, want %v", seen, err, want)
	}
	if err := <-written; (err == nil) != (outcome == nil) {
		t.Errorf("the change: %v", err)
	}
	// A result that depends on uncertain data must not be returned.
	nothing := errors.New("nothing there")
	err := s.ViewDurable(t.Context(), func(*metadata.Tx) error { return nothing })
	if want := cmp.Or(want, nothing); !errors.Is(err, want) || want != nothing && errors.Is(err, nothing) {
		t.Errorf("a failing durable view: %v, want %v", err, want)
	}
	checkIntegrity(t, s)
}

// TestViewDurableHoldsNoTransaction tests that a waiting reader does not prevent closing the file
// or reusing pages.
func TestViewDurableHoldsNoTransaction(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	visible, release := visibleCommit(s)
	written := make(chan error, 1)
	go func() { written <- s.Update(context.Background(), putUser("anna")) }()
	<-visible
	viewed, left := make(chan error, 1), make(chan struct{})
	go func() {
		viewed <- s.ViewDurable(context.Background(), func(*metadata.Tx) error {
			close(left)
			return nil
		})
	}()
	<-left
	if err := s.db.Close(); err != nil { // Close waits for transactions, and the commit is still delayed
		t.Error(err)
	}
	release <- nil
	if err := errors.Join(<-viewed, <-written); err != nil {
		t.Error(err)
	}
}

// TestViewDurableWithoutWait tests that ViewDurable does not wait if its data are durable, and
// returns the result of fn.
func TestViewDurableWithoutWait(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	if err := s.Update(t.Context(), putUser("anna")); err != nil {
		t.Fatal(err)
	}
	if err := s.ViewDurable(t.Context(), func(*metadata.Tx) error { return errOnPurpose }); !errors.Is(err, errOnPurpose) {
		t.Errorf("error of fn: %v", err)
	}
	var seen int
	if err := s.ViewDurable(t.Context(), count(&seen)); err != nil || seen != 1 {
		t.Errorf("%d users, %v", seen, err)
	}
	checkIntegrity(t, s)
}

// TestViewEndsItsTransaction tests that the transaction ends even if fn panics. Otherwise the file
// could not be closed.
func TestViewEndsItsTransaction(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of fn was not passed on")
			}
		}()
		_ = s.View(t.Context(), func(*metadata.Tx) error { panic("by mistake") })
	}()
	checkIntegrity(t, s)
}
