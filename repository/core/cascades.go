package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Bounds of one commit of a deletion or restoration. They are small enough not to delay other
// writers noticeably.
const (
	batchTime    = 5 * time.Millisecond // maximum time of a batch until its commit
	batchObjects = 200                  // maximum number in a batch
	batchStride  = 20                   // objects between two readings of the clock
)

// cascadeBackoff is the pause after a failed batch, for instance on a full disk.
const cascadeBackoff = time.Second

// batch is the part of a cascade that one commit does.
type batch struct{ *metadata.Cascade }

// advance changes objects for about batchTime, and reports whether all are done. It finds objects
// by ranges of the indexes. A deletion consumes the range of active objects. A restoration walks
// the objects that were deleted between the container's deletion and the restoration. These are
// exactly the objects that the deletion took along, except purged ones.
func (s batch) advance(tx *metadata.Tx) (done bool, err error) {
	begun := time.Now()
	for moved := 0; moved < batchObjects && time.Since(begun) < batchTime; moved += batchStride {
		if done, err = s.advanceChunk(tx); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (s batch) advanceChunk(tx *metadata.Tx) (done bool, err error) {
	sets, err := s.advanceSets(tx)
	if err != nil {
		return false, err
	}
	resources, err := s.advanceResources(tx, batchStride-sets)
	return sets+resources < batchStride, err
}

func (s batch) advanceSets(tx *metadata.Tx) (moved int, err error) {
	if !s.OfDataspace() {
		return 0, nil
	}
	within := metadata.SetRange{Dataspaces: []metadata.ID{s.DataspaceID}, States: s.source(), After: s.AfterSet}
	sets, err := rows.Collect(tx.Sets.Range(within), batchStride)
	if err != nil {
		return 0, err
	}
	for _, set := range sets {
		s.AfterSet = set.ID
		if !rows.Due(s.Cascade, set.Record) {
			continue
		}
		before := set
		rows.Take(s.Cascade, &set.Record, tx.Stamp())
		if err := rows.SaveSet(tx, rows.ChangeOf(s.Cascade, audit.Set), &before, &set); err != nil {
			return 0, err
		}
	}
	return len(sets), nil
}

// advanceResources updates the counters once for all the resources that it changes.
func (s batch) advanceResources(tx *metadata.Tx, most int) (moved int, err error) {
	resources, err := rows.Collect(tx.Resources.Range(s.resources()), most)
	if err != nil {
		return 0, err
	}
	var change metadata.Counters
	var last metadata.Stamp
	for _, r := range resources {
		s.AfterStamp = r.Modified
		if !rows.Due(s.Cascade, r.Record) || r.Body == metadata.Purged {
			continue
		}
		after := r
		last = tx.Stamp()
		rows.Take(s.Cascade, &after.Record, last)
		change = change.Add(rows.Counted(after)).Add(rows.Counted(r).Negated())
		if err := rows.SaveResource(tx, rows.ChangeOf(s.Cascade, audit.Resource), &r, &after); err != nil {
			return 0, err
		}
	}
	return len(resources), rows.CountUsage(tx, s.DataspaceID, last.Day(), change)
}

// resources returns the range of the resources that are left.
func (s batch) resources() metadata.ResourceRange {
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

// source returns the state of the objects that the cascade has to find.
func (s batch) source() paging.States {
	if s.Restore {
		return paging.Deleted
	}
	return paging.Active
}

// BeginCascade starts a cascade in the transaction that has changed its container. If the cascade
// fits into one batch, it is complete when BeginCascade returns, and done is true.
func BeginCascade(tx *metadata.Tx, cascade *metadata.Cascade) (done bool, err error) {
	if done, err = (batch{cascade}).advance(tx); done || err != nil {
		return done, err
	}
	return false, tx.Cascades.Put(*cascade)
}

// Cascades runs the cascades in the table, in turn, one bounded batch at a time.
type Cascades struct {
	meta    metadata.Transactions
	errors  *background.Errors
	worker  *background.Worker
	backoff map[metadata.ID]backoff // only the worker uses it

	mu      sync.Mutex
	waiting map[metadata.ID][]chan error
}

func startCascades(meta metadata.Transactions, failures *background.Errors) *Cascades {
	s := &Cascades{meta: meta, errors: failures, backoff: map[metadata.ID]backoff{}, waiting: map[metadata.ID][]chan error{}}
	s.worker = background.Start(background.Next{}, s.round)
	return s
}

// wait returns when the container has no cascade any more. It returns the error that delays the
// cascade; the cascade then resumes automatically.
func (s *Cascades) wait(ctx context.Context, container metadata.ID) error {
	answer := make(chan error, 1)
	s.mu.Lock()
	s.waiting[container] = append(s.waiting[container], answer)
	s.mu.Unlock()
	s.worker.Wake()
	select {
	case err := <-answer:
		return err
	case <-s.worker.Done():
		return metadata.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Cascades) answer(container metadata.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, answer := range s.waiting[container] {
		answer <- err
	}
	delete(s.waiting, container)
}

// round runs one batch of each cascade in the table. It skips a container for a while after its
// batch has failed.
func (s *Cascades) round(ctx context.Context) background.Next {
	cascades, err := s.pending(ctx)
	moved := false
	for _, cascade := range cascades {
		if b := s.backoff[cascade.Container]; time.Now().Before(b.until) {
			err = errors.Join(err, b.err)
			continue
		}
		delete(s.backoff, cascade.Container)
		if failed := s.Advance(ctx, cascade.Container); failed != nil {
			s.backoff[cascade.Container] = backoff{time.Now().Add(cascadeBackoff), failed}
			err = errors.Join(err, failed)
			s.answer(cascade.Container, failed)
			continue
		}
		moved = true
	}
	s.errors.Report(background.TaskCascades, err)
	switch {
	case moved:
		return background.Next{}
	case err != nil, len(cascades) > 0:
		return background.After(cascadeBackoff)
	}
	return background.Idle()
}

// backoff is the reason why a container is skipped, and the end of that.
type backoff struct {
	until time.Time
	err   error
}

// pending reads the table, and answers the waiting calls for containers without a cascade.
func (s *Cascades) pending(ctx context.Context) (cascades []metadata.Cascade, err error) {
	s.mu.Lock()
	idle := make(map[metadata.ID]bool, len(s.waiting))
	for container := range s.waiting {
		idle[container] = true
	}
	s.mu.Unlock()
	err = s.meta.View(ctx, func(tx *metadata.Tx) error {
		cascades, err = rows.Collect(tx.Cascades.All(metadata.ID{}), 1<<20)
		return err
	})
	for _, cascade := range cascades {
		delete(idle, cascade.Container)
	}
	for container := range idle {
		s.answer(container, err)
	}
	return cascades, err
}

// Advance runs one batch of a container in its own commit.
func (s *Cascades) Advance(ctx context.Context, container metadata.ID) error {
	return s.meta.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		cascade, err := tx.Cascades.Get(container)
		if errors.Is(err, metadata.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		done, err := batch{&cascade}.advance(tx)
		switch {
		case err != nil:
			return err
		case done:
			return tx.Cascades.Remove(container)
		}
		return tx.Cascades.Put(cascade)
	})
}

// Deleting or restoring a set or dataspace changes the container in the first commit; its objects
// follow in batches.

// Transition is a request to delete or restore a container, with the state found in its
// transaction.
type Transition struct {
	Record   *metadata.Record // of the container, as stored
	Restore  bool
	By       metadata.ID
	Space    metadata.ID       // id of its dataspace, or its own id if it is a dataspace
	Above    *metadata.Cascade // cascade of the container above, or nil
	Own      *metadata.Cascade // cascade of the container itself, or nil
	Within   bool              // a container inside has a cascade
	Shown    metadata.State    // state of the container as clients see it
	Tag      string
	Orphaned error // why it cannot be restored in place, or nil
}

// Begin decides about the request. wait reports that the cascade of an earlier identical request is
// still running. Otherwise Begin returns the cascade to start after the record has been stored, or
// nil if there is nothing to do.
func (c Transition) Begin(tx *metadata.Tx, match Match) (cascade *metadata.Cascade, wait bool, err error) {
	if c.Above != nil || c.Within || c.Own != nil && c.Own.Restore != c.Restore {
		return nil, false, Conflict(errs.CodeBusy, "", "a deletion or restoration is in progress here; try again when it is done")
	}
	if c.Own != nil { // the first request has met its precondition
		return nil, true, nil
	}
	if err := match.Check(c.Tag, c.Record.Modified); err != nil {
		return nil, false, err
	}
	done := c.Shown == metadata.Deleted
	if c.Restore {
		done = !done
	}
	if done {
		return nil, false, nil
	}
	if c.Restore && c.Orphaned != nil {
		return nil, false, c.Orphaned
	}
	cascade = &metadata.Cascade{Container: c.Record.ID, DataspaceID: c.Space, Restore: c.Restore, By: c.By, Begun: tx.Stamp()}
	if c.Restore {
		cascade.Deletion = c.Record.Modified
		cascade.AfterStamp = cascade.Deletion
		c.Record.State = metadata.Active
	} else {
		cascade.Deletion = cascade.Begun
		c.Record.State = metadata.Deleted
	}
	c.Record.TakenBy, c.Record.Modified, c.Record.ModifiedBy = 0, cascade.Begun, c.By
	return cascade, false, nil
}

// Change returns the change that the audit log records for the request.
func (c Transition) Change(by auth.Principal, deletion, restoration audit.Action) rows.Change {
	if c.Restore {
		return rows.Change{By: by, Action: restoration}
	}
	return rows.Change{By: by, Action: deletion}
}

// ParentDeleted returns the error for creating something in a deleted container.
func ParentDeleted(field, what string) error {
	return Conflict(errs.CodeParentDeleted, field, "the %s is deleted; restore it first", what)
}

// AwaitCascade returns when a container has no cascade any more. An error means that the cascade
// has begun but is delayed.
func (s *Core) AwaitCascade(ctx context.Context, container metadata.ID) error {
	return begunError(s.Cascades.wait(ctx, container))
}

// begunError is storage.Error for an error that delays a cascade whose container has already
// changed.
func begunError(err error) error {
	var known *errs.Error
	if !errors.As(storage.Error(err), &known) {
		return nil
	}
	return &errs.Error{Kind: known.Kind, Code: known.Code, Err: err,
		Message: "the deletion or restoration has begun but is delayed; it continues automatically; repeat the request to wait for its end"}
}
