package folders

import (
	"cmp"
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

// Existing says what happens to existing entries at the destination of a folder.
type Existing uint8

// The treatments of existing entries.
const (
	RefuseExisting  Existing = iota // fail if the destination exists
	MergeExisting                   // add versions to files with the same names and keep the others
	ReplaceExisting                 // for copies: also delete what the source does not have
)

// Placement is the source and the destination of a copied or moved folder.
type Placement struct {
	Path, ToPath string
	SetID        string // destination set; "" for the same set
	Existing     Existing
	core.Input
}

// Copy copies a folder of a set: all files whose names begin with its path, which ends in a slash,
// like Files.Copy, and the explicitly created folders in it. The source and the destination must
// not contain each other. Copy works in atomic steps of up to 200 objects and checks the
// permissions in each. It runs the checks of all files before the first step. After an error, the
// outcome shows how far it came. Copied files stay, and files to be replaced are not deleted.
func (s *Folders) Copy(ctx context.Context, p auth.Principal, set string, in Placement) (to metadata.FolderKey, done FolderOutcome, err error) {
	return s.place(ctx, p, set, in, false)
}

// Move is like Copy for a move. At any time, each file is in exactly one place.
func (s *Folders) Move(ctx context.Context, p auth.Principal, set string, in Placement) (to metadata.FolderKey, done FolderOutcome, err error) {
	return s.place(ctx, p, set, in, true)
}

// place looks up the source and the destination, and copies or moves.
func (s *Folders) place(ctx context.Context, p auth.Principal, set string, in Placement, move bool) (to metadata.FolderKey, done FolderOutcome, err error) {
	f := &folderSteps{existing: in.Existing, move: move}
	action := auth.Read
	if move {
		action = auth.Write
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := openedFor(tx, p, set, action)
		if err == nil {
			err = cmp.Or(in.Malformed, files.FolderPath("path", in.Path), files.NewFolderPath("toPath", in.ToPath))
		}
		if err != nil {
			return err
		}
		f.from = metadata.FolderKey{SetID: resolved.ID}
		if f.from.Path, err = files.StoredFolder(tx, resolved.ID, in.Path); err != nil {
			return err
		}
		f.to = metadata.FolderKey{SetID: resolved.ID}
		if in.SetID != "" {
			goal, err := core.LookupSet(tx, in.SetID, "setId")
			if err != nil {
				return err
			}
			f.to.SetID = goal.ID
		}
		f.to.Path, err = files.StoredFolder(tx, f.to.SetID, in.ToPath)
		return err
	})
	if err == nil {
		done, err = s.placeFolder(ctx, p, f)
	}
	return f.to, done, err
}

// placeFolder copies or moves a folder. The parts in last run at the end.
func (s *Folders) placeFolder(ctx context.Context, p auth.Principal, f *folderSteps, last ...folderPart) (FolderOutcome, error) {
	f.service = s
	if f.decide == nil {
		f.decide = (*folderSteps).check
	}
	changes := []metadata.FolderKey{f.to}
	if f.move {
		changes = append(changes, f.from)
	}
	err := f.perform(ctx, p, changes, func(tx *metadata.Tx, p auth.Principal) error {
		f.adds = 0
		if err := f.decide(f, tx, p); err != nil || f.shallow {
			return err
		}
		return f.examineAll(ctx, tx)
	}, append(f.parts(), last...)...)
	return f.done, err
}

// parts returns the parts of a copy or a move. Nothing is deleted before everything has arrived.
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

// check runs the checks of the whole operation before anything changes.
func (f *folderSteps) check(tx *metadata.Tx, p auth.Principal) error {
	if err := f.admit(tx, p); err != nil {
		return err
	}
	from, to := f.from.Path, f.to.Path
	switch in, rest, _ := tree.Split(to); {
	case to == "" || in != to || rest != "":
		return core.Invalid("path", "the path must be the path of a folder, with a slash at its end")
	case f.from.SetID == f.to.SetID && (strings.HasPrefix(to, from) || strings.HasPrefix(from, to)):
		return core.Conflict(errs.CodeFolderWithin, "path", "a folder cannot be copied or moved into itself, and cannot replace a folder that contains it")
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

// fits returns an error if the folder would exceed a quota.
func (f *folderSteps) fits(tx *metadata.Tx) error {
	if f.adds == 0 {
		return nil
	}
	return f.service.core.Quotas.Check(tx, quota.Place{Dataspace: f.goal.DataspaceID, User: f.by.UserID}, f.adds)
}

// examineAll runs the checks of all files, and adds up their bytes. The first step checks the
// quotas again for the whole folder.
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

// checkLengths returns an error if a name of a file or of an explicitly created folder would become
// too long.
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

// placeFiles copies or moves files. It is a folderPart.
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

// relocation returns the copy or move of one file and its new name. nth is the number of preceding
// files with the same name.
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

// placeFolders copies or moves the rows of folders. An existing folder at the destination gets the
// properties of the source. It is a folderPart.
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

// placeAlone copies a folder without its contents.
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
