// Package folders offers the use cases of folders and of the drive: it creates, copies, moves,
// deletes and restores folders, and finds entries by path. It builds on the packages core,
// containers and files.
package folders

import (
	"cmp"
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Folders offers the use cases of the folders of sets. It is safe for concurrent use.
type Folders struct {
	core        *core.Core
	files       *files.Files
	folderLocks folderLocks
}

// New returns the folders of a repository.
func New(core *core.Core, files *files.Files) *Folders { return &Folders{core: core, files: files} }

// maxCounted is the maximum number of files of a folder that are counted.
const maxCounted = 10_000

// FolderSize is the size of a folder of a set with everything in it. If Bounded is true, the folder
// has more files than were counted.
type FolderSize struct {
	Path    string // "" for the set
	Files   int    // active files
	Bytes   int64
	Bounded bool
}

// Size counts the files in a folder of a set, up to 10,000. path is "" or ends in a slash. A
// missing folder has size 0, because callers often show a list that is about to change.
func (s *Folders) Size(ctx context.Context, p auth.Principal, set, path string) (size FolderSize, err error) {
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupSet(tx, set, "")
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		if err != nil {
			return err
		}
		if path != "" {
			if err := files.FolderPath("path", path); err != nil {
				return err
			}
		}
		size = FolderSize{Path: path}
		stored, err := files.StoredFolder(tx, resolved.ID, path)
		if err != nil {
			return err
		}
		within := metadata.ResourceRange{Set: resolved.ID, States: paging.Active, Order: paging.ByName, NamePrefix: stored}
		return tx.Resources.Page(within, func(r *metadata.Resource) bool {
			if size.Bounded = size.Files == maxCounted; !size.Bounded {
				size.Files++
				size.Bytes += r.Bytes
			}
			return !size.Bounded
		})
	})
	return size, err
}

// found returns an error if the source folder does not exist.
func (f *folderSteps) found(tx *metadata.Tx) error {
	there, err := files.HasFolder(tx, f.from)
	if err == nil && !there {
		err = files.NoFolder()
	}
	return err
}

// FolderPath names a folder of a set.
type FolderPath struct {
	Path string
	core.Input
}

// Create creates a folder without files and returns its path.
func (s *Folders) Create(ctx context.Context, p auth.Principal, set string, in FolderPath) (path string, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := in.admit(tx, p, set)
		if err != nil {
			return err
		}
		if err := resolved.Open(""); err != nil {
			return err
		}
		if err := files.NewFolderPath("path", in.Path); err != nil {
			return err
		}
		if path, err = files.StoredFolder(tx, resolved.ID, in.Path); err != nil {
			return err
		}
		key := metadata.FolderKey{SetID: resolved.ID, Path: path}
		taken, err := files.HasFolder(tx, key)
		if err == nil && taken {
			err = core.Conflict(errs.CodePathTaken, "path", "there is a folder with this path")
		}
		if err != nil {
			return err
		}
		return putFolder(tx, p, key, s.core.Now())
	})
	return path, err
}

// admit looks up the set, authorises the caller to write there, and validates the path.
func (f FolderPath) admit(tx *metadata.Tx, p auth.Principal, set string) (core.ResolvedSet, error) {
	resolved, err := openedFor(tx, p, set, auth.Write)
	if err == nil {
		err = cmp.Or(f.Malformed, files.FolderPath("path", f.Path))
	}
	return resolved, err
}

// openedFor looks up a set and authorises the caller for an action there.
func openedFor(tx *metadata.Tx, p auth.Principal, set string, action auth.Action) (core.ResolvedSet, error) {
	resolved, err := core.LookupSet(tx, set, "")
	if err == nil {
		err = resolved.Authorise(tx, p, action)
	}
	return resolved, err
}
