package repository

import (
	"context"
	"errors"
	"strings"

	"labshelf/audit"
	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
	"labshelf/tree"
)

// maxStepVersions is how many former versions one step moves, but for those of its last file.
const maxStepVersions = 1000

// Existing is what becomes of what there is where a folder goes.
type Existing uint8

// What becomes of it.
const (
	RefuseExisting  Existing = iota // nothing goes where something is
	MergeExisting                   // a file of the same name gets another version; the others stay
	ReplaceExisting                 // likewise, and what the folder does not have is deleted before
)

// FolderOutcome is how much of a folder was copied, moved or deleted.
type FolderOutcome struct {
	Files, Folders int
	Deletion       FolderDeletion // of a deletion: what restores the files
	Made           []string       // of a deletion: the first thousand of the folders
}

// CopyFolder copies all files whose names begin with the path of a folder, which ends in a slash, and the folders in it that were made by themselves, as
// CopyResource does. The path is replaced by another one, neither within the other. It goes in steps of up to 200 objects, each of
// which is whole or not there, and asks for permission in each. With an error the outcome tells how far it came; what was copied stays.
func (s *Service) CopyFolder(ctx context.Context, p auth.Principal, from, to metadata.FolderKey, existing Existing) (FolderOutcome, error) {
	return s.placeFolder(ctx, p, &folderSteps{from: from, to: to, existing: existing})
}

// MoveFolder is CopyFolder as MoveResource does: at any time each file is in exactly one place.
func (s *Service) MoveFolder(ctx context.Context, p auth.Principal, from, to metadata.FolderKey, existing Existing) (FolderOutcome, error) {
	return s.placeFolder(ctx, p, &folderSteps{from: from, to: to, existing: existing, move: true})
}

// DeleteFolder deletes all files whose names begin with the path of a folder, which ends in a slash, and the rows of its folders, in steps as CopyFolder.
func (s *Service) DeleteFolder(ctx context.Context, p auth.Principal, folder metadata.FolderKey) (FolderOutcome, error) {
	f := &folderSteps{service: s, from: folder, to: folder}
	ctx, release, err := f.lock(ctx, p, folder)
	if err != nil {
		return f.done, err
	}
	defer release()
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := f.admit(tx, p); err != nil {
			return err
		}
		return f.found(tx)
	})
	if err == nil {
		err = f.run(ctx, p, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
	}
	return f.done, err
}

func (s *Service) placeFolder(ctx context.Context, p auth.Principal, f *folderSteps) (FolderOutcome, error) {
	f.service = s
	changes := []metadata.FolderKey{f.to}
	if f.move {
		changes = append(changes, f.from)
	}
	ctx, release, err := f.lock(ctx, p, changes...)
	if err != nil {
		return f.done, err
	}
	defer release()
	err = s.view(ctx, p, f.check)
	if err == nil && f.existing == ReplaceExisting {
		clear := &folderSteps{service: s, from: f.to, to: f.to, keep: &f.from}
		err = clear.run(ctx, p, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
	}
	if err == nil {
		err = f.run(ctx, p, (*folderSteps).placeFiles, (*folderSteps).placeFolders)
	}
	return f.done, err
}

// folderSteps is a folder that is copied, moved or deleted: before a step, or in it.
type folderSteps struct {
	service  *Service
	from, to metadata.FolderKey // of a deletion the same
	existing Existing
	move     bool
	keep     *metadata.FolderKey // of a deletion: what this folder has, too, stays
	restores *folderRestoration

	madeBytes int // of the paths in done.Made

	by           auth.Principal
	source, goal resolvedSet // in which the folders are
	done         FolderOutcome

	// How far the steps have come.
	file   paging.Position // files up to this one are done
	same   int             // of its name were before it
	folder string          // rows up to this one are done
	more   bool            // there may be others
}

// run does each of the parts in steps until nothing is left of it. A step is one transaction, which looks the sets up and authorises the caller anew.
func (f *folderSteps) run(ctx context.Context, p auth.Principal, parts ...func(*folderSteps, context.Context, *metadata.Tx) error) error {
	for _, part := range parts {
		for f.more = true; f.more; {
			var next folderSteps
			err := f.service.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
				next = *f // which runs anew if the transaction does
				next.more = false
				if err := next.admit(tx, p); err != nil {
					return err
				}
				return part(&next, ctx, tx)
			})
			if err != nil {
				return err
			}
			*f = next
			f.service.inline.Wake()
		}
	}
	return nil
}

