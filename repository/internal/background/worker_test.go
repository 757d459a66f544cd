package background_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/repository/internal/background"
)

// TestRunsWhenDue compares the times at which the runs begin, measured from the start.
func TestRunsWhenDue(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		first background.Next
		then  []background.Next // results of the runs; Idle after the last one
		wake  []time.Duration   // times at which the worker is woken
		runs  []time.Duration
	}{
		"immediately":                {background.Next{}, []background.Next{{}, {}}, nil, []time.Duration{0, 0, 0}},
		"after a while":              {background.After(s), []background.Next{background.After(2 * s)}, nil, []time.Duration{s, 3 * s}},
		"a time that has passed":     {background.After(-s), nil, nil, []time.Duration{0}},
		"idle":                       {background.Idle(), nil, nil, nil},
		"woken":                      {background.Idle(), nil, []time.Duration{s, 5 * s}, []time.Duration{s, 5 * s}},
		"woken before it is due":     {background.After(10 * s), nil, []time.Duration{s}, []time.Duration{s}},
		"woken twice, run once":      {background.Backoff(2 * s), nil, []time.Duration{s, s}, []time.Duration{2 * s}},
		"not woken during a backoff": {background.Next{}, []background.Next{background.Backoff(3 * s)}, []time.Duration{s}, []time.Duration{0, 3 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, runs, then := time.Now(), []time.Duration(nil), c.then
				w := background.Start(c.first, func(context.Context) background.Next {
					runs = append(runs, time.Since(begun))
					if len(then) == 0 {
						return background.Idle()
					}
					next := then[0]
					then = then[1:]
					return next
				})
				for _, at := range c.wake {
					time.Sleep(at - time.Since(begun))
					w.Wake()
					synctest.Wait()
				}
				time.Sleep(time.Hour)
				w.Close()
				if !slices.Equal(runs, c.runs) {
					t.Errorf("it ran at %v, want %v", runs, c.runs)
				}
			})
		})
	}
}

func TestCloseWaitsForRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		w := background.Start(background.Next{}, func(ctx context.Context) background.Next {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return background.Next{}
		})
		synctest.Wait()
		w.Wake()
		w.Close()
		if !ended {
			t.Error("Close returned during a run")
		}
		<-w.Done()
		w.Close()
		w.Wake() // this has no effect
	})
}

func TestCloseInterruptsEveryPause(t *testing.T) {
	t.Parallel()
	for _, pause := range []background.Next{background.After(time.Hour), background.Backoff(time.Hour), background.Idle()} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			w := background.Start(pause, func(context.Context) background.Next {
				t.Error("the task ran")
				return background.Idle()
			})
			synctest.Wait()
			w.Close()
			if took := time.Since(begun); took != 0 {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

func TestSleepReportsInterruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if !background.Sleep(ctx, time.Second) {
			t.Error("a complete sleep is reported as interrupted")
		}
		if begun := time.Now(); background.Sleep(ctx, time.Hour) || time.Since(begun) != 59*time.Second {
			t.Error("the end of the context did not interrupt the sleep")
		}
	})
}
