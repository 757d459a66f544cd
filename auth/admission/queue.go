package admission

import (
	"cmp"
	"context"
	"maps"
	"math"
	"sync"
	"time"
)

// Limits bound a queue.
type Limits struct {
	Slots     int // requests that run at the same time
	PerCaller int // requests of one caller that run, wait or are about to wait
}

// Queue admits requests to a number of slots. It is safe for concurrent use.
type Queue struct {
	limits Limits

	mu       sync.Mutex
	running  int
	waiting  []*Ticket // in order of arrival
	accounts map[string]*account
	mean     time.Duration // recent mean time for which a slot was held
}

// account is the state of one caller or group in a queue.
type account struct {
	entered, running int
	used             float64 // seconds in slots, halved after each halfLife
	at               time.Time
}

// halfLife is the time after which half of the recorded use is forgotten. It is longer than one
// expensive request, and short enough for the next user of a shared address.
const halfLife = 10 * time.Second

// maxAccounts is the number of callers whose recent use is remembered.
const maxAccounts = 4096

// NewQueue returns an empty queue.
func NewQueue(limits Limits) *Queue {
	return &Queue{limits: limits, accounts: map[string]*account{}}
}

// Ticket is one request in a queue. Its methods are for one goroutine at a time.
type Ticket struct {
	queue    *Queue
	accounts []*account    // of the caller, and of its group
	two      [2]*account   // the array behind accounts
	ready    chan struct{} // closed when the slot is granted
	since    time.Time     // when the slot was granted; zero without a slot
}

// Enter registers a request of a caller without taking a slot. The error is a *Refusal. The caller
// of Enter calls Leave.
func (q *Queue) Enter(c Caller) (*Ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &Ticket{queue: q}
	t.accounts = t.two[:0]
	most := q.limits.PerCaller
	for _, name := range c.names() {
		a := q.accounts[name]
		if a == nil {
			a = &account{}
			q.accounts[name] = a
		}
		if a.entered >= most {
			q.forget()
			return nil, refuse("requests", q.mean*time.Duration(a.entered)/time.Duration(max(1, q.limits.Slots/2)))
		}
		t.accounts = append(t.accounts, a)
		most *= groupFactor
	}
	for _, a := range t.accounts {
		a.entered++
	}
	return t, nil
}

// Acquire waits for a slot. A ticket with a slot keeps it. The error is ctx.Err().
func (t *Ticket) Acquire(ctx context.Context) error {
	q := t.queue
	q.mu.Lock()
	if !t.since.IsZero() {
		q.mu.Unlock()
		return nil
	}
	if q.running < q.limits.Slots && t.mayRun() { // waiting requests are over their share
		q.run(t, time.Now())
		q.mu.Unlock()
		return nil
	}
	t.ready = make(chan struct{})
	q.waiting = append(q.waiting, t)
	q.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == t {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return ctx.Err()
		}
	}
	q.release(t)
	return ctx.Err()
}

// Release returns the slot, if the ticket has one. The ticket can acquire another one.
func (t *Ticket) Release() {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.queue.release(t)
}

// Leave ends a request, and returns its slot if it still has one.
func (t *Ticket) Leave() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(t)
	for _, a := range t.accounts {
		a.entered--
	}
	q.forget()
}

// Waiting returns the number of requests that wait for a slot.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *Queue) release(t *Ticket) {
	if t.since.IsZero() {
		return
	}
	now := time.Now()
	took := now.Sub(t.since)
	q.mean += (took - q.mean) / 8
	t.since = time.Time{}
	q.running--
	for _, a := range t.accounts {
		a.running--
		a.used = a.lately(now) + took.Seconds()
		a.at = now
	}
	q.grant()
}

// lately returns the recent use of the account.
func (a *account) lately(now time.Time) float64 {
	if a.used == 0 {
		return 0
	}
	return a.used * math.Exp2(-now.Sub(a.at).Seconds()/halfLife.Seconds())
}

// grant gives free slots to eligible waiting requests.
func (q *Queue) grant() {
	for len(q.waiting) > 0 && q.running < q.limits.Slots {
		now := time.Now()
		next := -1
		for i, t := range q.waiting {
			if t.mayRun() && (next < 0 || t.before(q.waiting[next], now)) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		t := q.waiting[next]
		q.waiting = append(q.waiting[:next], q.waiting[next+1:]...)
		q.run(t, now)
		close(t.ready)
	}
}

// run gives a slot to the request.
func (q *Queue) run(t *Ticket, now time.Time) {
	q.running++
	for _, a := range t.accounts {
		a.running++
	}
	t.since = now
}

// mayRun reports whether the request stays within the shares of its caller and group.
func (t *Ticket) mayRun() bool {
	free := t.queue.limits.Slots - t.queue.running
	for _, a := range t.accounts {
		if exceedsShare(a.running+1, free) {
			return false
		}
	}
	return true
}

// before reports whether a request gets a slot before another one that came earlier.
func (t *Ticket) before(other *Ticket, now time.Time) bool {
	running, used := t.load(now)
	otherRunning, otherUsed := other.load(now)
	return cmp.Or(cmp.Compare(running, otherRunning), cmp.Compare(used, otherUsed)) < 0
}

// load returns the combined use of the request's caller and group. Among the senders of a group,
// the one with less use comes first; a sender gains nothing from a new group.
func (t *Ticket) load(now time.Time) (running int, used float64) {
	for _, a := range t.accounts {
		running, used = running+a.running, used+a.lately(now)
	}
	return running, used
}

// forget removes the accounts of callers without requests: those without recent use, or all of them
// if there are many.
func (q *Queue) forget() {
	if len(q.accounts) <= maxAccounts {
		return
	}
	now := time.Now()
	idle := func(_ string, a *account) bool { return a.entered == 0 && a.lately(now) < time.Millisecond.Seconds() }
	if maps.DeleteFunc(q.accounts, idle); len(q.accounts) > maxAccounts/2 {
		maps.DeleteFunc(q.accounts, func(_ string, a *account) bool { return a.entered == 0 })
	}
}
