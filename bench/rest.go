package main

import (
	"context"
	"time"
)

const (
	restStep = 500 * time.Millisecond
	restFor  = 2      // steps in a row, in each of which the disk did next to nothing
	restMost = 2 * 60 // steps
	little   = 20     // operations in a step: what a system at rest does
)

// atRest waits until the disk has nothing left to do, or for a minute, so that nobody pays for what was before: the system writes later
// than it says, and tells the disk of removed files later still. In a quick run it does not wait, since no figure counts.
func (b *bench) atRest(ctx context.Context) error {
	if !b.rest || ctx.Err() != nil {
		return ctx.Err()
	}
	flush()
	before, _ := diskOperations()
	for step, calm := 0, 0; calm < restFor; step++ {
		if step == restMost {
			b.say("the disk does not come to rest")
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restStep):
		}
		done, underWay := diskOperations()
		if calm++; done-before > little || underWay > 0 {
			calm = 0
		}
		before = done
	}
	return nil
}
