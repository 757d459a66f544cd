package main

import (
	"context"
	"time"
)

const (
	restStep = 500 * time.Millisecond
	restFor  = 2      // steps in a row, in each of which the disk did next to nothing
	little   = 20     // operations: what a system at rest does meanwhile
	restMost = 2 * 60 // steps
)

// atRest waits until the disk has nothing left to do, or for a minute, so that nobody pays for what was before: the system writes later
// than it says, and tells the disk of removed files later still. In a quick run it does not wait, since no figure counts.
func (b *bench) atRest(ctx context.Context) error {
	if !b.rest {
		return ctx.Err()
	}
	flush()
	before := diskOperations()
	for step, calm := 0, 0; calm < restFor && step < restMost; step++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restStep):
		}
		now := diskOperations()
		if calm++; now-before > little {
			calm = 0
		}
		before = now
	}
	return nil
}
