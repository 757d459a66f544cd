// Package background runs what a service does besides answering requests.
package background

import (
	"context"
	"time"
)

// Task is one run of a Worker. It says when the next one is due. It returns soon after ctx has
// ended; what it returns then does not count.
type Task func(ctx context.Context) Next

// Next is when a Task runs again. The zero Next is at once.
type Next struct {
	after   time.Duration
	idle    bool // not before it is woken
	backoff bool // not before after has passed, woken or not
}

// After lets a Task run after d, or as soon as it is woken.
func After(d time.Duration) Next { return Next{after: d} }

// Backoff lets a Task run after d and not before: for a failure that would only be repeated.
func Backoff(d time.Duration) Next { return Next{after: d, backoff: true} }

// Idle lets a Task run when it is woken.
func Idle() Next { return Next{idle: true} }

// Worker runs a Task in a goroutine of its own, never twice at a time. Wake and Close are safe for
// concurrent use.
type Worker struct {
	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// Start begins to run a task; first says when for the first time. The caller ends it with Close.
func Start(first Next, task Task) *Worker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Worker{wake: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	go w.run(ctx, first, task)
	return w
}

func (w *Worker) run(ctx context.Context, next Next, task Task) {
	defer close(w.done)
	for w.wait(ctx, next) {
		select {
		case <-w.wake: // this run is the one that follows
		default:
		}
		next = task(ctx)
	}
}

// wait returns when the next run is due, or false when there is none, since ctx has ended.
func (w *Worker) wait(ctx context.Context, next Next) bool {
	switch {
	case next.backoff:
		return Sleep(ctx, next.after)
	case !next.idle && next.after <= 0:
		return ctx.Err() == nil
	}
	var due <-chan time.Time
	if !next.idle {
		timer := time.NewTimer(next.after)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-w.wake:
	case <-due:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Wake lets the task run as soon as the run under way, if any, and a Backoff have ended. However
// often it is called before that run begins, it is one run.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default: // it is woken already
	}
}

// Close ends the context of the run under way, and returns when that has ended. No other one
// follows. It may be called again.
func (w *Worker) Close() {
	w.cancel()
	<-w.done
}

// Done is closed when the last run has ended.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Sleep tells whether d passed before ctx ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
