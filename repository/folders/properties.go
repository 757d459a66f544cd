package folders

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// MakeFolder makes a folder at a path of the drive whose parent exists: a row without a stamp, so
// that nobody who follows changes hears of it. Whether it can be made is asked before, too: clients
// make the folder of each file anew that they put, and a refusal does not wait for a commit.
func (s *Drive) MakeFolder(ctx context.Context, p auth.Principal, path DrivePath) error {
	err := s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := makeable(tx, p, path)
		return err
	})
	if err != nil {
		return err
	}
	return s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := makeable(tx, p, path)
		if err != nil {
			return err
		}
		return putFolder(tx, p, metadata.FolderKey{SetID: at.Set.ID, Path: at.Name + "/"}, s.core.Now())
	})
}

// makeable returns what is at a path where a folder can be made.
func makeable(tx *metadata.Tx, p auth.Principal, path DrivePath) (at DriveEntry, err error) {
	if at, err = locate(tx, p, path, auth.Write); err != nil {
		return at, err
	}
	_, element, _ := tree.Split(path.Path)
	if err = at.free(); err == nil && !tree.IsFolder(element) {
		err = core.Invalid("path", "the last element of the path cannot be the name of a folder")
	}
	return at, err
}

func putFolder(tx *metadata.Tx, p auth.Principal, key metadata.FolderKey, now metadata.Stamp) error {
	if err := core.NameText.Check("path", key.Path); err != nil {
		return err
	}
	return tx.Folders.Put(metadata.Folder{SetID: key.SetID, Path: key.Path, Created: now, CreatedBy: p.UserID})
}

// keepFolder makes a folder from which something has gone one that is there by itself, if nothing
// is left in it.
func keepFolder(tx *metadata.Tx, p auth.Principal, folder metadata.FolderKey, now metadata.Stamp) error {
	there, err := tree.Exists(files.TreeOf(tx, folder.SetID), folder.Path)
	if err != nil || there {
		return err
	}
	return putFolder(tx, p, folder, now)
}

// maxProperties is how many bytes the properties that clients keep with one file or folder may
// have. A listing repeats them.
const maxProperties = 16 << 10

// ChangeProperties changes what clients keep with a file or a folder: change changes the
// Properties, and of a file the Attributes, of the entry. A row without a stamp is written, or
// removed where nothing is left.
func (s *Drive) ChangeProperties(ctx context.Context, p auth.Principal, path DrivePath, change func(*DriveEntry) error) error {
	return s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := locate(tx, p, path, auth.Write)
		if err == nil {
			err = at.exists()
		}
		if err != nil {
			return err
		}
		after := at
		err = change(&after)
		switch {
		case err != nil, after.Properties == at.Properties && after.Attributes == at.Attributes:
			return err
		case len(after.Properties) > maxProperties && after.Properties != at.Properties:
			return core.Invalid("", "the properties of a file may have up to %d bytes together", maxProperties)
		case at.File != nil:
			return keepProperties(tx, metadata.FileProperties{ResourceID: at.File.ID, Properties: after.Properties, Attributes: after.Attributes})
		}
		row, err := tx.Folders.Get(metadata.FolderKey{SetID: at.Set.ID, Path: at.Folder})
		if errors.Is(err, metadata.ErrNotFound) {
			row, err = metadata.Folder{SetID: at.Set.ID, Path: at.Folder, Created: s.core.Now(), CreatedBy: p.UserID}, nil
		}
		if err != nil {
			return err
		}
		row.Properties = after.Properties
		return tx.Folders.Put(row)
	})
}
