package main

import (
	"errors"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	l := load{took: 2 * time.Second}
	for i := range 200 { // durations of 1 to 200 ms, in increasing order
		l.operations = append(l.operations, operation{at(10 * i), time.Duration(i+1) * time.Millisecond})
	}
	if got := l.perSecond(); got != 100 {
		t.Errorf("%v in a second, want 100", got)
	}
	for percent, want := range map[float64]float64{50: 101, 99: 199, 100: 200} {
		if got := l.percentile(percent); got != want {
			t.Errorf("percentile %v: %v ms, want %v", percent, got, want)
		}
	}
	// From 500 to 600 ms: the operations that began then, and earlier ones that were still running.
	within := l.during(at(500), at(600))
	if len(within.operations) != 14 || within.operations[0].begin != at(460) || within.took != 100*time.Millisecond {
		t.Errorf("%d operations in %v, the first at %v", len(within.operations), within.took, within.operations[0].begin.Sub(begin))
	}
}

// TestWorkEnds tests that one error stops all workers.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	fault := errors.New("refused")
	operations := 0
	_, err := work([]func() error{
		func() error { return nil },
		func() error {
			if operations++; operations == 3 {
				return fault
			}
			return nil
		},
	}, time.Hour)
	if !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
}
