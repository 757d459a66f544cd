package repository

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"labshelf/metadata"
	"labshelf/paging"
)

// How much one commit of a deletion or restoration does: so little that other writers hardly notice. 200 objects take 2.2 ms, and
// as long again until they are on the disk.
const (
	stepWork    = 5 * time.Millisecond // until it is committed
	stepObjects = 200                  // at most
	stepChunk   = 20                   // between two looks at the clock
)

// stepRetry is the pause after a step that failed, for instance because the disk was full.
const stepRetry = time.Second

// cascade is what a Step does to the objects below its container. A cascade of no Step changes nothing.
type cascade struct{ *metadata.Step }

// target is the state that the step gives to objects.
func (s cascade) target() metadata.State {
	if s.Restore {
		return metadata.Active
	}
	return metadata.Deleted
}

// due tells whether the step will still change an object with this record. A cascade of no Step changes nothing.
func (s cascade) due(r metadata.Record) bool {
	switch {
	case s.Step == nil:
		return false
	case s.Restore:
		return r.State == metadata.Deleted && r.TakenBy == s.Deletion
	}
	return r.State == metadata.Active
}

// shows is the state in which a client sees an object with this record.
func (s cascade) shows(r metadata.Record) metadata.State {
	if s.due(r) {
		return s.target()
	}
	return r.State
}

// take moves one object's record.
func (s cascade) take(r *metadata.Record, stamp metadata.Stamp) {
	r.State, r.TakenBy = s.target(), 0
	if !s.Restore {
		r.TakenBy = s.Deletion
	}
	r.Modified, r.ModifiedBy = stamp, s.By
}

// advance moves objects for about stepWork, and tells whether none is left. Objects are found by ranges of the indexes: a
// deletion eats up the range of what is active; a restoration walks what was deleted between the container's deletion and the
// restoration, which is exactly what the deletion took, less what has been purged.
func (s cascade) advance(tx *metadata.Tx) (done bool, err error) {
	begun := time.Now()
	for moved := 0; moved < stepObjects && time.Since(begun) < stepWork; moved += stepChunk {
		if done, err = s.advanceChunk(tx); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (s cascade) advanceChunk(tx *metadata.Tx) (done bool, err error) {
	sets, err := s.advanceSets(tx)
	if err != nil {
		return false, err
	}
	resources, err := s.advanceResources(tx, stepChunk-sets)
	return sets+resources < stepChunk, err
}

func (s cascade) advanceSets(tx *metadata.Tx) (moved int, err error) {
	if !s.OfDataspace() {
		return 0, nil
	}
	within := metadata.SetRange{Dataspaces: []metadata.ID{s.DataspaceID}, States: s.source(), After: s.AfterSet}
	sets, err := collect(tx.Sets.Range(within), stepChunk)
	if err != nil {
		return 0, err
	}
	for _, set := range sets {
		s.AfterSet = set.ID
		if !s.due(set.Record) {
			continue
		}
		s.take(&set.Record, tx.Stamp())
		if err := tx.Sets.Put(set); err != nil {
			return 0, err
		}
	}
	return len(sets), nil
}

// advanceResources brings the counters in line once for all that it moves.
func (s cascade) advanceResources(tx *metadata.Tx, most int) (moved int, err error) {
	resources, err := collect(tx.Resources.Range(s.resources()), most)
	if err != nil {
		return 0, err
	}
	var change metadata.Counters
	var last metadata.Stamp
	for _, r := range resources {
		s.AfterStamp = r.Modified
		if !s.due(r.Record) || r.Body == metadata.Purged {
			continue
		}
		after := r
		last = tx.Stamp()
		s.take(&after.Record, last)
		change = change.Add(counted(after)).Add(counted(r).Negated())
		if err := keepResource(tx, &r, after); err != nil {
			return 0, err
		}
	}
	return len(resources), count(tx, s.DataspaceID, last.Day(), change)
}

// resources is the range of those that are left.
func (s cascade) resources() metadata.ResourceRange {
	within := metadata.ResourceRange{States: s.source(), Order: paging.Oldest}
	if s.OfDataspace() {
		within.Dataspaces = []metadata.ID{s.DataspaceID}
	} else {
		within.Set = s.Container
	}
	if s.Restore {
		within.Since, within.Until = s.AfterStamp, s.Begun
	}
	return within
}

// source is the state of the objects that the step looks for.
func (s cascade) source() paging.States {
	if s.Restore {
		return paging.Deleted
	}
	return paging.Active
}

// collect reads up to most items.
func collect[T any](seq iter.Seq2[T, error], most int) ([]T, error) {
	var items []T
	if most <= 0 {
		return nil, nil
	}
	for item, err := range seq {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == most {
			break
		}
	}
	return items, nil
}

// begin starts a step in the transaction that changed its container. What fits into one step is done at once.
func begin(tx *metadata.Tx, step *metadata.Step) (done bool, err error) {
	if done, err = (cascade{step}).advance(tx); done || err != nil {
		return done, err
	}
	return false, tx.Steps.Put(*step)
}

// stepper carries out the steps in the table, one bounded commit each, in turn, whatever container they belong to.
type stepper struct {
	meta    metadata.Transactions
	trouble *troubles
	wake    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}

	mu      sync.Mutex
	waiting map[metadata.ID][]chan error
}

func startStepper(meta metadata.Transactions, trouble *troubles) *stepper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stepper{
		meta: meta, trouble: trouble, wake: make(chan struct{}, 1), stop: cancel, stopped: make(chan struct{}),
		waiting: map[metadata.ID][]chan error{},
	}
	go s.run(ctx)
	return s
}

