// Package folders is the room of folders and of the drive: it creates, copies, moves, deletes and
// restores folders, and finds what is at a path. It stands on core, containers and files.
package folders

import (
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Folders are the folders of sets. It is safe for concurrent use.
type Folders struct {
	core        *core.Core
	files       *files.Files
	folderLocks folderLocks
}

// New returns the folders of a repository.
func New(core *core.Core, files *files.Files) *Folders { return &Folders{core: core, files: files} }

// maxCounted is how many files of a folder are counted.
const maxCounted = 10_000

// FolderSize is how much is in a folder of a set, and below. Bounded: there are more files; both
// numbers are those of the first ones.
type FolderSize struct {
	Path    string // "": the set
	Files   int    // active ones
	Bytes   int64
	Bounded bool
}

// GetFolder counts what is in a folder of a set, "" or a path that ends in a slash, up to 10,000
// files. A folder that is not there has none: what asks is often a list that is about to change.
func (s *Folders) GetFolder(ctx context.Context, p auth.Principal, set, path string) (size FolderSize, err error) {
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

// found returns an error where there is no folder to be copied, moved or deleted.
func (f *folderSteps) found(tx *metadata.Tx) error {
	there, err := files.HasFolder(tx, f.from)
	if err == nil && !there {
		err = files.NoFolder()
	}
	return err
}

// folderRequest is what a request says about a folder.
type folderRequest struct{ path, to, setID string }

var folderFields = core.Setters[folderRequest]{
	"path": core.TextSetter(core.NameText, func(f *folderRequest) *string { return &f.path }),
}

var folderPlaceFields = core.Setters[folderRequest]{
	"path":   folderFields["path"],
	"toPath": core.TextSetter(core.NameText, func(f *folderRequest) *string { return &f.to }),
	"setId":  core.TextSetter(core.TextRule{Min: 1, Max: core.MaxNameBytes, Bytes: true}, func(f *folderRequest) *string { return &f.setID }),
}

// CreateFolder makes a folder that is there by itself, and returns its path.
func (s *Folders) CreateFolder(ctx context.Context, p auth.Principal, set string, f core.Fields) (path string, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, auth.Write, &asked, f, folderFields)
		if err != nil {
			return err
		}
		if err := resolved.Open(""); err != nil {
			return err
		}
		if err := files.NewFolderPath("path", asked.path); err != nil {
			return err
		}
		if path, err = files.StoredFolder(tx, resolved.ID, asked.path); err != nil {
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

// PlaceFolder is CopyFolder or MoveFolder as a request asks for it, into another set or within the
// same one. It refuses a path at which there is a folder.
func (s *Folders) PlaceFolder(ctx context.Context, p auth.Principal, set string, f core.Fields, move bool) (to metadata.FolderKey, done FolderOutcome, err error) {
	var from metadata.FolderKey
	action := auth.Read
	if move {
		action = auth.Write
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, action, &asked, f, folderPlaceFields)
		if err != nil {
			return err
		}
		from = metadata.FolderKey{SetID: resolved.ID}
		if from.Path, err = files.StoredFolder(tx, resolved.ID, asked.path); err != nil {
			return err
		}
		to = metadata.FolderKey{SetID: resolved.ID}
		if asked.setID != "" {
			goal, err := core.LookupSet(tx, asked.setID, "setId")
			if err != nil {
				return err
			}
			to.SetID = goal.ID
		}
		to.Path, err = files.StoredFolder(tx, to.SetID, asked.to)
		return err
	})
	if err != nil {
		return to, done, err
	}
	if move {
		done, err = s.MoveFolder(ctx, p, from, to, RefuseExisting)
	} else {
		done, err = s.CopyFolder(ctx, p, from, to, RefuseExisting)
	}
	return to, done, err
}

// RemoveFolder is DeleteFolder as a request asks for it.
func (s *Folders) RemoveFolder(ctx context.Context, p auth.Principal, set string, f core.Fields) (folder metadata.FolderKey, done FolderOutcome, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, auth.Write, &asked, f, folderFields)
		if err != nil {
			return err
		}
		folder.SetID = resolved.ID
		folder.Path, err = files.StoredFolder(tx, resolved.ID, asked.path)
		return err
	})
	if err == nil {
		done, err = s.DeleteFolder(ctx, p, folder)
	}
	return folder, done, err
}

// readFolderRequest looks the set up, authorises the caller, and reads the fields, of which setId
// may be left out.
func readFolderRequest(tx *metadata.Tx, p auth.Principal, set string, action auth.Action, asked *folderRequest, f core.Fields, may core.Setters[folderRequest]) (core.ResolvedSet, error) {
	resolved, err := core.LookupSet(tx, set, "")
	if err == nil {
		err = core.Authorise(tx, p, resolved.Dataspace, action)
	}
	if err == nil {
		err = core.SetFields(asked, f, may)
	}
	if err == nil {
		err = files.FolderPath("path", asked.path)
	}
	if _, places := may["toPath"]; places && err == nil {
		err = files.NewFolderPath("toPath", asked.to)
	}
	return resolved, err
}
