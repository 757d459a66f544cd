package rows

import (
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// These functions compute the effect of a cascade on the objects in its container. A nil cascade
// has no effect.

// CascadeOf returns the cascade of a container, or nil without one.
func CascadeOf(tx *metadata.Tx, container metadata.ID) (*metadata.Cascade, error) {
	c, err := tx.Cascades.Get(container)
	if errors.Is(err, metadata.ErrNotFound) {
		return nil, nil
	}
	return &c, err
}

// Target returns the state that a cascade gives to objects.
func Target(c *metadata.Cascade) metadata.State {
	if c.Restore {
		return metadata.Active
	}
	return metadata.Deleted
}

// Due reports whether a cascade will still change an object with this record.
func Due(c *metadata.Cascade, r metadata.Record) bool {
	switch {
	case c == nil:
		return false
	case c.Restore:
		return r.State == metadata.Deleted && r.TakenBy == c.Deletion
	}
	return r.State == metadata.Active
}

// Shown returns the state in which clients see an object with this record.
func Shown(c *metadata.Cascade, r metadata.Record) metadata.State {
	if Due(c, r) {
		return Target(c)
	}
	return r.State
}

// ChangeOf returns the change that a cascade makes to a set or a resource, for the audit log.
func ChangeOf(c *metadata.Cascade, kind audit.Kind) Change {
	actions := [...]audit.Action{audit.ResourceDelete, audit.ResourceRestore}
	if kind == audit.Set {
		actions = [...]audit.Action{audit.SetDelete, audit.SetRestore}
	}
	change := Change{By: auth.Principal{UserID: c.By}, Action: actions[0], Cause: c.Entry}
	if c.Restore {
		change.Action = actions[1]
	}
	return change
}

// Take applies a cascade to the record of one object.
func Take(c *metadata.Cascade, r *metadata.Record, stamp metadata.Stamp) {
	r.State, r.TakenBy = Target(c), 0
	if !c.Restore {
		r.TakenBy = c.Deletion
	}
	r.Modified, r.ModifiedBy = stamp, c.By
}
