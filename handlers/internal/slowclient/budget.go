// Package slowclient ends requests whose client makes no progress. Each direction of a request has
// a stall budget. Waiting for the client uses it up, and transferred bytes refill it. The package
// sends files and bodies in memory with as few system calls as the connection allows.
package slowclient

import (
	"io"
	"net/http"
	"time"
)

// Limits define how slow a client may be.
type Limits struct {
	Stall   time.Duration // longest time without a transferred byte; 0: no limit
	MinRate int64         // bytes per second; a slower client uses up Stall; 0: any byte refills it
}

// budget is the remaining time that one direction of a request may wait for the client. It begins
// with the whole stall timeout and never exceeds it. Waiting uses it up, and each byte refills the
// time that it takes at the minimum rate. The service's own work does not count.
type budget struct {
	Limits
	set      func(time.Time) error
	shared   bool // deadlines take effect immediately, not on the next call: HTTP/2
	left     time.Duration
	waited   time.Duration // in total
	started  time.Time
	deadline time.Time // zero: not set
}

func newBudget(limits Limits, r *http.Request, set func(time.Time) error) budget {
	return budget{Limits: limits, set: set, shared: r.ProtoMajor > 1, left: limits.Stall}
}

// start is called before waiting for the client.
func (b *budget) start() { b.startWithin(b.left) }

// startWithin is like start, with a possibly earlier deadline for a caller that can continue after
// it. An existing deadline is kept even if it is slightly early, because setting a deadline is
// expensive and a small answer would set three.
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

// stop is called after n bytes were transferred.
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

// suspend removes the deadline, so that the connection may be idle while the service works.
func (b *budget) suspend() {
	if b.Stall > 0 {
		b.deadline = time.Time{}
		_ = b.set(b.deadline)
	}
}

// body is the body of a request with its own budget.
type body struct {
	io.ReadCloser
	budget budget
	bytes  int64 // received
	ended  bool  // read to its end, or empty
}

func (b *body) Read(p []byte) (int, error) {
	b.budget.start()
	n, err := b.ReadCloser.Read(p)
	b.budget.stop(int64(n))
	b.bytes += int64(n)
	if b.ended = err == io.EOF; b.ended {
		b.budget.suspend() // otherwise the deadline would break the connection while the answer is made
	}
	return n, err
}
