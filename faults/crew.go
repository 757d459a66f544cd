package main

import (
	"errors"
	"sync"
)

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
