package repository

import (
	"context"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
)

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
func (s *Service) GetFolder(ctx context.Context, p auth.Principal, set, path string) (size FolderSize, err error) {
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := lookupSet(tx, set, "")
		if err == nil {
			err = resolved.admit(tx, p, auth.Read)
		}
		if err != nil {
			return err
		}
		if path != "" {
			if err := folderPath("path", path); err != nil {
				return err
			}
		}
		size = FolderSize{Path: path}
		stored, err := storedFolder(tx, resolved.ID, path)
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
	there, err := hasFolder(tx, f.from)
	if err == nil && !there {
		err = noFolder()
	}
	return err
}

// folderExists returns an error where a set has no folder with a path.
func folderExists(tx *metadata.Tx, folder metadata.FolderKey) error {
	if err := folderPath("path", folder.Path); err != nil {
		return err
	}
	there, err := hasFolder(tx, folder)
	if err == nil && !there {
		err = noFolder()
	}
	return err
}

// noFolder is the error where a set has no folder with a path.
func noFolder() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Field: "path", Message: "there is no folder with this path"}
}

// folderPath refuses what is no path of a folder.
func folderPath(field, path string) error {
	if !strings.HasSuffix(path, "/") {
		return invalid(field, "%s must be the path of a folder, with a slash at its end", field)
	}
	return nameText.check(field, path)
}

// newFolderPath refuses what cannot be the path of a new folder.
func newFolderPath(field, path string) error {
	if in, rest, _ := tree.Split(path); in != path || rest != "" {
		return invalid(field, "%s must be the path of a folder, with a slash at its end; no element may be empty, . or .., or end in an id in brackets", field)
	}
	return folderPath(field, path)
}

// folderRequest is what a request says about a folder.
type folderRequest struct{ path, to, setID string }

var folderFields = setters[folderRequest]{
	"path": textSetter(nameText, func(f *folderRequest) *string { return &f.path }),
}

var folderPlaceFields = setters[folderRequest]{
	"path":   folderFields["path"],
	"toPath": textSetter(nameText, func(f *folderRequest) *string { return &f.to }),
	"setId":  textSetter(text{min: 1, max: maxNameBytes, bytes: true}, func(f *folderRequest) *string { return &f.setID }),
}

// CreateFolder makes a folder that is there by itself, and returns its path.
func (s *Service) CreateFolder(ctx context.Context, p auth.Principal, set string, f Fields) (path string, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, auth.Write, &asked, f, folderFields)
		if err != nil {
			return err
		}
		if err := resolved.open(""); err != nil {
			return err
		}
		if err := newFolderPath("path", asked.path); err != nil {
			return err
		}
		if path, err = storedFolder(tx, resolved.ID, asked.path); err != nil {
			return err
		}
		key := metadata.FolderKey{SetID: resolved.ID, Path: path}
		taken, err := hasFolder(tx, key)
		if err == nil && taken {
			err = conflict(errs.CodePathTaken, "path", "there is a folder with this path")
		}
		if err != nil {
			return err
		}
		return putFolder(tx, p, key, s.now())
	})
	return path, err
}

// PlaceFolder is CopyFolder or MoveFolder as a request asks for it, into another set or within the
// same one. It refuses a path at which there is a folder.
func (s *Service) PlaceFolder(ctx context.Context, p auth.Principal, set string, f Fields, move bool) (to metadata.FolderKey, done FolderOutcome, err error) {
	var from metadata.FolderKey
	action := auth.Read
	if move {
		action = auth.Write
	}
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, action, &asked, f, folderPlaceFields)
		if err != nil {
			return err
		}
		from = metadata.FolderKey{SetID: resolved.ID}
		if from.Path, err = storedFolder(tx, resolved.ID, asked.path); err != nil {
			return err
		}
		to = metadata.FolderKey{SetID: resolved.ID}
		if asked.setID != "" {
			goal, err := lookupSet(tx, asked.setID, "setId")
			if err != nil {
				return err
			}
			to.SetID = goal.ID
		}
		to.Path, err = storedFolder(tx, to.SetID, asked.to)
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
func (s *Service) RemoveFolder(ctx context.Context, p auth.Principal, set string, f Fields) (folder metadata.FolderKey, done FolderOutcome, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var asked folderRequest
		resolved, err := readFolderRequest(tx, p, set, auth.Write, &asked, f, folderFields)
		if err != nil {
			return err
		}
		folder.SetID = resolved.ID
		folder.Path, err = storedFolder(tx, resolved.ID, asked.path)
		return err
	})
	if err == nil {
		done, err = s.DeleteFolder(ctx, p, folder)
	}
	return folder, done, err
}

// readFolderRequest looks the set up, authorises the caller, and reads the fields, of which setId
// may be left out.
func readFolderRequest(tx *metadata.Tx, p auth.Principal, set string, action auth.Action, asked *folderRequest, f Fields, may setters[folderRequest]) (resolvedSet, error) {
	resolved, err := lookupSet(tx, set, "")
	if err == nil {
		err = authorise(tx, p, resolved.dataspace, action)
	}
	if err == nil {
		err = create(asked, f, may)
	}
	if err == nil {
		err = folderPath("path", asked.path)
	}
	if _, places := may["toPath"]; places && err == nil {
		err = newFolderPath("toPath", asked.to)
	}
	return resolved, err
}
