package repository

import (
	"context"
	"slices"
	"strings"
	"sync"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
)

// folderLocks are the folders that are moved, deleted or restored, or into which one is copied: in many transactions, between which another such change of the
// same files would leave some of them in each of two places. What is copied is only read, and locks nothing: else a reader would hold up its owner.
type folderLocks struct {
	mu   sync.Mutex
	held []*metadata.FolderKey
}

// lock returns what releases the folders, or an error where one of them, one in it, or one around it is locked.
func (f *folderLocks) lock(folders ...metadata.FolderKey) (release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, wanted := range folders {
		if slices.ContainsFunc(f.held, func(held *metadata.FolderKey) bool { return overlap(wanted, *held) }) {
			return nil, conflict(errs.CodeBusy, "path", "this folder, or one in it or around it, is being copied, moved, deleted or restored; try again when that is done")
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

// overlap tells whether two folders are one, or one is within the other.
func overlap(a, b metadata.FolderKey) bool {
	return a.SetID == b.SetID && (strings.HasPrefix(a.Path, b.Path) || strings.HasPrefix(b.Path, a.Path))
}

// lock locks folders for a caller who may change them.
func (f *folderSteps) lock(ctx context.Context, p auth.Principal, folders ...metadata.FolderKey) (release func(), err error) {
	if err := f.service.view(ctx, p, f.admit); err != nil {
		return nil, err
	}
	return f.service.folderLocks.lock(folders...)
}
