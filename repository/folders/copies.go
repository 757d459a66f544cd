package folders

import (
	"context"
	"errors"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
)

// Existing is what becomes of what there is where a folder goes.
type Existing uint8

// What becomes of it.
const (
	RefuseExisting  Existing = iota // nothing goes where something is
	MergeExisting                   // a file of the same name gets another version; the others stay
	ReplaceExisting                 // likewise, and what the folder does not have is deleted afterwards; of copies only
)

// CopyFolder copies all files whose names begin with the path of a folder, which ends in a slash,
// and the folders in it that were made by themselves, as CopyResource does. The path is replaced by
// another one, neither within the other. It goes in steps of up to 200 objects, each of which is
// whole or not there, and asks for permission in each. Every reason to refuse that any of the files
// has is found before the first step. With an error the outcome tells how far it came; what was
// copied stays, and what was to be replaced does, too.
func (s *Folders) CopyFolder(ctx context.Context, p auth.Principal, from, to metadata.FolderKey, existing Existing) (FolderOutcome, error) {
	return s.placeFolder(ctx, p, &folderSteps{from: from, to: to, existing: existing})
}

// MoveFolder is CopyFolder as MoveResource does: at any time each file is in exactly one place.
func (s *Folders) MoveFolder(ctx context.Context, p auth.Principal, from, to metadata.FolderKey, existing Existing) (FolderOutcome, error) {
	return s.placeFolder(ctx, p, &folderSteps{from: from, to: to, existing: existing, move: true})
}

// placeFolder copies or moves a folder, and does what else belongs to that in the last step.
func (s *Folders) placeFolder(ctx context.Context, p auth.Principal, f *folderSteps, last ...folderPart) (FolderOutcome, error) {
	f.service = s
	if f.decide == nil {
		f.decide = (*folderSteps).check
	}
	changes := []metadata.FolderKey{f.to}
	if f.move {
		changes = append(changes, f.from)
	}
	ctx, release, err := f.lock(ctx, p, changes...)
	if err != nil {
		return f.done, err
	}
	defer release()
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		f.adds = 0
		if err := f.decide(f, tx, p); err != nil || f.shallow {
			return err
		}
		return f.examineAll(ctx, tx)
	})
	if err == nil {
		err = f.run(ctx, p, append(f.parts(), last...)...)
	}
	return f.done, err
}

