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

// folderLocks are the folders that are copied, moved, deleted or restored: in many transactions, between which another such change of the same
// files would leave some of them in each of two places.
type folderLocks struct {
	mu   sync.Mutex
	held []*folderLock
}

// folderLock is a folder from which files are read, or in which they change.
type folderLock struct {
	metadata.FolderKey
	changes bool
}

func (l *folderLock) conflicts(with *folderLock) bool {
	return l.SetID == with.SetID && (l.changes || with.changes) && (strings.HasPrefix(l.Path, with.Path) || strings.HasPrefix(with.Path, l.Path))
}

// lock returns what releases the folders, or an error where one of them, one in it, or one around it is locked.
func (f *folderLocks) lock(folders ...*folderLock) (release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, wanted := range folders {
		if slices.ContainsFunc(f.held, wanted.conflicts) {
			return nil, conflict(errs.CodeBusy, "path", "this folder, or one in it or around it, is being copied, moved, deleted or restored; try again when that is done")
		}
	}
	f.held = append(f.held, folders...)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = slices.DeleteFunc(f.held, func(l *folderLock) bool { return slices.Contains(folders, l) })
	}, nil
}

// lock locks folders for a caller who may change them.
func (f *folderSteps) lock(ctx context.Context, p auth.Principal, folders ...*folderLock) (release func(), err error) {
	if err := f.service.view(ctx, p, f.admit); err != nil {
		return nil, err
	}
	return f.service.folderLocks.lock(folders...)
}
