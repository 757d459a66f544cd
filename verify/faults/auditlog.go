package faults

import (
	"context"
	"errors"
	"path/filepath"

	"labshelf/bolt"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
)

// acknowledged is a change that was acknowledged. The audit log must contain it.
type acknowledged struct {
	id    string
	stamp int64
}

// verifyLog compares the audit log of a stopped service with the acknowledged changes. Each change
// must have its entry, and the earlier entries must be unchanged. The check of the repository finds
// entries without their change: each object must match its last entry.
func (w *workload) verifyLog(ctx context.Context) (err error) {
	meta, err := bolt.Open(filepath.Join(w.data, "meta.db"), bolt.Options{ReadOnly: true})
	if err != nil {
		return violated(nil, "the metadata cannot be opened: %v", err)
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	return meta.View(ctx, func(tx *metadata.Tx) error {
		logged, made, err := readLog(tx)
		if err != nil {
			return err
		}
		for _, writer := range w.writers {
			for _, change := range writer.logged {
				if !logged[change] {
					return violated(nil, "LOST: the change of %s at %d was acknowledged, but has no entry in the audit log", change.id, change.stamp)
				}
			}
		}
		for r, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}) {
			if err != nil {
				return err
			}
			if versions := int(r.Version) + 1; made[r.ID] != versions {
				return violated(nil, "resource %s has %d versions, but the audit log has entries for %d", r.ID, versions, made[r.ID])
			}
		}
		return w.verifyGrowth(tx)
	})
}

// readLog returns the logged changes, and the number of logged versions of each resource.
func readLog(tx *metadata.Tx) (logged map[acknowledged]bool, made map[metadata.ID]int, err error) {
	logged, made = map[acknowledged]bool{}, map[metadata.ID]int{}
	state, err := tx.Audit.State()
	for number := uint64(0); err == nil && number < state.Size; number++ {
		row, err := tx.Audit.Get(number)
		if err != nil {
			return nil, nil, err
		}
		e, err := row.Entry()
		if err != nil {
			return nil, nil, err
		}
		logged[acknowledged{e.Object.ID.String(), e.Stamp}] = true
		switch e.Action {
		case audit.ResourceCreate, audit.ResourceReplace, audit.VersionRestore, audit.ResourceCopy:
			made[e.Object.ID]++
		case audit.ResourceMove: // a move includes versions; without a change its entry names none
			made[e.Object.ID] = max(made[e.Object.ID], int(e.Version))
		}
	}
	return logged, made, err
}

// verifyGrowth checks that the log still begins with the entries of the previous stop, like an
// auditor who has saved the head.
func (w *workload) verifyGrowth(tx *metadata.Tx) error {
	state, err := tx.Audit.State()
	if err != nil {
		return err
	}
	if state.Size < w.logged.Size {
		return violated(nil, "LOST: the audit log had %d entries, and now has %d", w.logged.Size, state.Size)
	}
	root, err := audit.Root(metadata.AuditTree{Log: tx.Audit}, w.logged.Size)
	if err == nil && root != w.logged.Root() {
		err = violated(nil, "the first %d entries of the audit log have changed", w.logged.Size)
	}
	w.logged = state
	return err
}
