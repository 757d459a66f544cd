// Package groupcommit queues operations for a writer that commits them in groups, without added
// delay: while it commits one group, the next one gathers. Foreground operations have priority, but
// background operations never starve.
package groupcommit

import (
	"context"
	"sync/atomic"
	"time"

	"labshelf/metadata"
)

// Operation is one call of Do. The writer claims it to run it, or the caller claims it to give up.
type Operation[T any] struct {
	Work       T
	Background bool
	Queued     time.Time
	Err        error // the outcome, set by the writer before Answer

	claimed atomic.Bool
	done    chan struct{}
}

// Queue holds the operations that wait for the writer. Do is safe for concurrent use. All other
// methods must be called by the goroutine of the writer.
type Queue[T any] struct {
	most       int // largest number of operations in a group
	foreground chan *Operation[T]
	background chan *Operation[T]
	fair       fairness
	closing    chan struct{}
	stopped    chan struct{}
}

// New returns a queue for groups of at most this many operations.
func New[T any](most int) *Queue[T] {
	return &Queue[T]{
		most: most, foreground: make(chan *Operation[T], most), background: make(chan *Operation[T]),
		closing: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// Do queues work and returns its outcome. It returns metadata.ErrClosed if the queue is closed. It
// returns the context's error if the context ends before the writer claims the operation.
func (q *Queue[T]) Do(ctx context.Context, work T, background bool) error {
	op := &Operation[T]{Work: work, Background: background, Queued: time.Now(), done: make(chan struct{})}
	queue := q.foreground
	if background {
		queue = q.background
	}
	if q.Closed() {
		return metadata.ErrClosed
	}
	select {
	case queue <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.stopped:
		return metadata.ErrClosed
	}
	var gaveUp error
	select {
	case <-op.done:
		return op.Err
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-q.stopped:
		gaveUp = metadata.ErrClosed
	}
	if op.claimed.CompareAndSwap(false, true) {
		return gaveUp
	}
	<-op.done
	return op.Err
}

// Next waits for the next group: operations in the order of their calls, or a single background
// operation. It returns nil when the queue is closed and empty. It also returns nil when wake has
// sent; woken is then true. The writer must answer every operation of the group.
func (q *Queue[T]) Next(wake <-chan time.Time) (group []*Operation[T], woken bool) {
	for {
		op, woken := q.wait(wake)
		if op == nil {
			return nil, woken
		}
		if group = q.gather(op); len(group) > 0 {
			return group, false
		}
	}
}

// Answer reports the outcome to the callers of a group. The group ran from begun until now.
func (q *Queue[T]) Answer(group []*Operation[T], begun time.Time) {
	if len(group) > 0 {
		q.fair.committed(group[0].Background, begun, time.Now())
	}
	for _, op := range group {
		close(op.done)
	}
}

// Waiting returns the number of waiting foreground operations.
func (q *Queue[T]) Waiting() int { return len(q.foreground) }

// Closed reports whether Close was called.
func (q *Queue[T]) Closed() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// Close refuses further operations, lets Next end when all queued operations have been handed out,
// and waits for Stop. It must not be called twice.
func (q *Queue[T]) Close() {
	close(q.closing)
	<-q.stopped
}

// Stop ends the waits of all callers. The writer calls it when it ends.
func (q *Queue[T]) Stop() { close(q.stopped) }

// gather claims an operation, and those queued after it for the same group.
func (q *Queue[T]) gather(op *Operation[T]) (group []*Operation[T]) {
	for {
		if op.claimed.CompareAndSwap(false, true) {
			group = append(group, op)
		}
		if len(group) == q.most || op.Background {
			return group
		}
		select {
		case op = <-q.foreground:
		default:
			return group
		}
	}
}

func (q *Queue[T]) wait(wake <-chan time.Time) (op *Operation[T], woken bool) {
	first, second := q.foreground, q.background
	var paused <-chan time.Time
	switch pause := q.fair.pause(time.Now()); {
	case pause > 0:
		second, paused = nil, time.After(pause)
	case q.fair.foregroundCame:
		first, second = q.background, q.foreground
	}
	for {
		select {
		case op := <-first:
			return op, false
		default:
		}
		select {
		case op := <-first:
			return op, false
		case op := <-second:
			return op, false
		case <-paused:
			second, paused = q.background, nil
		case <-wake:
			return nil, true
		case <-q.closing:
			return q.remaining(), false
		}
	}
}

// remaining returns an operation that was queued before the queue was closed, or nil.
func (q *Queue[T]) remaining() *Operation[T] {
	select {
	case op := <-q.foreground:
		return op
	case op := <-q.background:
		return op
	default:
		return nil
	}
}
