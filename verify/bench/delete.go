package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// fewWriters is the number of clients that upload while a set is deleted.
const fewWriters = 4

// deletion measures the longest wait of writers while a large set is deleted. It restores the set
// after each round.
func (b *bench) deletion(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	s, err := b.filledSet(ctx, &open, "delete", b.many, 0)
	if err != nil {
		return nil, err
	}
	dataspace, set, err := s.MakeSet(ctx, "other")
	if err != nil {
		return nil, err
	}
	active, deleted := counters{ActiveFiles: b.many}, counters{DeletedFiles: b.many}
	r := row{what: fmt.Sprintf("deleting a set of %d with %d writers, their longest wait", b.many, fewWriters), unit: "ms",
		reference: "before it", worst: true, targets: []target{figureAtMost(25)}}
	sent := 0
	for round := range b.rounds {
		b.say("deleting a set, round %d", round+1)
		if err := errors.Join(s.holds(ctx, s.dataspace, active), b.atRest(ctx)); err != nil {
			return nil, err
		}
		before, during, err := b.writeDuring(ctx, s, set, &sent, func() error {
			return s.callAndWait(ctx, http.MethodDelete, "/sets/"+s.set, deleted)
		})
		if err != nil {
			return nil, err
		}
		r.add(during.percentile(100), before.percentile(100))
		if err := s.callAndWait(ctx, http.MethodPost, "/sets/"+s.set+"/restore", active); err != nil {
			return nil, err
		}
	}
	return []row{r}, s.holds(ctx, dataspace, counters{ActiveFiles: sent})
}

// changeLimit is the maximum duration of a deletion or restoration.
const changeLimit = 5 * time.Minute

// callAndWait sends a request and waits until the first dataspace of the service has the counters
// want. The cascade of a large container may continue after the answer, and only the counters show
// its end.
func (s *subject) callAndWait(ctx context.Context, method, path string, want counters) error {
	if err := s.Call(ctx, method, path, nil, nil); err != nil {
		return err
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got, err := s.counted(ctx, s.dataspace)
		if err != nil || got == want {
			return err
		}
		if time.Since(begin) > changeLimit {
			return fmt.Errorf("got the counters %+v after %s, want %+v", got, changeLimit, want)
		}
	}
}

// writeDuring runs clients that upload into a set, first for b.load, then while change runs. It
// returns the operations before and during the change, and adds the number of uploads to sent.
func (b *bench) writeDuring(ctx context.Context, s *subject, set string, sent *int, change func() error) (before, during load, err error) {
	wires, err := dials(ctx, s.peer, fewWriters)
	if err != nil {
		return before, during, err
	}
	defer closeAll(wires)
	uploaders, workers := make([]*uploader, len(wires)), make([]func() error, len(wires))
	for i, w := range wires {
		uploaders[i] = newUploader(w, s.peer, set, smallFile, b.number)
		workers[i] = uploaders[i].upload
	}
	var over atomic.Bool
	written := make(chan error, 1)
	var all load
	begin := time.Now()
	go func() {
		done, err := workWhile(workers, func(time.Time) bool { return !over.Load() })
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
