// Package background runs the tasks that a service does independently of requests.
package background

import (
	"context"
	"time"
)

// Task is one run of a Worker. It returns when the next run is due. It must return soon after ctx
// has ended; its result is then ignored.
type Task func(ctx context.Context) Next

// Next is when a Task runs again. The zero Next means immediately.
type Next struct {
	after   time.Duration
	idle    bool // only after Wake
	backoff bool // not before after has passed, even after Wake
}

// After schedules the next run after d, or as soon as Wake is called.
func After(d time.Duration) Next { return Next{after: d} }

// Backoff schedules the next run after d and ignores Wake until then. It is for failures that would
// only repeat.
func Backoff(d time.Duration) Next { return Next{after: d, backoff: true} }

// Idle schedules the next run for the next call of Wake.
func Idle() Next { return Next{idle: true} }

// Worker runs a Task in its own goroutine, one run at a time. Wake and Close are safe for
// concurrent use.
type Worker struct {
	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// Start starts a worker for a task. The first run is due as first says. The caller must call Close.
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
		case <-w.wake: // the run that follows serves this wake-up
		default:
		}
		next = task(ctx)
	}
}

// wait returns true when the next run is due, and false when ctx has ended.
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

// Wake starts a run as soon as the current run, if any, and a Backoff have ended. Several calls
// before that run begins cause one run.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default: // already woken
	}
}

// Close cancels the context of the current run and waits until it has ended. No other run follows.
// Close may be called again.
func (w *Worker) Close() {
	w.cancel()
	<-w.done
}

// Done returns a channel that is closed when the last run has ended.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Sleep waits for d or the end of ctx, and reports whether ctx is still valid.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
