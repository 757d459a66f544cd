package describe

import (
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// lookupEdit reads a bulk edit, and authorises the caller in the dataspace of its set.
func lookupEdit(tx *metadata.Tx, p auth.Principal, id string, action auth.Action) (metadata.BulkEdit, error) {
	e, err := core.ByID(tx.Edits.Get, id)
	if e, err = core.OrNotFound(e, err, errs.CodeEditNotFound, "edit", ""); err != nil {
		return e, err
	}
	of, err := core.ResolveSet(tx, e.SetID)
	if err == nil {
		err = of.Authorise(tx, p, action)
	}
	return e, err
}

// Get returns a bulk edit. During the edit, the number of its files grows with each step.
func (s *BulkEdits) Get(ctx context.Context, p auth.Principal, id string) (e metadata.BulkEdit, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		e, err = lookupEdit(tx, p, id, auth.Read)
		return err
	})
	return e, err
}

// List returns the last hundred bulk edits of a set, newest first.
func (s *BulkEdits) List(ctx context.Context, p auth.Principal, set string) (list []metadata.BulkEdit, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		of, err := core.LookupSet(tx, set, "")
		if err == nil {
			err = of.Authorise(tx, p, auth.Read)
		}
		if err == nil {
			list, err = rows.Collect(tx.Edits.OfSet(of.ID, metadata.ID{}), maxShown)
		}
		return err
	})
	return list, err
}
