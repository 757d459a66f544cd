package folders

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// RemoveAt deletes the file or the folder at a path of the drive. Its parent folder stays, even if
// it is empty. check is called with the entry at the path, which may be missing, in the transaction
// that deletes. It returns an error to refuse the removal. It may be called more than once and must
// not call a use case.
func (s *Drive) RemoveAt(ctx context.Context, p auth.Principal, path DrivePath, check func(DriveEntry) error) (e DriveEntry, err error) {
	decide := func(tx *metadata.Tx, p auth.Principal) (err error) {
		if e, err = locate(tx, p, path, auth.Write); err != nil {
			return err
		}
		if err := check(e); err != nil {
			return err
		}
		if e.Missing == Present && e.File == nil && e.Folder == "" {
			return ContainersStay()
		}
		return e.exists()
	}
	if err := s.core.View(ctx, p, decide); err != nil {
		return e, err
	}
	for range relocateTries {
		if e.File == nil {
			err = s.removeFolder(ctx, p, &e, decide)
		} else {
			err = s.removeFile(ctx, p, &e, decide)
		}
		if !errors.Is(err, errOtherKind) {
			return e, err
		}
	}
	return e, keepsChanging()
}

// removeFile deletes the file of an entry.
func (s *Drive) removeFile(ctx context.Context, p auth.Principal, e *DriveEntry, decide func(*metadata.Tx, auth.Principal) error) error {
	return s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := decide(tx, p); err != nil {
			return err
		}
		if e.File == nil {
			return errOtherKind
		}
		if err := deleteFile(tx, p, e.File.ID); err != nil {
			return err
		}
		return keepFolder(tx, p, e.parent(), s.core.Now())
	})
}

// removeFolder deletes the folder of an entry, in steps.
func (s *Drive) removeFolder(ctx context.Context, p auth.Principal, e *DriveEntry, decide func(*metadata.Tx, auth.Principal) error) error {
	folder := metadata.FolderKey{SetID: e.Set.ID, Path: e.Folder}
	f := &folderSteps{service: s.folders, from: folder, to: folder, decide: func(_ *folderSteps, tx *metadata.Tx, p auth.Principal) error {
		err := decide(tx, p)
		if err == nil && (e.File != nil || e.Set.ID != folder.SetID || e.Folder != folder.Path) {
			err = errOtherKind
		}
		return err
	}}
	ctx, release, err := f.lock(ctx, p, folder)
	if err != nil {
		return err
	}
	defer release()
	parent := e.parent()
	return f.run(ctx, p, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders, func(f *folderSteps, _ context.Context, tx *metadata.Tx) error {
		return keepFolder(tx, f.by, parent, s.core.Now())
	})
}

// deleteFile deletes a file, unless it is already deleted.
func deleteFile(tx *metadata.Tx, p auth.Principal, id metadata.ID) error {
	r, err := core.LookupResource(tx, id.String())
	if err != nil || r.Shown().State == metadata.Deleted {
		return err
	}
	gone := r.Shown()
	gone.State = metadata.Deleted
	return r.Write(tx, rows.Change{By: p, Action: audit.ResourceDelete}, &gone)
}
