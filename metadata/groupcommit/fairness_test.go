package groupcommit

import (
	"testing"
	"time"
)

// TestFairnessPause tests that after a background operation, foreground operations get as much time
// as the background operation took. They get no time if no foreground operation has been queued in
// the meantime.
func TestFairnessPause(t *testing.T) {
	t.Parallel()
	type commit struct {
		background  bool
		begun, done int // ms
	}
	for name, tc := range map[string]struct {
		commits   []commit
		now, want int // ms
	}{
		"no background operation yet":                {nil, 0, 0},
		"others only":                                {[]commit{{false, 0, 9}}, 9, 0},
		"no foreground operation":                    {[]commit{{true, 0, 5}}, 5, 0},
		"a foreground operation":                     {[]commit{{true, 0, 5}, {false, 5, 7}}, 7, 3},
		"a foreground operation, after the pause":    {[]commit{{true, 0, 5}, {false, 5, 7}}, 10, 0},
		"an earlier foreground operation":            {[]commit{{false, 0, 2}, {true, 2, 5}}, 5, 0},
		"a longer foreground operation":              {[]commit{{true, 0, 5}, {false, 5, 30}}, 30, 0},
		"only the last one counts":                   {[]commit{{true, 0, 50}, {true, 50, 51}, {false, 51, 51}}, 51, 1},
		"a foreground operation before the last one": {[]commit{{true, 0, 5}, {false, 5, 7}, {true, 10, 15}}, 15, 0},
	} {
		at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
		var queue fairness
		for _, c := range tc.commits {
			queue.committed(c.background, at(c.begun), at(c.done))
		}
		if got := max(0, queue.pause(at(tc.now))); got != time.Duration(tc.want)*time.Millisecond {
			t.Errorf("%s: rest %v, want %d ms", name, got, tc.want)
		}
	}
}
