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

// acknowledged is a change that was answered, and may not be missing in the audit log.
type acknowledged struct {
	id    string
	stamp int64
}

// verifyLog holds the audit log of a stopped service against what was acknowledged: no change is
// without its entry, and what was in the log before, is. That no entry is without its change, the
// check of the repository finds: each object is what its last entry says.
func (w *workload) verifyLog(ctx context.Context) (err error) {
	meta, err := bolt.Open(filepath.Join(w.data, "meta.db"), bolt.Options{ReadOnly: true})
	if err != nil {
		return violated(nil, "the metadata do not open: %v", err)
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
					return violated(nil, "LOST: the change of %s at %d was acknowledged, and has no entry in the audit log", change.id, change.stamp)
				}
			}
		}
		for r, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}) {
			if err != nil {
				return err
			}
			if versions := int(r.Version) + 1; made[r.ID] != versions {
				return violated(nil, "resource %s has %d versions, and the audit log %d that say so", r.ID, versions, made[r.ID])
			}
		}
		return w.verifyGrowth(tx)
	})
}

// readLog returns which objects were changed when, and how many versions of each resource were
// made.
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
		case audit.ResourceMove: // which brings versions along; of one that comes back unchanged it names none
			made[e.Object.ID] = max(made[e.Object.ID], int(e.Version))
		}
	}
	return logged, made, err
}

// verifyGrowth: the log begins with what it was when the service was stopped before, as an auditor
// sees it who noted down the head.
func (w *workload) verifyGrowth(tx *metadata.Tx) error {
	state, err := tx.Audit.State()
	if err != nil {
		return err
	}
	if state.Size < w.logged.Size {
		return violated(nil, "LOST: the audit log had %d entries, and has %d", w.logged.Size, state.Size)
	}
	root, err := audit.Root(metadata.AuditTree{Log: tx.Audit}, w.logged.Size)
	if err == nil && root != w.logged.Root() {
		err = violated(nil, "the first %d entries of the audit log are not those of before", w.logged.Size)
	}
	w.logged = state
	return err
}
