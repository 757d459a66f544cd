package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/admission"
)

func enter(t *testing.T, q *admission.Queue, c admission.Caller) *admission.Ticket {
	t.Helper()
	ticket, err := q.Enter(c)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return ticket
}

// work enters a request that holds a slot for a while. It calls done at the end.
func work(ctx context.Context, ticket *admission.Ticket, took time.Duration, done func()) {
	defer ticket.Leave()
	if ticket.Acquire(ctx) == nil {
		time.Sleep(took)
		done()
	}
}

// TestFewRequestsGoFirst tests a caller with a full queue, and another caller with a single, later
// request.
func TestFewRequestsGoFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ many, one admission.Caller }{
		"callers":              {admission.Caller{Name: "a"}, admission.Caller{Name: "b"}},
		"groups":               {admission.Caller{Name: "a", Group: "x"}, admission.Caller{Name: "b", Group: "y"}},
		"callers of one group": {admission.Caller{Name: "a", Group: "x"}, admission.Caller{Name: "b", Group: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := admission.NewQueue(admission.Limits{Slots: 1, PerCaller: 100})
				var finished []string
				var all sync.WaitGroup
				for range 100 {
					ticket := enter(t, q, c.many)
					all.Go(func() { work(t.Context(), ticket, time.Second, func() { finished = append(finished, "many") }) })
					synctest.Wait()
				}
				one := enter(t, q, c.one)
				all.Go(func() { work(t.Context(), one, time.Second, func() { finished = append(finished, "one") }) })
				all.Wait()
				if at := slices.Index(finished, "one"); at < 0 || at > 1 {
					t.Errorf("the single request is number %d of %d", at, len(finished))
				}
			})
		})
	}
}

// TestUseIsRemembered alternates between two callers, one of which has used the slot for a long
// time before.
func TestUseIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := admission.NewQueue(admission.Limits{Slots: 1, PerCaller: 10})
		work(t.Context(), enter(t, q, admission.Caller{Name: "greedy"}), 5*time.Second, func() {})
		holder := enter(t, q, admission.Caller{Name: "holder"})
		if err := holder.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order []string
		var all sync.WaitGroup
		for _, name := range []string{"greedy", "modest"} {
			ticket := enter(t, q, admission.Caller{Name: name})
			all.Go(func() { work(t.Context(), ticket, time.Second, func() { order = append(order, name) }) })
			synctest.Wait()
		}
		holder.Leave()
		all.Wait()
		if fmt.Sprint(order) != "[modest greedy]" {
			t.Errorf("the order is %v", order)
		}
	})
}

// TestSlotsAreLeftForOthers tests callers that request all slots. Each gets a part, and one slot
// stays free for the next caller.
func TestSlotsAreLeftForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := admission.NewQueue(admission.Limits{Slots: 8, PerCaller: 8})
		ctx, cancel := context.WithCancel(t.Context())
		running := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			for range 8 {
				ticket := enter(t, q, admission.Caller{Name: name})
				all.Go(func() {
					defer ticket.Leave()
					if ticket.Acquire(ctx) == nil {
						mu.Lock()
						running[name]++
						mu.Unlock()
						<-ctx.Done()
					}
				})
			}
			synctest.Wait()
		}
		if running["a"] != 4 || running["b"] != 2 || running["c"] != 1 {
			t.Errorf("running: %v", running)
		}
		last := enter(t, q, admission.Caller{Name: "d"})
		if err := last.Acquire(ctx); err != nil {
			t.Error(err)
		}
		last.Leave()
		cancel()
		all.Wait()
		if n := q.Waiting(); n != 0 {
			t.Errorf("%d requests still wait", n)
		}
	})
}

// TestRequestsOfOneCallerAreBounded tests callers and groups. A group has capacity for several
// senders.
func TestRequestsOfOneCallerAreBounded(t *testing.T) {
	t.Parallel()
	q := admission.NewQueue(admission.Limits{Slots: 1, PerCaller: 2})
	var tickets []*admission.Ticket
	for sender := range 4 {
		for range 2 {
			tickets = append(tickets, enter(t, q, admission.Caller{Name: fmt.Sprint(sender), Group: "link"}))
		}
		var refusal *admission.Refusal
		if _, err := q.Enter(admission.Caller{Name: fmt.Sprint(sender)}); !errors.As(err, &refusal) || refusal.After < time.Second {
			t.Errorf("sender %d: error %v", sender, err)
		}
	}
	if _, err := q.Enter(admission.Caller{Name: "new", Group: "link"}); err == nil {
		t.Error("the group has no limit")
	}
	enter(t, q, admission.Caller{Name: "new", Group: "other"}).Leave()
	for _, ticket := range tickets {
		ticket.Leave()
	}
	enter(t, q, admission.Caller{Name: "0", Group: "link"}).Leave()
}

// TestReleaseAndAcquireAgain releases the slot to others while a response is sent.
func TestReleaseAndAcquireAgain(t *testing.T) {
	t.Parallel()
	q := admission.NewQueue(admission.Limits{Slots: 1, PerCaller: 2})
	first, second := enter(t, q, admission.Caller{Name: "a"}), enter(t, q, admission.Caller{Name: "b"})
	for range 3 {
		for _, ticket := range []*admission.Ticket{first, second} {
			if err := ticket.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			ticket.Release()
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Acquire(gone); !errors.Is(err, context.Canceled) || q.Waiting() != 0 {
		t.Errorf("error %v, %d waiting", err, q.Waiting())
	}
	first.Leave()
	if err := second.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.Leave()
}

// TestManyCallersAreForgotten tests that callers without requests are forgotten.
func TestManyCallersAreForgotten(t *testing.T) {
	t.Parallel()
	q := admission.NewQueue(admission.Limits{Slots: 1, PerCaller: 1})
	for i := range 20_000 {
		enter(t, q, admission.Caller{Name: fmt.Sprint(i)}).Leave()
	}
	if n := q.Accounts(); n > 5000 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestMemoryIsShared tests callers, each of which gets at most as much memory as is free.
func TestMemoryIsShared(t *testing.T) {
	t.Parallel()
	m := admission.NewMemory(1 << 20)
	var held []admission.Held
	for i, want := range []int64{512 << 10, 256 << 10, 128 << 10} {
		c := admission.Caller{Name: fmt.Sprint(i)}
		got := int64(0)
		for {
			h := m.Hold(c)
			if err := h.Set(1 << 10); err != nil {
				break
			}
			held = append(held, h)
			got += 1 << 10
		}
		if got != want {
			t.Errorf("caller %d has %d bytes, want %d", i, got, want)
		}
	}
	for _, h := range held {
		if err := h.Set(0); err != nil {
			t.Fatal(err)
		}
	}
	if m.Free() != 1<<20 {
		t.Errorf("%d bytes are free at the end", m.Free())
	}
	h := m.Hold(admission.Caller{Name: "a", Group: "g"})
	if err := errors.Join(h.Set(400<<10), h.Set(512<<10)); err != nil {
		t.Error(err)
	}
	other := m.Hold(admission.Caller{Name: "b", Group: "g"})
	if h.Set(513<<10) == nil || other.Set(1) == nil {
		t.Error("more than half of the memory is held")
	}
}
