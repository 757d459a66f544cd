package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/rows"
)

// Bounds of the explicitly created folders that a deletion reports and a restoration creates. The
// bytes must fit into a request.
const (
	maxMade      = 1000
	maxMadeBytes = 256 << 10
)

// FolderDeletion identifies the deletion of a folder by the first and last stamps of its files. It
// is the input of a restoration.
type FolderDeletion struct{ First, Last metadata.Stamp }

// String returns the form used in the API, "" for a deletion without files.
func (d FolderDeletion) String() string {
	if d.First == 0 {
		return ""
	}
	return fmt.Sprintf("%x-%x", int64(d.First), int64(d.Last))
}

func (d *FolderDeletion) note(at metadata.Stamp) {
	if d.First == 0 {
		d.First = at
	}
	d.Last = at
}

// ParseFolderDeletion parses the result of String.
func ParseFolderDeletion(text string) (d FolderDeletion, ok bool) {
	first, last, _ := strings.Cut(text, "-")
	from, wrong := strconv.ParseInt(first, 16, 64)
	to, wrongToo := strconv.ParseInt(last, 16, 64)
	d = FolderDeletion{metadata.Stamp(from), metadata.Stamp(to)}
	return d, wrong == nil && wrongToo == nil && d.First <= d.Last && d.String() == text
}

// Restoration describes a folder to restore.
type Restoration struct {
	Path     string
	Deletion FolderDeletion
	Created  []string // the explicitly created folders in it
	core.Input
}

// check returns an error for values that no deletion reports.
func (r Restoration) check() error {
	if len(r.Created) > maxMade {
		return core.Invalid("createdFolders", "createdFolders may name up to %d folders", maxMade)
	}
	if err := cmp.Or(r.Malformed, files.FolderPath("path", r.Path)); err != nil {
		return err
	}
	for _, path := range r.Created {
		if !strings.HasPrefix(path, r.Path) {
			return core.Invalid("createdFolders", "createdFolders must be in the folder")
		}
		if err := files.NewFolderPath("createdFolders", path); err != nil {
			return err
		}
	}
	return nil
}

// Restore undoes Delete. It restores the files that the caller deleted with the folder, and creates
// the explicitly created folders again. It works in steps like Copy. Files that have
// been restored, purged or moved since are not changed.
func (s *Folders) Restore(ctx context.Context, p auth.Principal, set string, in Restoration) (folder metadata.FolderKey, done FolderOutcome, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := openedFor(tx, p, set, auth.Write)
		folder = metadata.FolderKey{SetID: resolved.ID, Path: in.Path}
		if err == nil {
			err = in.check()
		}
		return err
	})
	if err != nil {
		return folder, done, err
	}
	steps := &folderSteps{service: s, from: folder, to: folder, restores: &in}
	err = steps.perform(ctx, p, []metadata.FolderKey{folder}, nil, (*folderSteps).restoreFiles, (*folderSteps).makeFolders)
	return folder, steps.done, err
}

// restoreFiles restores files. It is a folderPart.
func (f *folderSteps) restoreFiles(_ context.Context, tx *metadata.Tx) error {
	if f.restores.Deletion.First == 0 {
		return nil
	}
	deleted := f.fromAt.files(f.from)
	deleted.States = paging.Deleted
	files, err := f.nextFiles(tx, deleted)
	if err != nil {
		return err
	}
	for _, r := range files {
		f.fromAt.advance(r)
		resolved := core.ResolvedResource{Resource: r, Set: f.source}
		changed := resolved.Shown()
		within := f.restores.Deletion.First <= r.Modified && r.Modified <= f.restores.Deletion.Last
		if !within || r.ModifiedBy != f.by.UserID || r.MovedTo != (metadata.ID{}) || r.Body == metadata.Purged {
			continue
		}
		if _, err := resolved.Pass(&changed, metadata.Active); err != nil {
			return err
		}
		if err := resolved.Write(tx, rows.Change{By: f.by, Action: audit.ResourceRestore}, &changed); err != nil {
			return err
		}
		f.done.Files++
	}
	return nil
}

// makeFolders creates folders. It is the last folderPart of a restoration.
func (f *folderSteps) makeFolders(_ context.Context, tx *metadata.Tx) error {
	for _, path := range slices.Compact(slices.Sorted(slices.Values(f.restores.Created))) {
		key := metadata.FolderKey{SetID: f.source.ID, Path: path}
		if _, err := tx.Folders.Get(key); !errors.Is(err, metadata.ErrNotFound) {
			if err != nil {
				return err
			}
			continue
		}
		if err := putFolder(tx, f.by, key, f.service.core.Now()); err != nil {
			return err
		}
		f.done.Folders++
	}
	return nil
}
