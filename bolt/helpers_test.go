package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// openStore opens a new store, and checks and closes it when the test ends.
func openStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "meta.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// block occupies the committer until release is called, without writing.
func block(t testing.TB, s *Store) (release func()) {
	t.Helper()
	entered, released, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Update(context.Background(), func(*metadata.Tx) error {
			close(entered)
			<-released
			return nil
		})
	}()
	<-entered
	return func() {
		close(released)
		if err := <-done; err != nil {
			t.Errorf("the holding operation: %v", err)
		}
	}
}

// enqueue appends an operation to the queue.
func enqueue(s *Store, fn func(*metadata.Tx) error) (answer chan error) {
	queued := s.committer.queue.Waiting()
	answer = make(chan error, 1)
	go func() { answer <- s.Update(context.Background(), fn) }()
	for s.committer.queue.Waiting() == queued {
		runtime.Gosched()
	}
	return answer
}

// together commits operations as one batch, in this order, and returns their results.
func together(t testing.TB, s *Store, fns ...func(*metadata.Tx) error) (answers []error) {
	t.Helper()
	release := block(t, s)
	var waiting []chan error
	for _, fn := range fns {
		waiting = append(waiting, enqueue(s, fn))
	}
	release()
	for _, answer := range waiting {
		answers = append(answers, <-answer)
	}
	return answers
}

// putUser returns an operation that creates the user, unless the name exists.
func putUser(name string) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		if _, err := tx.Users.ByName(name); !errors.Is(err, metadata.ErrNotFound) {
			return fmt.Errorf("%w: %s, %w", tables.ErrTaken, name, err)
		}
		stamp := tx.Stamp()
		record := metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}
		return tx.Users.Put(metadata.User{Record: record, Username: name})
	}
}

// usersIn returns the names of all users in order of creation.
func usersIn(t testing.TB, s *Store) (names []string) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for user, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			names = append(names, user.Username)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var errOnPurpose = errors.New("on purpose")
