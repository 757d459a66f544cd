package folders

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/rows"
)

// Delete deletes a folder of a set: all files whose names begin with its path, which ends in a
// slash, and the rows of its folders. It works in steps like Copy. It returns the deleted folder.
func (s *Folders) Delete(ctx context.Context, p auth.Principal, set string, in FolderPath) (folder metadata.FolderKey, done FolderOutcome, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := in.admit(tx, p, set)
		if err != nil {
			return err
		}
		folder.SetID = resolved.ID
		folder.Path, err = files.StoredFolder(tx, resolved.ID, in.Path)
		return err
	})
	if err != nil {
		return folder, done, err
	}
	f := deletion(s, folder, func(f *folderSteps, tx *metadata.Tx, _ auth.Principal) error { return f.found(tx) })
	err = f.perform(ctx, p, []metadata.FolderKey{folder}, func(tx *metadata.Tx, p auth.Principal) error {
		if err := f.admit(tx, p); err != nil {
			return err
		}
		return f.found(tx)
	}, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
	return folder, f.done, err
}

// deletion returns the state of a deletion.
func deletion(s *Folders, folder metadata.FolderKey, decide func(*folderSteps, *metadata.Tx, auth.Principal) error) *folderSteps {
	return &folderSteps{service: s, from: folder, to: folder, decide: decide}
}

// deleteFiles deletes the files of a folder. If another folder has replaced it, deleteFiles deletes
// only the files that the other folder does not have.
func (f *folderSteps) deleteFiles(_ context.Context, tx *metadata.Tx) error {
	left, err := f.nextFiles(tx, f.toAt.files(f.to))
	if err != nil {
		return err
	}
	replaces := f.existing == ReplaceExisting
	for _, r := range left {
		nth := f.toAt.advance(r)
		if replaces {
			kept, _, err := counterpart(tx, f.to, f.from, r.Name, nth)
			if err != nil {
				return err
			}
			if kept != nil {
				continue
			}
		}
		gone := r
		gone.State = metadata.Deleted
		if err := (core.ResolvedResource{Resource: r, Set: f.goal}).Write(tx, rows.Change{By: f.by, Action: audit.ResourceDelete}, &gone); err != nil {
			return err
		}
		if !replaces {
			f.done.Deletion.note(gone.Modified)
			f.done.Files++
		}
	}
	return nil
}

// deleteFolders deletes the rows of folders, in the same way as deleteFiles.
func (f *folderSteps) deleteFolders(_ context.Context, tx *metadata.Tx) error {
	all, err := f.nextFolders(tx, &f.toAt, f.to)
	replaces := f.existing == ReplaceExisting
	for _, row := range all {
		if replaces {
			_, failed := tx.Folders.Get(metadata.FolderKey{SetID: f.from.SetID, Path: f.from.Path + row.Path[len(f.to.Path):]})
			if !errors.Is(failed, metadata.ErrNotFound) {
				err = errors.Join(err, failed)
				continue
			}
		}
		if f.shallow && row.Path == f.to.Path {
			continue
		}
		err = errors.Join(err, tx.Folders.Remove(row.Key()))
		if replaces {
			continue
		}
		if f.done.Folders++; f.done.Folders <= maxMade && f.madeBytes+len(row.Path) <= maxMadeBytes {
			f.done.Made, f.madeBytes = append(f.done.Made, row.Path), f.madeBytes+len(row.Path)
		}
	}
	return err
}

// Delete deletes the file or the folder at a path of the drive. Its parent folder stays, even if
// it is empty. check is called with the entry at the path, which may be missing, in the transaction
// that deletes. It returns an error to refuse the deletion. It may be called more than once and
// must not call a use case.
func (s *Drive) Delete(ctx context.Context, p auth.Principal, path DrivePath, check func(DriveEntry) error) (e DriveEntry, err error) {
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
			err = s.deleteFolder(ctx, p, &e, decide)
		} else {
			err = s.deleteFile(ctx, p, &e, decide)
		}
		if !errors.Is(err, errOtherKind) {
			return e, err
		}
	}
	return e, keepsChanging()
}

// deleteFile deletes the file of an entry.
func (s *Drive) deleteFile(ctx context.Context, p auth.Principal, e *DriveEntry, decide func(*metadata.Tx, auth.Principal) error) error {
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

// deleteFolder deletes the folder of an entry, in steps.
func (s *Drive) deleteFolder(ctx context.Context, p auth.Principal, e *DriveEntry, decide func(*metadata.Tx, auth.Principal) error) error {
	folder := metadata.FolderKey{SetID: e.Set.ID, Path: e.Folder}
	f := deletion(s.folders, folder, func(_ *folderSteps, tx *metadata.Tx, p auth.Principal) error {
		err := decide(tx, p)
		if err == nil && (e.File != nil || e.Set.ID != folder.SetID || e.Folder != folder.Path) {
			err = errOtherKind
		}
		return err
	})
	parent := e.parent()
	keep := func(f *folderSteps, _ context.Context, tx *metadata.Tx) error {
		return keepFolder(tx, f.by, parent, s.core.Now())
	}
	return f.perform(ctx, p, []metadata.FolderKey{folder}, nil, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders, keep)
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
