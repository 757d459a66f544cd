package core

import (
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
)

// MaxStep is the maximum number of files that one transaction of a long operation changes.
const MaxStep = 200

// NewRecord returns the record of a new object of the caller.
func NewRecord(tx *metadata.Tx, p auth.Principal) metadata.Record {
	stamp := tx.Stamp()
	return metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp, CreatedBy: p.UserID, ModifiedBy: p.UserID}
}

// Changeable returns an error if an object in this state and version must not be edited.
func Changeable(shown metadata.State, tag string, modified metadata.Stamp, match Match) error {
	if err := match.Check(tag, modified); err != nil {
		return err
	}
	if shown == metadata.Deleted {
		return Conflict(errs.CodeDeleted, "", "this is deleted; restore it first")
	}
	return nil
}

// Write stores a changed resource under a new stamp, in the state of changed. It first applies a
// cascade that is still due.
func (r ResolvedResource) Write(tx *metadata.Tx, c rows.Change, changed *metadata.Resource) error {
	before := r.Resource
	if cascade := r.due(); cascade != nil {
		rows.Take(cascade, &before.Record, tx.Stamp())
		if err := PutResource(tx, rows.ChangeOf(cascade, audit.Resource), &r.Resource, &before); err != nil {
			return err
		}
	}
	changed.TakenBy = 0
	if changed.Modified = tx.Stamp(); c.By.UserID != (metadata.ID{}) {
		changed.ModifiedBy = c.By.UserID
	}
	return PutResource(tx, c, &before, changed)
}

// Pass sets the state of shown, the resource to store, and returns the action for the audit log. It
// returns an error if the resource cannot be restored.
func (r ResolvedResource) Pass(shown *metadata.Resource, to metadata.State) (audit.Action, error) {
	shown.State = to
	if to == metadata.Deleted {
		return audit.ResourceDelete, nil
	}
	shown.MovedTo = metadata.ID{}
	return audit.ResourceRestore, r.restorable()
}

// restorable returns an error if a deleted resource cannot be restored.
func (r ResolvedResource) restorable() error {
	switch {
	case r.Body == metadata.Purged:
		return Conflict(errs.CodePurged, "", "the file of this resource has been purged; it cannot be restored")
	case r.Set.Dataspace.State == metadata.Deleted:
		return ParentDeleted("", "dataspace of this resource")
	case r.Set.Shown().State == metadata.Deleted:
		return ParentDeleted("", "set of this resource")
	}
	return nil
}

// PutResource stores a new (before is nil) or changed resource, and updates the counters of its
// dataspace. It returns an error if added bytes would exceed a quota.
func PutResource(tx *metadata.Tx, c rows.Change, before, after *metadata.Resource) error {
	change := rows.ChangeCounted(before, *after)
	if bytes := change.Bytes(); bytes > 0 {
		if err := quota.Check(tx, quota.Place{Dataspace: after.DataspaceID, User: c.By.UserID}, bytes); err != nil {
			return err
		}
	}
	return errors.Join(rows.CountUsage(tx, after.DataspaceID, after.Modified.Day(), change), rows.SaveResource(tx, c, before, after))
}

// Write stores a changed set under a new stamp. It first applies a cascade that is still due.
func (s ResolvedSet) Write(tx *metadata.Tx, p auth.Principal, changed *metadata.Set) error {
	before := s.Set
	if rows.Due(s.Above, s.Record) {
		rows.Take(s.Above, &before.Record, tx.Stamp())
		if err := rows.SaveSet(tx, rows.ChangeOf(s.Above, audit.Set), &s.Set, &before); err != nil {
			return err
		}
		changed.Record = before.Record
	}
	changed.Modified, changed.ModifiedBy = tx.Stamp(), p.UserID
	return rows.SaveSet(tx, rows.Change{By: p, Action: audit.SetUpdate}, &before, changed)
}
