package postgres

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// openThrough opens a new database through a proxy.
func openThrough(t *testing.T) (*Store, *servers.Proxy, string) {
	t.Helper()
	server := servers.StartPostgres(t)
	address := server.Database(t)
	proxy := servers.StartProxy(t, server.Addr())
	s, err := Open(t.Context(), proxy.Route(address), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, proxy, address
}

// hold occupies the committer with an operation without changes, until release is called.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	inside, go_, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	runs := 0
	go func() {
		done <- s.Update(context.Background(), func(*metadata.Tx) error {
			if runs++; runs == 2 { // the first run only records the rows that it uses
				close(inside)
				<-go_
			}
			return nil
		})
	}()
	<-inside
	return func() {
		close(go_)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// queue starts an operation, and returns when it waits.
func queue(s *Store, fn func(*metadata.Tx) error) (answer chan error) {
	answer = make(chan error, 1)
	before := s.queue.Waiting()
	go func() { answer <- s.Update(context.Background(), fn) }()
	for s.queue.Waiting() == before {
		runtime.Gosched()
	}
	return answer
}

func putUser(n int) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		stamp := tx.Stamp()
		return tx.Users.Put(metadata.User{
			Record: metadata.Record{ID: metadatatest.IDAt('U', n), State: metadata.Active, Created: stamp, Modified: stamp}, Username: string(rune('a' + n)),
		})
	}
}

// TestRefusalDependsOnCommit tests an operation that fails because of another operation of its
// group. If the commit of both is lost, it returns another error.
func TestRefusalDependsOnCommit(t *testing.T) {
	t.Parallel()
	s, proxy, _ := openThrough(t)
	taken := errors.New("taken")
	release := hold(t, s)
	first := queue(s, putUser(1))
	second := queue(s, func(tx *metadata.Tx) error {
		if _, err := tx.Users.Get(metadatatest.IDAt('U', 1)); err == nil {
			return taken
		}
		return putUser(2)(tx)
	})
	proxy.CutAt(0, servers.CutBefore, func(m servers.Message) bool {
		return m.From == servers.Server && m.Type == 'C' && bytes.HasPrefix(m.Body(), []byte("COMMIT"))
	})
	release()
	for of, answer := range map[string]chan error{"the first": first, "the second": second} {
		if err := <-answer; !errors.Is(err, metadata.ErrOutcomeUnknown) {
			t.Errorf("%s: %v, want an unknown outcome", of, err)
		}
	}
}

// TestFailureDoesNotAffectGroup tests that an operation that fails after it wrote does not affect
// the other operations of its group.
func TestFailureDoesNotAffectGroup(t *testing.T) {
	t.Parallel()
	s, _, _ := openThrough(t)
	broken := errors.New("broken")
	release := hold(t, s)
	answers := []chan error{
		queue(s, putUser(1)),
		queue(s, func(tx *metadata.Tx) error { return errors.Join(putUser(2)(tx), broken) }),
		queue(s, func(tx *metadata.Tx) error { _ = putUser(3)(tx); panic("on purpose") }),
		queue(s, putUser(4)),
	}
	release()
	for i, answer := range answers {
		err := <-answer
		if fails := i == 1 || i == 2; (err != nil) != fails || i == 1 && !errors.Is(err, broken) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	var names string
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for u, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			names += u.Username
		}
		return nil
	})
	if err != nil || names != "be" {
		t.Errorf("users %q: %v", names, err)
	}
}

// TestHungNodeIsCutOff tests that a node that stops in the middle of a commit does not block other
// nodes.
func TestHungNodeIsCutOff(t *testing.T) {
	t.Parallel()
	s, proxy, address := openThrough(t)
	other, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	release := hold(t, s)
	proxy.Pause()
	begun := time.Now()
	if err := other.Update(t.Context(), putUser(1)); err != nil {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	proxy.Resume()
	release()
}