func (s *stepper) close() {
	s.stop()
	<-s.stopped
}

// wait returns when nothing is under way in the container any more, or with the error that holds it up; then the steps go
// on by themselves as soon as they can.
func (s *stepper) wait(ctx context.Context, container metadata.ID) error {
	answer := make(chan error, 1)
	s.mu.Lock()
	s.waiting[container] = append(s.waiting[container], answer)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
	select {
	case err := <-answer:
		return err
	case <-s.stopped:
		return metadata.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stepper) answer(container metadata.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, answer := range s.waiting[container] {
		answer <- err
	}
	delete(s.waiting, container)
}

// run goes round the table until it is empty, then sleeps until somebody waits for a step. A container whose step fails is
// left alone for a while; the others go on.
func (s *stepper) run(ctx context.Context) {
	defer close(s.stopped)
	held := map[metadata.ID]hold{}
	for ctx.Err() == nil {
		steps, err := s.pending(ctx)
		moved := false
		for _, step := range steps {
			if h := held[step.Container]; time.Now().Before(h.until) {
				err = errors.Join(err, h.err)
				continue
			}
			delete(held, step.Container)
			if failed := s.advance(ctx, step.Container); failed != nil {
				held[step.Container] = hold{time.Now().Add(stepRetry), failed}
				err = errors.Join(err, failed)
				s.answer(step.Container, failed)
				continue
			}
			moved = true
		}
		s.trouble.tell(taskSteps, err)
		if !moved {
			s.sleep(ctx, err != nil || len(steps) > 0)
		}
	}
}

// hold is why a container is left alone, and until when.
type hold struct {
	until time.Time
	err   error
}

// sleep waits until somebody waits for a step or, if something is to be tried again, for a while.
func (s *stepper) sleep(ctx context.Context, again bool) {
	var after <-chan time.Time
	if again {
		after = time.After(stepRetry)
	}
	select {
	case <-s.wake:
	case <-after:
	case <-ctx.Done():
	}
}

// pending reads the table, and answers those who wait for a container that is not in it.
func (s *stepper) pending(ctx context.Context) (steps []metadata.Step, err error) {
	s.mu.Lock()
	idle := make(map[metadata.ID]bool, len(s.waiting))
	for container := range s.waiting {
		idle[container] = true
	}
	s.mu.Unlock()
	err = s.meta.View(ctx, func(tx *metadata.Tx) error {
		steps, err = collect(tx.Steps.All(), 1<<20)
		return err
	})
	for _, step := range steps {
		delete(idle, step.Container)
	}
	for container := range idle {
		s.answer(container, err)
	}
	return steps, err
}

// advance carries out one step of a container in a commit of its own.
func (s *stepper) advance(ctx context.Context, container metadata.ID) error {
	return s.meta.UpdateBehind(ctx, func(tx *metadata.Tx) error {
		step, err := tx.Steps.Get(container)
		if errors.Is(err, metadata.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		done, err := cascade{&step}.advance(tx)
		switch {
		case err != nil:
			return err
		case done:
			return tx.Steps.Remove(container)
		}
		return tx.Steps.Put(step)
	})
}
