package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// atRest waits until the disk is idle, for at most a minute, so that a measurement does not include
// earlier work. The system delays writes, and discards removed files even later. A quick run does
// not wait, because its results have no meaning.
func (b *bench) atRest(ctx context.Context) error {
	if !b.rest || ctx.Err() != nil {
		return ctx.Err()
	}
	const (
		pause  = 500 * time.Millisecond
		enough = 2      // steps in a row, in each of which the disk did next to nothing
		most   = 2 * 60 // steps
		little = 20     // operations in a step of an idle system
	)
	flush()
	before, _ := diskOperations()
	for step, calm := 0, 0; calm < enough; step++ {
		if step == most {
			b.say("the disk is still busy after a minute")
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		done, underWay := diskOperations()
		if calm++; done-before > little || underWay > 0 {
			calm = 0
		}
		before = done
	}
	return nil
}

// warm reads a file once, so that as much of it as possible is in memory. Call it outside of the
// measured time.
func warm(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}
