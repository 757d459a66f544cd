// Package slowclient ends requests whose client makes no progress, and no others: each direction of
// a request has a stall budget, which waiting for the client uses up and transferred bytes refill.
// It sends files and bodies in memory with as few system calls as the connection allows.
package slowclient

import (
	"io"
	"net/http"
	"time"
)

// Limits bound how slow a client may be.
type Limits struct {
	Stall   time.Duration // how long a client may neither send nor take a byte; 0: for ever
	MinRate int64         // bytes per second below which a client uses up Stall; 0: any byte refills it
}

// budget is how much longer one direction of a request may wait for the client. It begins with the
// whole stall timeout. Waiting uses it up, each byte gives back the time that it takes at the
// minimum rate, and it never exceeds its initial value. The time that the service takes for its own
// work does not count.
type budget struct {
	Limits
	set      func(time.Time) error
	shared   bool // deadlines of this connection act immediately, not on the next call: HTTP/2
	left     time.Duration
	waited   time.Duration // in total
	started  time.Time
	deadline time.Time // zero: none is set
}

func newBudget(limits Limits, r *http.Request, set func(time.Time) error) budget {
	return budget{Limits: limits, set: set, shared: r.ProtoMajor > 1, left: limits.Stall}
}

// start is called before the client is waited for.
func (b *budget) start() { b.startWithin(b.left) }

// startWithin is start with a deadline that may be earlier, for a caller that can continue after
// it. A deadline that is already set may be slightly too early: setting one costs as much as all
// the rest of this, and a small answer would set three.
func (b *budget) startWithin(limit time.Duration) {
	if b.Stall == 0 {
		return
	}
	b.started = time.Now()
	deadline := b.started.Add(min(b.left, limit))
	if later := deadline.Sub(b.deadline); later < 0 || later > b.Stall/64 || !b.deadline.After(b.started) {
		b.deadline = deadline
		_ = b.set(deadline) // a writer without deadlines has no stalling client either
	}
}

// stop is called when n bytes have been transferred.
func (b *budget) stop(n int64) {
	if b.Stall == 0 {
		return
	}
	took := time.Since(b.started)
	b.waited += took
	b.left -= took
	switch {
	case n > 0 && (b.MinRate == 0 || n >= int64(b.Stall.Seconds()*float64(b.MinRate))):
		b.left = b.Stall
	case n > 0:
		b.left = min(b.Stall, b.left+time.Duration(float64(n)/float64(b.MinRate)*float64(time.Second)))
	}
	if b.shared {
		b.suspend()
	}
}

// suspend removes the deadline: the connection may be idle for as long as the service works.
func (b *budget) suspend() {
	if b.Stall > 0 {
		b.deadline = time.Time{}
		_ = b.set(b.deadline)
	}
}

// body is the body of a request, under a budget of its own.
type body struct {
	io.ReadCloser
	budget budget
	bytes  int64 // received
	ended  bool  // it has been read to its end, or there is none
}

func (b *body) Read(p []byte) (int, error) {
	b.budget.start()
	n, err := b.ReadCloser.Read(p)
	b.budget.stop(int64(n))
	b.bytes += int64(n)
	if b.ended = err == io.EOF; b.ended {
		b.budget.suspend() // or the connection would be broken while the answer is made
	}
	return n, err
}
