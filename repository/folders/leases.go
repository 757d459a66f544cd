package folders

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// folderLocks are the folders that are being moved, deleted or restored, or copied into. Such an
// operation takes many transactions, and a second one on the same files in between could leave some
// of them in two places. The source of a copy is only read and not locked, so that a reader cannot
// block its owner.
type folderLocks struct {
	mu   sync.Mutex
	held []*metadata.FolderKey
}

var errFolderBusy error = core.Conflict(errs.CodeBusy, "path", "this folder, a subfolder or a parent folder is being copied, moved, deleted or restored; try again when that is done")

// lock locks folders and returns the function that unlocks them. It returns an error if one of them
// is locked, contains a locked folder, or is in one.
func (f *folderLocks) lock(folders ...metadata.FolderKey) (release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, wanted := range folders {
		if slices.ContainsFunc(f.held, func(held *metadata.FolderKey) bool { return overlap(wanted, *held) }) {
			return nil, errFolderBusy
		}
	}
	var mine []*metadata.FolderKey
	for _, wanted := range folders {
		mine = append(mine, &wanted)
	}
	f.held = append(f.held, mine...)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = slices.DeleteFunc(f.held, func(held *metadata.FolderKey) bool { return slices.Contains(mine, held) })
	}, nil
}

// overlap reports whether two folders are the same or one contains the other.
func overlap(a, b metadata.FolderKey) bool {
	return a.SetID == b.SetID && (strings.HasPrefix(a.Path, b.Path) || strings.HasPrefix(b.Path, a.Path))
}

const (
	folderLease      = "folder/" // prefix of lease names; the detail lists the folders
	folderLeaseLasts = 8 * time.Second
)

// lock locks folders for a caller who may change them, across all nodes that share the metadata.
// All work on the folders must use the returned context.
func (f *folderSteps) lock(ctx context.Context, p auth.Principal, folders ...metadata.FolderKey) (under context.Context, release func(), err error) {
	s := f.service
	if err := s.core.View(ctx, p, f.admit); err != nil {
		return nil, nil, err
	}
	detail, err := json.Marshal(folders)
	if err != nil {
		return nil, nil, err
	}
	here, err := s.folderLocks.lock(folders...)
	if err != nil {
		return nil, nil, err
	}
	lease, err := s.core.Stores.Node.Take(ctx, nodes.Wanted{
		Name: folderLease + metadata.NewID(s.core.Now()).String(), Lasts: folderLeaseLasts, Detail: string(detail),
		Admit: func(tx *metadata.Tx, now metadata.Stamp) error { return freeFolders(tx, now, folders) },
	})
	if err != nil {
		here()
		return nil, nil, storage.Error(err)
	}
	return lease.With(ctx), func() { lease.Release(); here() }, nil
}

// freeFolders returns an error if a node has locked one of the folders, or a folder that contains
// it or is in it. It removes leases that have ended.
func freeFolders(tx *metadata.Tx, now metadata.Stamp, folders []metadata.FolderKey) error {
	leases, err := rows.Collect(tx.Leases.Under(folderLease), math.MaxInt)
	if err != nil {
		return err
	}
	for _, l := range leases {
		if !nodes.Runs(l, folderLeaseLasts, now) {
			if err := tx.Leases.Remove(l.Name); err != nil {
				return err
			}
			continue
		}
		var held []metadata.FolderKey
		if err := json.Unmarshal([]byte(l.Detail), &held); err != nil {
			return fmt.Errorf("%w: lease %s: %w", metadata.ErrRecordDamaged, l.Name, err)
		}
		for _, wanted := range folders {
			if slices.ContainsFunc(held, func(held metadata.FolderKey) bool { return overlap(wanted, held) }) {
				return errFolderBusy
			}
		}
	}
	return nil
}
