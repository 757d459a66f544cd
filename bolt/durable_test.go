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

// visibleCommit makes commits of the store visible, and holds their return back until release gets
// an outcome.
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

// count returns how many users a view sees.
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

// TestViewDurableWaits holds back the return of a commit that readers see already.
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
		t.Errorf("a durable view came back before the commit: %v", err)
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
	// What was made of something that may never be true is not to be taken for an answer.
	nothing := errors.New("nothing there")
	err := s.ViewDurable(t.Context(), func(*metadata.Tx) error { return nothing })
	if want := cmp.Or(want, nothing); !errors.Is(err, want) || want != nothing && errors.Is(err, nothing) {
		t.Errorf("a durable view that fails: %v, want %v", err, want)
	}
	checkIntegrity(t, s)
}

// TestViewDurableHoldsNoTransaction: a reader who waits must not keep the file from being closed,
// nor pages from being used again.
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
	if err := s.db.Close(); err != nil { // it waits for transactions, and the commit is still held back
		t.Error(err)
	}
	release <- nil
	if err := errors.Join(<-viewed, <-written); err != nil {
		t.Error(err)
	}
}

// TestViewDurableOfWhatIsDurable does not wait, and returns what fn returned.
func TestViewDurableOfWhatIsDurable(t *testing.T) {
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

// TestViewEndsItsTransaction also when fn panics: otherwise the file could never be closed.
func TestViewEndsItsTransaction(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of fn did not come through")
			}
		}()
		_ = s.View(t.Context(), func(*metadata.Tx) error { panic("by mistake") })
	}()
	checkIntegrity(t, s)
}
