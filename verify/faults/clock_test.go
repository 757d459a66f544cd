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

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/repository"
)

// wall is a clock that can be set.
type wall struct {
	ahead  atomic.Int64 // nanoseconds
	frozen atomic.Int64 // at this time since 1970, in nanoseconds; 0: it goes
}

func (w *wall) now() time.Time {
	if at := w.frozen.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Now().Add(time.Duration(w.ahead.Load()))
}

// move sets the clock, by so much from what is right; frozen stops it there.
func (w *wall) move(ahead time.Duration, frozen bool) {
	w.frozen.Store(0)
	w.ahead.Store(int64(ahead))
	if frozen {
		w.frozen.Store(w.now().UnixNano())
	}
}

// setting is one way of a clock to go wrong.
type setting struct {
	name  string
	ahead []time.Duration // one after the other, while everybody writes
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

// clock moves the clock of the service, in this process, while everybody writes; between the moves it is opened anew.
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

// tryClock goes through one setting with a new repository.
func (t *trial) tryClock(ctx context.Context, program string, c setting, i int) error {
	h := &house{wall: new(wall), dir: filepath.Join(t.dir, fmt.Sprint("data-", i))}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return err
	}
	w := &world{program: program, data: h.dir, readers: 1, harvesters: []*harvester{newHarvester(1, nil), newHarvester(100, nil)}}
	for n, ahead := range c.ahead {
		if err := h.open(ctx, w); err != nil {
			return err
		}
		err := w.hire(ctx, writerCount, t.random(i))
		if err == nil {
			// The clock moves in the middle.
			time.AfterFunc(50*time.Millisecond, func() { h.wall.move(ahead, c.stops && n > 0) })
			err = w.underLoad(ctx, t, 150*time.Millisecond, func() error { return nil })
		}
		if err == nil {
			w.ended.Store(false)
			err = w.verify(ctx)
		}
		if behind := h.meta.Health().ClockBehind; err == nil && n > 0 && ahead < c.ahead[n-1] && behind <= 0 {
			err = violated(nil, "the clock went back by %v, and nobody says so", c.ahead[n-1]-ahead)
		}
		if err := errors.Join(err, h.close()); err != nil {
			return err
		}
	}
	return errors.Join(w.checkStopped(ctx), os.RemoveAll(h.dir))
}

// house is the service within this process, on real stores and a clock of ours.
type house struct {
	wall   *wall
	dir    string
	key    string
	meta   *bolt.Store
	repo   *repository.Service
	server *httptest.Server
}

// open opens it and lets the world call it.
func (h *house) open(ctx context.Context, w *world) (err error) {
	if h.meta, err = bolt.Open(filepath.Join(h.dir, "meta.db"), bolt.Options{Now: h.wall.now}); err != nil {
		return err
	}
	files, err := blobs.OpenDir(h.dir, blobs.OS{})
	if err != nil {
		return errors.Join(err, h.meta.Close())
	}
	h.repo = repository.New(h.meta, files, repository.Config{PageSize: 100, DirectoryPageSize: 1000, Now: h.wall.now})
	h.server = httptest.NewServer(handlers.New(h.repo, handlers.Config{Log: zerolog.Nop()}))
	if h.key == "" {
		if h.key, err = h.repo.Bootstrap(ctx, ""); err != nil {
			return errors.Join(err, h.close())
		}
	}
	w.caller = &caller{base: h.server.URL + "/v1", key: h.key, http: h.server.Client()}
	for _, writer := range w.writers {
		writer.caller = w.caller
	}
	return nil
}

func (h *house) close() error {
	h.server.Close()
	h.repo.Close()
	return h.meta.Close()
}
