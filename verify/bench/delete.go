package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// fewWriters is how many clients upload while a set is deleted.
const fewWriters = 4

// deletion measures how long those who write wait at most while a large set is deleted, and while it is restored.
func (b *bench) deletion(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	s, err := b.shelf(ctx, &open, "delete", b.many, 0)
	if err != nil {
		return nil, err
	}
	dataspace, set, err := s.makeSet(ctx, "beside")
	if err != nil {
		return nil, err
	}
	whole := counters{ActiveFiles: b.many}
	none := counters{DeletedFiles: b.many}
	changes := []struct {
		name, method, path string
		want               counters
		targets            []target
	}{
		{"deleting", http.MethodDelete, "/sets/" + s.set, none, []target{figureAtMost(25)}},
		{"restoring", http.MethodPost, "/sets/" + s.set + "/restore", whole, nil},
	}
	if err := s.holds(ctx, s.dataspace, whole); err != nil {
		return nil, err
	}
	rows = make([]row, 3*len(changes))
	sent := 0
	for i, c := range changes {
		what := fmt.Sprintf("%s a set of %d beside %d writers", c.name, b.many, fewWriters)
		rows[3*i] = row{what: what + ", their longest wait", unit: "ms", beside: "before it", worst: true, targets: c.targets}
		rows[3*i+1] = row{what: what + ", their p99", unit: "ms", beside: "before it"}
		rows[3*i+2] = row{what: what + ", until it is done", unit: "s"}
	}
	for round := range b.rounds {
		for i, c := range changes {
			b.say("%s a set, round %d", c.name, round+1)
			if err := b.atRest(ctx); err != nil {
				return nil, err
			}
			change := func() error {
				if err := s.Call(ctx, c.method, c.path, nil, nil); err != nil {
					return err
				}
				return s.becomes(ctx, c.want)
			}
			calm, beside, err := b.writeBeside(ctx, s, set, &sent, change)
			if err != nil {
				return nil, err
			}
			rows[3*i].add(beside.percentile(100), calm.percentile(100))
			rows[3*i+1].add(beside.percentile(99), calm.percentile(99))
			rows[3*i+2].add(beside.took.Seconds(), 0)
		}
	}
	return rows, s.holds(ctx, dataspace, counters{ActiveFiles: sent})
}

// changeLimit is how long a deletion or a restoration may take.
const changeLimit = 5 * time.Minute

// becomes waits until the service's first dataspace has exactly so many files.
func (s *subject) becomes(ctx context.Context, want counters) error {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got, err := s.counted(ctx, s.dataspace)
		if err != nil || got == want {
			return err
		}
		if time.Since(begin) > changeLimit {
			return fmt.Errorf("%+v after %s instead of %+v", got, changeLimit, want)
		}
	}
}

// writeBeside lets clients upload into a set, first for as long as a load goes on and then while a change is made. It returns what
// they did in each of these times, and adds to sent how many uploads there were.
func (b *bench) writeBeside(ctx context.Context, s *subject, set string, sent *int, change func() error) (calm, beside load, err error) {
	wires, err := dials(ctx, s.peer, fewWriters)
	if err != nil {
		return calm, beside, err
	}
	defer hangUp(wires)
	uploaders, hands := make([]*uploader, len(wires)), make([]func() error, len(wires))
	for i, w := range wires {
		uploaders[i] = newUploader(w, s.peer, set, smallFile, b.number)
		hands[i] = uploaders[i].upload
	}
	var over atomic.Bool
	written := make(chan error, 1)
	var all load
	begin := time.Now()
	go func() {
		done, err := workWhile(hands, func(time.Time) bool { return !over.Load() })
		all = done
		written <- err
	}()
	time.Sleep(b.load)
	changing := time.Now()
	changed := change()
	end := time.Now()
	over.Store(true)
	err = errors.Join(<-written, changed)
	for _, u := range uploaders {
		if err == nil {
			err = u.verify()
		}
		*sent += len(u.receipts)
	}
	return all.during(begin, changing), all.during(changing, end), err
}
