package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// inOrder records the order in which operations run, and the number of commits.
type inOrder struct {
	ran     []string // only used by the committer
	commits int
}

func (o *inOrder) op(name string) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		o.ran = append(o.ran, name)
		return putUser(name)(tx)
	}
}

// background queues an operation of UpdateBackground, and returns when it waits. It works only in a
// bubble, because such a wait is not visible otherwise.
func background(s *Store, fn func(*metadata.Tx) error) (answer chan error) {
	answer = make(chan error, 1)
	go func() { answer <- s.UpdateBackground(context.Background(), fn) }()
	synctest.Wait()
	return answer
}

// TestBackgroundYields queues two operations. The first one must yield to the other.
func TestBackgroundYields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		others bool // an earlier commit has other operations
		want   []string
	}{
		"at first":               {false, []string{"front", "background"}},
		"after a commit of them": {true, []string{"background", "front"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { givesWay(t, tc.others, tc.want) })
		})
	}
}

func givesWay(t *testing.T, others bool, want []string) {
	s, order := openStore(t), &inOrder{}
	s.committer.commit = func(tx *bbolt.Tx) error { order.commits++; return tx.Commit() }
	// A background or a foreground operation blocks the committer.
	entered, release := make(chan struct{}), make(chan struct{})
	hold, run := make(chan error, 1), s.UpdateBackground
	if others {
		run = s.Update
	}
	go func() {
		hold <- run(context.Background(), func(*metadata.Tx) error { close(entered); <-release; return nil })
	}()
	<-entered
	second := background(s, order.op("background"))
	first := enqueue(s, order.op("front"))
	close(release)
	for _, answer := range []chan error{hold, first, second} {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(order.ran, want) || order.commits != 2 {
		t.Errorf("ran %q in %d commits, want %q in 2", order.ran, order.commits, want)
	}
}

// TestBackgroundNotStarved keeps the queue full. Background operations must still run repeatedly,
// and so must the others.
func TestBackgroundNotStarved(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var front, ended atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	nothing := func(tx *metadata.Tx) error { tx.Stamp(); return nil }
	for range 8 {
		go func() {
			defer ended.Add(1)
			for s.Update(ctx, nothing) == nil {
				front.Add(1)
			}
		}()
	}
	for front.Load() == 0 {
		runtime.Gosched()
	}
	before := front.Load()
	for n := 0; n < 10 || front.Load()-before < 10; n++ {
		if err := s.UpdateBackground(t.Context(), nothing); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	for ended.Load() < 8 {
		runtime.Gosched()
	}
}

// TestCloseRunsBackground closes the store while a background operation waits.
func TestCloseRunsBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, closeFinishes)
}

func closeFinishes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meta.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	free := block(t, s)
	waits := background(s, putUser("anna"))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	synctest.Wait()
	if err := s.UpdateBackground(t.Context(), putUser("late")); !errors.Is(err, metadata.ErrClosed) {
		t.Errorf("after Close began: %v", err)
	}
	free()
	if err := errors.Join(<-waits, <-closed); err != nil {
		t.Error(err)
	}
}
