package repository

import (
	"errors"

	"labshelf/errs"
	"labshelf/metadata"
)

// Deleting and restoring sets and dataspaces: the container changes in the first commit, its objects follow in steps.

// passage is what a request to delete or restore a container meets inside its transaction.
type passage struct {
	record   *metadata.Record // the container's, as stored
	restore  bool
	by       metadata.ID
	space    metadata.ID    // the dataspace it is in, or is
	above    *metadata.Step // under way in the container above
	own      *metadata.Step // under way in itself
	within   bool           // something is under way in a container within
	shown    metadata.State // the container's state, as a client sees it
	tag      string
	orphaned error // why it cannot be restored where it is, or nil
}

// pass decides about the request. It returns wait when the steps of the same request, made before, are still under way,
// and otherwise the step to begin after the record has been stored, or nil if there is nothing to do.
func (c passage) pass(tx *metadata.Tx, match Match) (step *metadata.Step, wait bool, err error) {
	if c.above != nil || c.within || c.own != nil && c.own.Restore != c.restore {
		return nil, false, conflict(errs.CodeBusy, "", "a deletion or restoration is under way here; try again when it is done")
	}
	if err := match.Check(c.tag, c.record.Modified); err != nil {
		return nil, false, err
	}
	if c.own != nil {
		return nil, true, nil
	}
	done := c.shown == metadata.Deleted
	if c.restore {
		done = !done
	}
	if done {
		return nil, false, nil
	}
	if c.restore && c.orphaned != nil {
		return nil, false, c.orphaned
	}
	step = &metadata.Step{Container: c.record.ID, DataspaceID: c.space, Restore: c.restore, By: c.by, Begun: tx.Stamp()}
	if c.restore {
		step.Deletion = c.record.Modified
		step.AfterStamp = step.Deletion
		c.record.State = metadata.Active
	} else {
		step.Deletion = step.Begun
		c.record.State = metadata.Deleted
	}
	c.record.TakenBy, c.record.Modified, c.record.ModifiedBy = 0, step.Begun, c.by
	return step, false, nil
}

// parentDeleted refuses to put something into a container that is deleted.
func parentDeleted(field, what string) error {
	return conflict(errs.CodeParentDeleted, field, "the %s is deleted; restore it first", what)
}

// begunError is storageError for what held up the steps: the container has changed all the same.
func begunError(err error) error {
	var known *errs.Error
	if !errors.As(storageError(err), &known) {
		return nil
	}
	return &errs.Error{Kind: known.Kind, Code: known.Code, Err: err,
		Message: "this has begun, but was held up; it goes on by itself as soon as it can, and the same request again waits for it"}
}
