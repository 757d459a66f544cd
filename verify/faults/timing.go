package faults

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"labshelf/verify/e2e"
)

// The operations timed next to the slow clients. Reading a record or a file waits for no disk. A
// page may wait for the sync of a commit that it has read, and a change waits for its own.
const (
	reading  = "read"
	listing  = "page"
	changing = "change"
	syncing  = "sync" // sync of a file on the same disk that does not belong to the service
)

// Pauses between two requests, and between two syncs. The disk must not be kept busy.
const (
	requestPause = 5 * time.Millisecond
	syncPause    = 20 * time.Millisecond
)

// Limits for the duration of a normal request next to the slow clients: slowestAnswer in the short
// row, slowestOwn in the long row, see judge.
const (
	slowestAnswer = 2 * time.Second
	slowestOwn    = 100 * time.Millisecond
)

// interval is a period of time.
type interval struct {
	begun time.Time
	took  time.Duration
}

func (s interval) end() time.Time { return s.begun.Add(s.took) }

// timed holds the intervals of each kind in the order of time. Intervals of one kind do not
// overlap.
type timed map[string][]interval

// timeDuring measures normal requests and syncs while do runs. Reading, changing and syncing run
// concurrently, so that a slow answer does not delay the next request of another kind.
func (t *trial) timeDuring(ctx context.Context, c *e2e.Client, set string, do func() error) (timed, error) {
	first, err := uploaded(ctx, c, set, content(t.seed, 4<<10))
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(t.dir, "synced"))
	if err != nil {
		return nil, err
	}
	var last atomic.Pointer[record]
	last.Store(&first)
	page, changes := content(t.seed, 4<<10), uint64(0)
	var over atomic.Bool
	loops, sound := errgroup.WithContext(ctx)
	results := make([]timed, 3)
	for i, l := range []loop{
		{requestPause, []step{
			{reading, func() error { return c.Get(ctx, last.Load().URL, nil) }},
			{reading, func() error { return c.Call(ctx, http.MethodGet, last.Load().DataURL, nil, nil) }},
			{listing, func() error { return c.Get(ctx, "/sets/"+set+"/resources?order=newest", nil) }},
		}},
		{requestPause, []step{{changing, func() error {
			changes++
			made, err := uploaded(ctx, c, set, content(changes, 4<<10))
			if err == nil {
				last.Store(&made)
			}
			return err
		}}}},
		{syncPause, []step{{syncing, func() error {
			_, err := file.Write(page) // appended, so that the file system also syncs its own log, as for a new file
			return errors.Join(err, file.Sync())
		}}}},
	} {
		results[i] = timed{}
		loops.Go(func() error {
			return l.run(results[i], func() bool { return !over.Load() && sound.Err() == nil })
		})
	}
	err = do()
	over.Store(true)
	err = errors.Join(err, loops.Wait(), file.Close(), ctx.Err())
	all := timed{}
	for _, part := range results {
		for kind, intervals := range part {
			all[kind] = intervals
		}
	}
	return all, err
}

// loop is a repeated list of steps.
type loop struct {
	pause time.Duration
	steps []step
}

type step struct {
	kind string
	do   func() error
}

// run measures each step for as long as more returns true.
func (l loop) run(into timed, more func() bool) error {
	for ; more(); time.Sleep(l.pause) {
		for _, s := range l.steps {
			begun := time.Now()
			if err := s.do(); err != nil {
				return violated(nil, "a normal %s next to the slow clients: %w", s.kind, err)
			}
			into[s.kind] = append(into[s.kind], interval{begun, time.Since(begun)})
		}
	}
	return nil
}

// slowest returns the longest interval, or a zero interval without intervals.
func slowest(intervals []interval) (s interval) {
	if len(intervals) > 0 {
		s = slices.MaxFunc(intervals, func(a, b interval) int { return cmp.Compare(a.took, b.took) })
	}
	return s
}

// without returns the intervals, each reduced by its overlap with the others.
func without(intervals, others []interval) (left []interval) {
	for _, s := range intervals {
		i, _ := slices.BinarySearchFunc(others, s.begun, func(o interval, at time.Time) int { return o.end().Compare(at) })
		for rest := s; i < len(others) && others[i].begun.Before(rest.end()); i++ {
			from, to := others[i].begun, others[i].end()
			if from.Before(rest.begun) {
				from = rest.begun
			}
			if to.After(rest.end()) {
				to = rest.end()
			}
			s.took -= to.Sub(from)
		}
		left = append(left, s)
	}
	return left
}

// judge records the times measured next to the slow clients, and returns a violation if a request
// took longer than its limit. In the long row, the time of a change or a page excludes foreign
// syncs. The short row, which runs next to other work, has a much higher limit instead.
func (t *trial) judge(m timed) (err error) {
	t.add("normal requests", int64(len(m[reading])+len(m[listing])+len(m[changing])))
	for _, kind := range []string{reading, listing, changing, syncing} {
		if len(m[kind]) == 0 {
			return violated(nil, "no %s was measured next to the slow clients", kind)
		}
		t.most("slowest "+kind+" in ms:", inMS(slowest(m[kind])))
	}
	limit, blamed := slowestAnswer, m
	if t.long {
		limit = slowestOwn
		blamed = timed{reading: m[reading], listing: without(m[listing], m[syncing]), changing: without(m[changing], m[syncing])}
		t.most("slowest page without the disk in ms:", inMS(slowest(blamed[listing])))
		t.most("slowest change without the disk in ms:", inMS(slowest(blamed[changing])))
	}
	for _, kind := range []string{reading, listing, changing} {
		if worst := slowest(blamed[kind]); worst.took > limit {
			err = errors.Join(err, violated(nil, "a %s at %s took %v", kind, worst.begun.Format(time.TimeOnly), worst.took))
		}
	}
	return err
}

func inMS(s interval) float64 { return s.took.Seconds() * 1000 }
