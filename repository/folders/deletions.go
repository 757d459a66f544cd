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

// DeleteFolder deletes all files whose names begin with the path of a folder, which ends in a
// slash, and the rows of its folders. It works in steps like CopyFolder.
func (s *Folders) DeleteFolder(ctx context.Context, p auth.Principal, folder metadata.FolderKey) (FolderOutcome, error) {
	f := &folderSteps{service: s, from: folder, to: folder, decide: deletable}
	ctx, release, err := f.lock(ctx, p, folder)
	if err != nil {
		return f.done, err
	}
	defer release()
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := f.admit(tx, p); err != nil {
			return err
		}
		return deletable(f, tx, p)
	})
	if err == nil {
		err = f.run(ctx, p, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
	}
	return f.done, err
}

// deletable returns an error if the folder does not exist.
func deletable(f *folderSteps, tx *metadata.Tx, _ auth.Principal) error { return f.found(tx) }

// deleteFiles deletes the files of a folder. If another folder has replaced it, deleteFiles deletes
// only the files that the other folder does not have.
func (f *folderSteps) deleteFiles(_ context.Context, tx *metadata.Tx) error {
	files, err := f.nextFiles(tx, f.toAt.files(f.to))
	if err != nil {
		return err
	}
	replaces := f.existing == ReplaceExisting
	for _, r := range files {
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
