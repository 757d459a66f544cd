package nodes_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/repositorytest"
)

// start starts a node over the tables.
func start(meta metadata.Store, name string) (*nodes.Node, *repositorytest.Shared) {
	shared := &repositorytest.Shared{Store: meta}
	return nodes.Start(shared, nodes.Config{Name: name, Version: "v", Moved: func() {}, Failed: func(error) {}}), shared
}

// running starts a task that runs until its context ends, and sends the times of its begin and end.
func running(n *nodes.Node) (w *background.Worker, began, ended chan time.Time) {
	began, ended = make(chan time.Time, 10), make(chan time.Time, 10)
	w = n.Work(background.Next{}, func(ctx context.Context) background.Next {
		began <- time.Now()
		<-ctx.Done()
		ended <- time.Now()
		return background.Idle()
	})
	return w, began, ended
}

// TestTakeover: one node does the background work. If that node dies, another node takes over
// within ten seconds. If it stops, another node takes over within one second.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(n *nodes.Node, s *repositorytest.Shared, w *background.Worker)
		within time.Duration
	}{
		"dies": {func(_ *nodes.Node, s *repositorytest.Shared, _ *background.Worker) { s.Fail(errors.New("killed")) }, 10 * time.Second},
		"ends": {func(n *nodes.Node, _ *repositorytest.Shared, w *background.Worker) { w.Close(); n.Close() }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				meta := metadatatest.NewMemory(time.Now)
				a, ofA := start(meta, "a")
				synctest.Wait()
				b, _ := start(meta, "b")
				ofOne, began, _ := running(a)
				ofOther, taken, _ := running(b)
				<-began
				time.Sleep(time.Minute)
				if len(taken) > 0 || len(began) > 0 {
					t.Error("two nodes do background work, or one begins repeatedly")
				}
				at := time.Now()
				c.end(a, ofA, ofOne)
				if took := (<-taken).Sub(at); took > c.within {
					t.Errorf("another node continues after %v", took)
				}
				ofOne.Close()
				ofOther.Close()
				a.Close()
				b.Close()
			})
		})
	}
}

// TestLateCommitIsRefused: work that a node began under its lease is refused when another node has
// the lease, even if the first node does not know it yet. When the first node learns it, its task
// ends. When the other node stops, the first node works again with another fencing number.
func TestLateCommitIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meta := metadatatest.NewMemory(time.Now)
		a, ofA := start(meta, "a")
		defer a.Close()
		synctest.Wait()
		b, _ := start(meta, "b")
		var fences []metadata.Stamp
		late, tried := make(chan struct{}), make(chan error, 1)
		w := a.Work(background.Next{}, func(ctx context.Context) background.Next {
			fences = append(fences, nodes.Fence(ctx))
			if len(fences) > 1 {
				return background.Idle()
			}
			<-late
			tried <- meta.Update(context.WithoutCancel(ctx), nodes.Verified(ctx, func(tx *metadata.Tx) error {
				return tx.Scrub.Put(metadata.ScrubState{Passes: 7})
			}))
			<-ctx.Done()
			return background.Idle()
		})
		defer w.Close()
		ofOther, taken, _ := running(b)
		synctest.Wait()
		ofA.Fail(errors.New("no connection"))
		<-taken
		close(late)
		if err := <-tried; !errors.Is(err, background.ErrLost) {
			t.Errorf("a late commit: %v", err)
		}
		ofA.Fail(nil)
		time.Sleep(time.Minute)
		ofOther.Close()
		b.Close()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(fences) != 2 || fences[1] <= fences[0] {
			t.Errorf("a works under %d", fences)
		}
		err := meta.View(t.Context(), func(tx *metadata.Tx) error {
			state, err := tx.Scrub.Get()
			if state.Passes != 0 {
				t.Error("the late commit was stored")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestClockSetBack: a lease that ends later than the longest valid lease is ignored.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1e15)
	meta := metadatatest.NewMemory(func() time.Time { return now })
	a, _ := start(meta, "a")
	defer a.Close()
	wanted := nodes.Wanted{Name: "purge", Lasts: 8 * time.Second}
	of, err := a.Take(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	defer of.Release()
	b, _ := start(meta, "b")
	defer b.Close()
	if _, err := b.Take(t.Context(), wanted); !errors.Is(err, nodes.ErrHeld) {
		t.Errorf("before: %v", err)
	}
	now = now.Add(-time.Hour)
	other, err := b.Take(t.Context(), wanted)
	if err != nil {
		t.Errorf("after the clock was set back: %v", err)
	}
	other.Release()
}

// TestNodesAreSeen: Seen returns the running nodes. It omits nodes that have stopped or were not
// seen for a minute.
func TestNodesAreSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meta := metadatatest.NewMemory(time.Now)
		seen := func() (names []string) {
			err := meta.View(t.Context(), func(tx *metadata.Tx) error {
				all, err := nodes.Seen(tx)
				for _, n := range all {
					names = append(names, n.Name+" "+n.Version)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			slices.Sort(names)
			return names
		}
		a, ofA := start(meta, "a")
		b, _ := start(meta, "b")
		c, _ := start(meta, "c")
		synctest.Wait()
		if got := seen(); !slices.Equal(got, []string{"a v", "b v", "c v"}) {
			t.Errorf("at the start %q", got)
		}
		c.Close()
		ofA.Fail(errors.New("killed"))
		time.Sleep(50 * time.Second)
		if got := seen(); !slices.Equal(got, []string{"a v", "b v"}) {
			t.Errorf("before a minute %q", got)
		}
		time.Sleep(50 * time.Second)
		if got := seen(); !slices.Equal(got, []string{"b v"}) {
			t.Errorf("after a minute %q", got)
		}
		a.Close()
		b.Close()
	})
}

// TestAlone: a store that is not shared has no nodes and no leases. Every request for a lease is
// granted.
func TestAlone(t *testing.T) {
	t.Parallel()
	n := nodes.Start(metadatatest.NewMemory(time.Now), nodes.Config{})
	if n != nil || n.Shared() || !n.Works() {
		t.Error("it has a node")
	}
	lease, err := n.Take(t.Context(), nodes.Wanted{Name: "purge"})
	if ctx := lease.With(t.Context()); err != nil || nodes.Fence(ctx) != 0 {
		t.Errorf("the lease has a number, %v", err)
	}
	lease.Release()
	n.Close()
}
