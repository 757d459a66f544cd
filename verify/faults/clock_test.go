package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/repository"
	"labshelf/verify/e2e"
)

// settableClock is a clock that can be set.
type settableClock struct {
	ahead  atomic.Int64 // nanoseconds
	frozen atomic.Int64 // frozen at this time since 1970, in nanoseconds; 0: it runs
}

func (w *settableClock) now() time.Time {
	if at := w.frozen.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Now().Add(time.Duration(w.ahead.Load()))
}

// move sets the clock ahead of the correct time, or back if ahead is negative. frozen stops it
// there.
func (w *settableClock) move(ahead time.Duration, frozen bool) {
	w.frozen.Store(0)
	w.ahead.Store(int64(ahead))
	if frozen {
		w.frozen.Store(w.now().UnixNano())
	}
}

// setting is one kind of wrong clock.
type setting struct {
	name  string
	ahead []time.Duration // one after the other, during the writes
	stops bool
}

const (
	aDay = 24 * time.Hour
	aAge = 10 * 365 * aDay
)

func settings() []setting {
	return []setting{
		{"back a day", []time.Duration{0, -aDay, -aDay}, false},
		{"ahead ten years and back", []time.Duration{0, aAge, 0}, false},
		{"frozen", []time.Duration{0, 0}, true},
		{"to and fro", []time.Duration{time.Hour, -time.Hour, time.Second, -time.Second, time.Millisecond, 0, -time.Minute}, false},
	}
}

// clock moves the clock of a service in this process during writes. The service is reopened between
// the moves.
func clock(ctx context.Context, t *trial) error {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	all := settings()
	t.size = len(all)
	for i := range t.units(ctx, t.size) {
		if err := t.tryClock(ctx, program, all[i], i); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	t.add("missed", 0)
	t.add("out of order", 0)
	return nil
}

// tryClock tests one setting with a new repository.
func (t *trial) tryClock(ctx context.Context, program string, c setting, i int) error {
	h := &inProcess{settableClock: new(settableClock), dir: filepath.Join(t.dir, fmt.Sprint("data-", i))}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return err
	}
	w := &workload{program: program, data: h.dir, readers: 1, harvesters: []*harvester{newHarvester(1, nil), newHarvester(100, nil)}}
	for n, ahead := range c.ahead {
		if err := h.open(ctx, w); err != nil {
			return err
		}
		err := w.addWriters(ctx, writerCount, t.random(i))
		if err == nil {
			// The clock moves in the middle.
			time.AfterFunc(50*time.Millisecond, func() { h.settableClock.move(ahead, c.stops && n > 0) })
			err = w.runUntil(ctx, t, 150*time.Millisecond, func() error { return nil })
		}
		if err == nil {
			w.ended.Store(false)
			err = w.verify(ctx)
		}
		if behind := h.meta.Health().ClockBehind; err == nil && n > 0 && ahead < c.ahead[n-1] && behind <= 0 {
			err = violated(nil, "the clock went back by %v, but the service does not report it", c.ahead[n-1]-ahead)
		}
		if err := errors.Join(err, h.close()); err != nil {
			return err
		}
	}
	return errors.Join(w.checkStopped(ctx), os.RemoveAll(h.dir))
}

// inProcess is the service in this process, with real stores and a settable clock.
type inProcess struct {
	settableClock *settableClock
	dir           string
	key           string
	meta          *bolt.Store
	repo          *repository.Service
	server        *httptest.Server
}

// open opens the stores, and connects the workload to the service.
func (h *inProcess) open(ctx context.Context, w *workload) (err error) {
	if h.meta, err = bolt.Open(filepath.Join(h.dir, "meta.db"), bolt.Options{Now: h.settableClock.now}); err != nil {
		return err
	}
	files, err := directory.Open(h.dir, directory.OS{})
	if err != nil {
		return errors.Join(err, h.meta.Close())
	}
	h.repo = repository.New(h.meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 1000, Now: h.settableClock.now})
	h.server = httptest.NewServer(handlers.New(h.repo, handlers.Config{Log: zerolog.Nop()}))
	if h.key == "" {
		if h.key, err = h.repo.Users.Bootstrap(ctx, ""); err != nil {
			return errors.Join(err, h.close())
		}
	}
	w.connect(e2e.NewClient(h.server.URL+"/v1", h.key))
	return nil
}

func (h *inProcess) close() error {
	h.server.Close()
	h.repo.Close()
	return h.meta.Close()
}
