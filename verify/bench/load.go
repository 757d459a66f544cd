package main

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// operation is the begin and the duration of one operation of a worker.
type operation struct {
	begin time.Time
	took  time.Duration
}

// load holds the operations of several workers that ran in parallel.
type load struct {
	operations []operation
	took       time.Duration
}

// perSecond returns the number of operations per second.
func (l load) perSecond() float64 { return float64(len(l.operations)) / l.took.Seconds() }

// percentile returns a percentile of the durations, in milliseconds; 100 is the maximum.
func (l load) percentile(percent float64) float64 {
	if len(l.operations) == 0 {
		return 0
	}
	took := make([]time.Duration, len(l.operations))
	for i, t := range l.operations {
		took[i] = t.took
	}
	slices.Sort(took)
	at := int(percent / 100 * float64(len(took)))
	return milliseconds(took[min(at, len(took)-1)])
}

// during returns the operations that ran at some time between begin and end.
func (l load) during(begin, end time.Time) load {
	within := load{took: end.Sub(begin)}
	for _, t := range l.operations {
		if t.begin.Before(end) && t.begin.Add(t.took).After(begin) {
			within.operations = append(within.operations, t)
		}
	}
	return within
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// work runs all workers repeatedly for the given time. The first error stops all of them.
func work(workers []func() error, during time.Duration) (load, error) {
	end := time.Now().Add(during)
	return workWhile(workers, func(now time.Time) bool { return now.Before(end) })
}

// workWhile runs all workers repeatedly for as long as going returns true. It calls going before
// each operation.
func workWhile(workers []func() error, going func(time.Time) bool) (load, error) {
	begin := time.Now()
	operations := make([][]operation, len(workers))
	group, sound := errgroup.WithContext(context.Background())
	for i, once := range workers {
		group.Go(func() error {
			done := make([]operation, 0, 1<<12)
			for now := time.Now(); going(now) && sound.Err() == nil; {
				if err := once(); err != nil {
					return err
				}
				next := time.Now()
				done = append(done, operation{now, next.Sub(now)})
				now = next
			}
			operations[i] = done
			return nil
		})
	}
	err := group.Wait()
	return load{operations: slices.Concat(operations...), took: time.Since(begin)}, err
}

// parallel runs fn in the given number of goroutines, each with its number, waits for all of them,
// and returns the first error.
func parallel(workers int, fn func(worker int) error) error {
	var group errgroup.Group
	for i := range workers {
		group.Go(func() error { return fn(i) })
	}
	return group.Wait()
}