// admit looks the sets up, and authorises the caller.
func (f *folderSteps) admit(tx *metadata.Tx, p auth.Principal) (err error) {
	action := auth.Read
	if f.by = p; f.move {
		action = auth.Write
	}
	if f.source, err = lookupSet(tx, f.from.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := authorise(tx, p, f.source.dataspace, action); err != nil {
		return err
	}
	if f.goal, err = lookupSet(tx, f.to.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := authorise(tx, p, f.goal.dataspace, auth.Write); err != nil {
		return err
	}
	for _, set := range []resolvedSet{f.source, f.goal} {
		if err := set.open("setId"); err != nil {
			return err
		}
		if set.own != nil || set.above != nil {
			return conflict(errs.CodeBusy, "", "a deletion or restoration is under way here; try again when it is done")
		}
	}
	return nil
}

// check finds what refuses the whole, before anything is changed.
func (f *folderSteps) check(tx *metadata.Tx, p auth.Principal) error {
	if err := f.admit(tx, p); err != nil {
		return err
	}
	from, to := f.from.Path, f.to.Path
	switch in, rest, _ := tree.Split(to); {
	case to == "" || in != to || rest != "":
		return invalid("path", "the path must be that of a folder, with a slash at its end")
	case f.from.SetID == f.to.SetID && (strings.HasPrefix(to, from) || strings.HasPrefix(from, to)):
		return conflict(errs.CodeFolderWithin, "path", "a folder cannot go into itself, nor in the place of one that it is in")
	}
	if err := nameText.check("path", to); err != nil {
		return err
	}
	if err := f.found(tx); err != nil {
		return err
	}
	if f.existing == RefuseExisting {
		taken, err := hasFolder(tx, f.to)
		if err != nil {
			return err
		}
		if taken {
			return conflict(errs.CodePathTaken, "path", "there is a folder with this path")
		}
	}
	return f.checkLengths(tx)
}

// checkLengths refuses names, of files and of folders that were made by themselves, that become too long. A path that is not longer makes none.
func (f *folderSteps) checkLengths(tx *metadata.Tx) (err error) {
	longer := len(f.to.Path) - len(f.from.Path)
	if longer <= 0 {
		return nil
	}
	fits := func(name string) bool {
		if len(name)+longer > maxNameBytes {
			err = invalid("path", "the name %s would have more than %d bytes", Shorten(name), maxNameBytes)
		}
		return err == nil
	}
	read := tx.Resources.Page(f.files(), func(r *metadata.Resource) bool { return fits(r.Name) })
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

// hasFolder tells whether a set has a folder with a path, which is not the set itself: one with files, or that was made by itself.
func hasFolder(tx *metadata.Tx, folder metadata.FolderKey) (bool, error) {
	if !strings.HasSuffix(folder.Path, "/") {
		return false, nil
	}
	for _, err := range tx.Resources.Range((&folderSteps{from: folder}).files()) {
		return err == nil, err
	}
	for row, err := range tx.Folders.From(folder) {
		return err == nil && strings.HasPrefix(row.Path, folder.Path), err
	}
	return false, nil
}

// files are those of the folder that are left.
func (f *folderSteps) files() metadata.ResourceRange {
	return metadata.ResourceRange{Set: f.from.SetID, States: paging.Active, Order: paging.ByName, NamePrefix: f.from.Path, After: f.file}
}

// nextFiles returns the files of a step.
func (f *folderSteps) nextFiles(tx *metadata.Tx) ([]metadata.Resource, error) {
	files, err := rows.Collect(tx.Resources.Range(f.files()), maxStep)
	f.more = len(files) == maxStep
	return files, err
}

// advance goes on behind a file. It returns how many of its name came before it.
func (f *folderSteps) advance(r metadata.Resource) (before int) {
	f.same++
	if f.file.Name != r.Name {
		f.same = 0
	}
	f.file = paging.Position{Name: r.Name, ID: r.ID}
	return f.same
}

// counterpart returns the file of a folder that has the same name within it as one of another folder, which is the nth of its name.
func counterpart(tx *metadata.Tx, of, in metadata.FolderKey, name string, nth int) (r *metadata.Resource, there string, err error) {
	there = in.Path + name[len(of.Path):]
	within := metadata.ResourceRange{Set: in.SetID, States: paging.Active, Order: paging.ByName, Name: &there}
	same, err := rows.Collect(tx.Resources.Range(within), nth+1)
	if len(same) > nth {
		r = &same[nth]
	}
	return r, there, err
}

// placeFiles is a step of a copy or a move.
func (f *folderSteps) placeFiles(ctx context.Context, tx *metadata.Tx) error {
	files, err := f.nextFiles(tx)
	if err != nil {
		return err
	}
	versions := 0
	for i, r := range files {
		t := placement{service: f.service, tx: tx, by: f.by, move: f.move, source: resolvedResource{Resource: r, set: f.source}, set: f.goal}
		if err := f.placeFile(ctx, &t, f.advance(r)); err != nil {
			return aboutFile(r.Name, err)
		}
		f.done.Files++
		if versions += len(t.former); versions > maxStepVersions && i < len(files)-1 {
			f.more = true
			break
		}
	}
	return nil
}

// placeFile copies or moves one file, the nth of its name.
func (f *folderSteps) placeFile(ctx context.Context, t *placement, nth int) error {
	there, name, err := counterpart(t.tx, f.from, f.to, t.source.Name, nth)
	if err == nil {
		err = rows.Described(t.tx, t.source.ID, &t.source.Descriptive)
	}
	if there != nil && f.existing != RefuseExisting && err == nil {
		t.onto = &resolvedResource{Resource: *there, set: f.goal}
		err = rows.Described(t.tx, there.ID, &t.onto.Descriptive)
	}
	if err == nil {
		err = t.check(ctx, name, Match{})
	}
	if err == nil {
		_, err = t.carryOut()
	}
	return err
}

// aboutFile is the error about one of many files, with its name.
func aboutFile(name string, err error) error {
	if known, is := errors.AsType[*errs.Error](err); is {
		about := *known
		about.Message = Shorten(name) + ": " + about.Message
		return &about
	}
	return err
}

// deleteFiles is a step of a deletion.
func (f *folderSteps) deleteFiles(_ context.Context, tx *metadata.Tx) error {
	files, err := f.nextFiles(tx)
	if err != nil {
		return err
	}
	for _, r := range files {
		nth := f.advance(r)
		if f.keep != nil {
			kept, _, err := counterpart(tx, f.from, *f.keep, r.Name, nth)
			if err != nil {
				return err
			}
			if kept != nil {
				continue
			}
		}
		gone := r
		gone.State = metadata.Deleted
		if err := (resolvedResource{Resource: r, set: f.source}).write(tx, rows.Change{By: f.by, Action: audit.ResourceDelete}, &gone); err != nil {
			return err
		}
		f.done.Deletion.note(gone.Modified)
		f.done.Files++
	}
	return nil
}

// nextFolders returns the rows of a step.
func (f *folderSteps) nextFolders(tx *metadata.Tx) (all []metadata.Folder, err error) {
	from := f.from
	if f.folder != "" {
		from.Path = f.folder + "\x00"
	}
	for row, err := range tx.Folders.From(from) {
		if err != nil || !strings.HasPrefix(row.Path, f.from.Path) {
			return all, err
		}
		if f.more = len(all) == maxStep; f.more {
			break
		}
		all = append(all, row)
		f.folder = row.Path
	}
	return all, nil
}

// placeFolders is a step of a copy or a move. A folder that is there at the destination stays, with the properties of the one that comes.
func (f *folderSteps) placeFolders(_ context.Context, tx *metadata.Tx) error {
	all, err := f.nextFolders(tx)
	for _, row := range all {
		to := metadata.Folder{SetID: f.to.SetID, Path: f.to.Path + row.Path[len(f.from.Path):], Created: row.Created, CreatedBy: row.CreatedBy}
		there, failed := tx.Folders.Get(to.Key())
		if failed == nil {
			to = there
		}
		to.Properties = row.Properties
		err = errors.Join(err, errs.Ignore(failed, metadata.ErrNotFound), tx.Folders.Put(to))
		if f.move {
			err = errors.Join(err, tx.Folders.Remove(row.Key()))
		}
		f.done.Folders++
	}
	return err
}

// deleteFolders is a step of a deletion.
func (f *folderSteps) deleteFolders(_ context.Context, tx *metadata.Tx) error {
	all, err := f.nextFolders(tx)
	for _, row := range all {
		if f.keep != nil {
			_, failed := tx.Folders.Get(metadata.FolderKey{SetID: f.keep.SetID, Path: f.keep.Path + row.Path[len(f.from.Path):]})
			if !errors.Is(failed, metadata.ErrNotFound) {
				err = errors.Join(err, failed)
				continue
			}
		}
		err = errors.Join(err, tx.Folders.Remove(row.Key()))
		if f.done.Folders++; f.done.Folders <= maxMade && f.madeBytes+len(row.Path) <= maxMadeBytes {
			f.done.Made, f.madeBytes = append(f.done.Made, row.Path), f.madeBytes+len(row.Path)
		}
	}
	return err
}