// parts are the parts of a copy or a move. What is in the way goes last: until everything has
// arrived, nothing is deleted.
func (f *folderSteps) parts() []folderPart {
	parts := []folderPart{(*folderSteps).placeFiles, (*folderSteps).placeFolders}
	if f.shallow {
		parts = []folderPart{(*folderSteps).placeAlone}
	}
	if f.shallow || f.existing == ReplaceExisting && !f.move {
		parts = append(parts, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
	}
	return parts
}

// check finds what refuses the whole, before anything is changed.
func (f *folderSteps) check(tx *metadata.Tx, p auth.Principal) error {
	if err := f.admit(tx, p); err != nil {
		return err
	}
	from, to := f.from.Path, f.to.Path
	switch in, rest, _ := tree.Split(to); {
	case to == "" || in != to || rest != "":
		return core.Invalid("path", "the path must be that of a folder, with a slash at its end")
	case f.from.SetID == f.to.SetID && (strings.HasPrefix(to, from) || strings.HasPrefix(from, to)):
		return core.Conflict(errs.CodeFolderWithin, "path", "a folder cannot go into itself, nor in the place of one that it is in")
	}
	if err := core.NameText.Check("path", to); err != nil {
		return err
	}
	if err := f.found(tx); err != nil {
		return err
	}
	if f.existing == RefuseExisting {
		taken, err := files.HasFolder(tx, f.to)
		if err != nil {
			return err
		}
		if taken {
			return core.Conflict(errs.CodePathTaken, "path", "there is a folder with this path")
		}
	}
	return f.fits(tx)
}

// fits refuses a folder that the quotas have no room for.
func (f *folderSteps) fits(tx *metadata.Tx) error {
	if f.adds == 0 {
		return nil
	}
	return f.service.core.Quotas.Check(tx, quota.Place{Dataspace: f.goal.DataspaceID, User: f.by.UserID}, f.adds)
}

// examineAll finds each reason to refuse one of the files, and what all of them add. The first step
// asks the quotas once more: files that go in later steps are admitted with the first one.
func (f *folderSteps) examineAll(ctx context.Context, tx *metadata.Tx) error {
	if err := f.checkLengths(tx); err != nil {
		return err
	}
	ahead := *f
	ahead.adds = 0
	for ahead.more = true; ahead.more; {
		ahead.room = core.MaxStep
		files, err := ahead.nextFiles(tx, ahead.fromAt.files(f.from))
		if err != nil {
			return err
		}
		for _, r := range files {
			t, name, err := ahead.relocation(tx, r, ahead.fromAt.advance(r))
			if err == nil {
				err = t.Examine(ctx, name, core.Match{})
			}
			if err != nil {
				return aboutFile(r.Name, err)
			}
			if !t.Renames() {
				ahead.adds += t.Needs()
			}
		}
	}
	f.adds = ahead.adds
	return f.fits(tx)
}

// checkLengths refuses names, of files and of folders that were made by themselves, that become too
// long. A path that is not longer makes none.
func (f *folderSteps) checkLengths(tx *metadata.Tx) (err error) {
	longer := len(f.to.Path) - len(f.from.Path)
	if longer <= 0 {
		return nil
	}
	fits := func(name string) bool {
		if len(name)+longer > core.MaxNameBytes {
			err = core.Invalid("path", "the name %s would have more than %d bytes", core.Shorten(name), core.MaxNameBytes)
		}
		return err == nil
	}
	read := tx.Resources.Page((walk{}).files(f.from), func(r *metadata.Resource) bool { return fits(r.Name) })
	if err = errors.Join(err, read); err != nil {
		return err
	}
	for row, failed := range tx.Folders.From(f.from) {
		if failed != nil || !strings.HasPrefix(row.Path, f.from.Path) || !fits(row.Path) {
			return errors.Join(failed, err)
		}
	}
	return nil
}

// placeFiles is a part of a copy or a move.
func (f *folderSteps) placeFiles(ctx context.Context, tx *metadata.Tx) error {
	left, err := f.nextFiles(tx, f.fromAt.files(f.from))
	if err != nil {
		return err
	}
	versions := 0
	for i, r := range left {
		t, name, err := f.relocation(tx, r, f.fromAt.advance(r))
		if err == nil {
			err = t.Check(ctx, name, core.Match{})
		}
		if err == nil {
			_, err = t.CarryOut()
		}
		if err != nil {
			return aboutFile(r.Name, err)
		}
		f.done.Files++
		if versions += t.Versions(); versions > files.MaxStepVersions && i < len(left)-1 {
			f.more = true
			break
		}
	}
	return nil
}

// relocation returns the copy or move of one file, the nth of its name, and its name at the
// destination.
func (f *folderSteps) relocation(tx *metadata.Tx, r metadata.Resource, nth int) (t files.Relocation, name string, err error) {
	source, onto := core.ResolvedResource{Resource: r, Set: f.source}, (*core.ResolvedResource)(nil)
	there, name, err := counterpart(tx, f.from, f.to, r.Name, nth)
	if err == nil {
		err = rows.Described(tx, r.ID, &source.Descriptive)
	}
	if there != nil && f.existing != RefuseExisting && err == nil {
		onto = &core.ResolvedResource{Resource: *there, Set: f.goal}
		err = rows.Described(tx, there.ID, &onto.Descriptive)
	}
	t = f.service.files.NewRelocation(tx, f.by, f.move)
	t.Between(source, f.goal, onto)
	return t, name, err
}

// placeFolders is a part of a copy or a move. A folder that is there at the destination stays, with
// the properties of the one that comes.
func (f *folderSteps) placeFolders(_ context.Context, tx *metadata.Tx) error {
	all, err := f.nextFolders(tx, &f.fromAt, f.from)
	for _, row := range all {
		err = errors.Join(err, f.placeRow(tx, row))
		if f.move {
			err = errors.Join(err, tx.Folders.Remove(row.Key()))
		}
		f.done.Folders++
	}
	return err
}

func (f *folderSteps) placeRow(tx *metadata.Tx, row metadata.Folder) error {
	to := metadata.Folder{SetID: f.to.SetID, Path: f.to.Path + row.Path[len(f.from.Path):], Created: row.Created, CreatedBy: row.CreatedBy}
	if err := core.NameText.Check("path", to.Path); err != nil {
		return err
	}
	there, err := tx.Folders.Get(to.Key())
	if err == nil {
		to = there
	}
	to.Properties = row.Properties
	return errors.Join(errs.Ignore(err, metadata.ErrNotFound), tx.Folders.Put(to))
}

// placeAlone copies a folder without its content.
func (f *folderSteps) placeAlone(_ context.Context, tx *metadata.Tx) error {
	row, err := tx.Folders.Get(f.from)
	if errors.Is(err, metadata.ErrNotFound) {
		row = metadata.Folder{SetID: f.from.SetID, Path: f.from.Path}
	} else if err != nil {
		return err
	}
	row.Created, row.CreatedBy = f.service.core.Now(), f.by.UserID
	return f.placeRow(tx, row)
}
