package main

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// turn is one piece of work that was done: when it began and how long it took.
type turn struct {
	begin time.Time
	took  time.Duration
}

// load is what several hands did in the same time.
type load struct {
	turns []turn
	took  time.Duration
}

// perSecond returns how often the work was done in a second.
func (l load) perSecond() float64 { return float64(len(l.turns)) / l.took.Seconds() }

// percentile returns how long, in milliseconds, all but so many percent of the turns took at most; 100: the longest.
func (l load) percentile(percent float64) float64 {
	if len(l.turns) == 0 {
		return 0
	}
	took := make([]time.Duration, len(l.turns))
	for i, t := range l.turns {
		took[i] = t.took
	}
	slices.Sort(took)
	at := int(percent / 100 * float64(len(took)))
	return milliseconds(took[min(at, len(took)-1)])
}

// during returns the turns that were under way at some time between begin and end.
func (l load) during(begin, end time.Time) load {
	within := load{took: end.Sub(begin)}
	for _, t := range l.turns {
		if t.begin.Before(end) && t.begin.Add(t.took).After(begin) {
			within.turns = append(within.turns, t)
		}
	}
	return within
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// work lets all hands do their work again and again for a time. The first error ends it for all.
func work(hands []func() error, during time.Duration) (load, error) {
	end := time.Now().Add(during)
	return workWhile(hands, func(now time.Time) bool { return now.Before(end) })
}

// workWhile lets all hands do their work again and again as long as going says so, which is asked at the end of each turn.
func workWhile(hands []func() error, going func(time.Time) bool) (load, error) {
	begin := time.Now()
	turns := make([][]turn, len(hands))
	var failed atomic.Bool
	err := together(len(hands), func(i int) error {
		done := make([]turn, 0, 1<<12)
		for now := time.Now(); going(now) && !failed.Load(); {
			if err := hands[i](); err != nil {
				failed.Store(true)
				return err
			}
			next := time.Now()
			done = append(done, turn{now, next.Sub(now)})
			now = next
		}
		turns[i] = done
		return nil
	})
	return load{turns: slices.Concat(turns...), took: time.Since(begin)}, err
}

// together runs fn in so many goroutines, each with its number, and waits for all.
func together(workers int, fn func(i int) error) error {
	var all sync.WaitGroup
	failed := make([]error, workers)
	for i := range failed {
		all.Go(func() { failed[i] = fn(i) })
	}
	all.Wait()
	return errors.Join(failed...)
}
