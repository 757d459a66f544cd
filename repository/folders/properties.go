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

// CreateFolder creates a folder at a path of the drive whose parent exists. It writes a row without
// a stamp, so that no subscriber receives an event. CreateFolder first runs its checks in a read
// transaction: clients often create a folder again for each file that they upload, and an error
// should not wait for a commit.
func (s *Drive) CreateFolder(ctx context.Context, p auth.Principal, path DrivePath) error {
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

// makeable returns the entry at a path, or an error if no folder can be created there.
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

// keepFolder makes a folder explicit if it has lost its last entry, so that it does not disappear.
func keepFolder(tx *metadata.Tx, p auth.Principal, folder metadata.FolderKey, now metadata.Stamp) error {
	there, err := tree.Exists(files.TreeOf(tx, folder.SetID), folder.Path)
	if err != nil || there {
		return err
	}
	return putFolder(tx, p, folder, now)
}

// maxProperties is the maximum size in bytes of the properties that clients keep with a file or
// folder. Listings include them.
const maxProperties = 16 << 10

// ChangeProperties changes the properties that clients keep with a file or a folder. change
// modifies the Properties of the entry and, for a file, its Attributes. The row has no stamp; an
// empty one is removed.
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
			return core.Invalid("", "the properties of a file may have up to %d bytes in total", maxProperties)
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
