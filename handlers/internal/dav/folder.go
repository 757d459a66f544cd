package dav

import (
	"context"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository"
)

func keyOf(e repository.DriveEntry) metadata.FolderKey {
	return metadata.FolderKey{SetID: e.Set.ID, Path: e.Folder}
}

// removeFolder deletes a folder with all that is in it.
func (d *Drive) removeFolder(ctx context.Context, p auth.Principal, e repository.DriveEntry) error {
	if e.Folder == "" {
		return repository.ContainersStay()
	}
	_, err := d.repo.DeleteFolder(ctx, p, keyOf(e))
	return err
}

// relocateFolder copies or moves a folder. Files of the same name at the destination keep their ids. A copy leaves there what the source has and nothing
// else. A move leaves what was there before, too: it goes in steps, and repeated after an interruption it must not delete what has arrived.
func (d *Drive) relocateFolder(t relocation) (err error) {
	if t.to.File != nil {
		if _, err := d.repo.DeleteResource(t.Context(), t.caller, t.to.File.ID.String(), same(t.to.File)); err != nil {
			return err
		}
	}
	to := metadata.FolderKey{SetID: t.to.Set.ID, Path: t.at.Path + "/"}
	switch {
	case t.move:
		_, err = d.repo.MoveFolder(t.Context(), t.caller, keyOf(t.from), to, repository.MergeExisting)
	case t.Header.Get("Depth") == "0":
		return d.copyAlone(t)
	default:
		_, err = d.repo.CopyFolder(t.Context(), t.caller, keyOf(t.from), to, repository.ReplaceExisting)
	}
	return err
}

// copyAlone copies a folder without what is in it.
func (d *Drive) copyAlone(t relocation) error {
	if t.to.Missing == repository.Present && t.to.File == nil {
		if err := d.removeFolder(t.Context(), t.caller, t.to); err != nil {
			return err
		}
	}
	if err := d.repo.MakeFolder(t.Context(), t.caller, t.at); err != nil {
		return err
	}
	return d.repo.ChangeProperties(t.Context(), t.caller, t.at, func(e *repository.DriveEntry) error {
		e.Properties = t.from.Properties
		return nil
	})
}
