package rows

import (
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// What a cascade does to the objects below its container. Of none, nil, nothing is due.

// CascadeOf returns the cascade of a container, nil where there is none.
func CascadeOf(tx *metadata.Tx, container metadata.ID) (*metadata.Cascade, error) {
	c, err := tx.Cascades.Get(container)
	if errors.Is(err, metadata.ErrNotFound) {
		return nil, nil
	}
	return &c, err
}

// Target is the state that a cascade gives to objects.
func Target(c *metadata.Cascade) metadata.State {
	if c.Restore {
		return metadata.Active
	}
	return metadata.Deleted
}

// Due tells whether a cascade will still change an object with this record.
func Due(c *metadata.Cascade, r metadata.Record) bool {
	switch {
	case c == nil:
		return false
	case c.Restore:
		return r.State == metadata.Deleted && r.TakenBy == c.Deletion
	}
	return r.State == metadata.Active
}

// Shown is the state in which a client sees an object with this record.
func Shown(c *metadata.Cascade, r metadata.Record) metadata.State {
	if Due(c, r) {
		return Target(c)
	}
	return r.State
}

// ChangeOf is what a cascade does to an object of a kind, a set or a resource, for the audit log.
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

// Take changes the record of one object as its cascade is to.
func Take(c *metadata.Cascade, r *metadata.Record, stamp metadata.Stamp) {
	r.State, r.TakenBy = Target(c), 0
	if !c.Restore {
		r.TakenBy = c.Deletion
	}
	r.Modified, r.ModifiedBy = stamp, c.By
}
