package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// hands is how many units are tried side by side where they do not disturb each other: more than there are processors, since
// most of the time a unit waits, for calls that pass through FUSE and for the pauses of the program.
const hands = 8

// together does the units that are still to be done side by side. Only what lies before the first unit that has not come to its
// end is kept as done: after an interruption nothing is left out.
func (t *trial) together(ctx context.Context, total int, work func(unit int) error) error {
	c := newCrew(hands)
	var begun []*atomic.Bool // in order; whether it has ended
	for unit := range t.left(ctx, total) {
		ended := new(atomic.Bool)
		begun = append(begun, ended)
		c.do(func() error {
			err := work(unit)
			ended.Store(err == nil)
			return err
		})
		if begun = t.keep(begun); c.failed() {
			break
		}
	}
	err := c.wait()
	t.keep(begun)
	return err
}

// keep notes as done what has ended, up to the first unit that has not, and returns the others.
func (t *trial) keep(begun []*atomic.Bool) []*atomic.Bool {
	n := 0
	for n < len(begun) && begun[n].Load() {
		n++
	}
	if n > 0 {
		t.advance(n)
	}
	return begun[n:]
}

// crew does work side by side. The first error ends it.
type crew struct {
	free  chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func newCrew(hands int) *crew { return &crew{free: make(chan struct{}, hands)} }

// do waits for a free hand and gives it the work.
func (c *crew) do(work func() error) {
	c.free <- struct{}{}
	c.group.Go(func() {
		defer func() { <-c.free }()
		err := work()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = errors.Join(c.err, err)
	})
}

// failed tells whether some work has failed.
func (c *crew) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// wait waits for all work and returns what failed.
func (c *crew) wait() error {
	c.group.Wait()
	return c.err
}
