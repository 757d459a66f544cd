package faults

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// repositoryChanges is the number of changes in one repository. The time of the comparison grows
// with it.
const repositoryChanges = 10_000

// harvest crashes and restarts harvesters while 16 writers run, and the service is killed and
// restarted.
func harvest(ctx context.Context, t *trial) (err error) {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	for t.more(ctx) {
		begun := t.done
		w, err := newWorkload(ctx, program, filepath.Join(t.dir, fmt.Sprint("data-", begun)), t.random(begun))
		if err != nil {
			return err
		}
		if err := w.addWriters(ctx, 2*writerCount, t.random(begun)); err != nil {
			return errors.Join(err, w.stop())
		}
		w.readers, w.harvesters = 0, nil
		for i, limit := range []int{1, 7, 100, 500} {
			w.harvesters = append(w.harvesters, newHarvester(limit, t.random(begun+i)))
		}
		for i := 0; t.done-begun < repositoryChanges && t.more(ctx); i++ {
			before := w.answered()
			if err := harvestOnce(ctx, t, w, i); err != nil {
				w.service.Kill()
				return err
			}
			t.done += int(w.answered() - before)
		}
		if err := finish(ctx, t, w); err != nil {
			return err
		}
	}
	t.add("missed", 0)
	t.add("out of order", 0)
	return nil
}

// harvestOnce is one cycle under load. It ends with killing the service, or with stopping it like
// an operator.
func harvestOnce(ctx context.Context, t *trial, w *workload, i int) error {
	end := func() error { w.service.Kill(); return nil }
	if i%2 == 1 {
		end = w.service.Stop
	}
	if err := w.runUntil(ctx, t, time.Duration(200+t.random(t.done).IntN(800))*time.Millisecond, end); err != nil {
		return err
	}
	if _, err := w.start(ctx); err != nil {
		return err
	}
	before := 0
	for _, h := range w.harvesters {
		before += len(h.arrived)
	}
	if err := w.verify(ctx); err != nil {
		return err
	}
	t.add("restarts", 1)
	t.add("arrivals before the restarts", int64(before))
	for _, h := range w.harvesters {
		t.add("harvesters died", int64(h.resumed))
		h.resumed = 0
	}
	return nil
}
