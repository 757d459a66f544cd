package folders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// FolderOutcome counts the files and folders that were copied, moved or deleted.
type FolderOutcome struct {
	Files, Folders int
	Deletion       FolderDeletion // for a deletion: the input of a restoration
	Made           []string       // for a deletion: the first thousand explicitly created folders
}

// folderSteps is the state of an operation on a folder, before or during a step.
type folderSteps struct {
	service  *Folders
	from, to metadata.FolderKey // the same folder for a deletion
	existing Existing
	move     bool
	shallow  bool // only for copies: without contents
	restores *Restoration
	// decide, if not nil, runs the checks of the whole operation, in the transaction of the first
	// step before its first write.
	decide func(f *folderSteps, tx *metadata.Tx, p auth.Principal) error
	adds   int64 // bytes of the whole folder, computed by examineAll

	madeBytes int // bytes of the paths in done.Made

	by           auth.Principal
	source, goal core.ResolvedSet // sets of the folders
	done         FolderOutcome

	fromAt, toAt walk // positions in from and in to
	room         int  // number of objects that this step may still change
	more         bool // the part has to be called again
}

// walk is a position in a folder.
type walk struct {
	file paging.Position // the last file processed
	same int             // number of files with its name before it
	row  string          // the last row processed
}

// folderPart is one part of an operation on a folder. It changes at most f.room objects, and sets
// f.more if it must be called again.
type folderPart func(f *folderSteps, ctx context.Context, tx *metadata.Tx) error

// perform locks folders and runs the parts on them. If ahead is not nil, perform first runs it in a
// read transaction, so that an error does not wait for a commit.
func (f *folderSteps) perform(
	ctx context.Context, p auth.Principal, locked []metadata.FolderKey, ahead func(*metadata.Tx, auth.Principal) error, parts ...folderPart,
) error {
	ctx, release, err := f.lock(ctx, p, locked...)
	if err != nil {
		return err
	}
	defer release()
	if ahead != nil {
		if err := f.service.core.View(ctx, p, ahead); err != nil {
			return err
		}
	}
	return f.run(ctx, p, parts...)
}

// run runs the parts in order, in steps of up to MaxStep objects. Each step is one transaction,
// which looks up the sets and authorises the caller again. Parts that fit into one step share a
// commit. An error after a commit reports how far run came.
func (f *folderSteps) run(ctx context.Context, p auth.Principal, parts ...folderPart) error {
	ctx, operation := storage.Begin(ctx)
	err := f.steps(ctx, p, parts)
	return operation.Outcome(err, fmt.Sprintf("%d files and %d folders", f.done.Files, f.done.Folders))
}

func (f *folderSteps) steps(ctx context.Context, p auth.Principal, parts []folderPart) error {
	for first := true; len(parts) > 0; first = false {
		var next folderSteps
		var left []folderPart
		err := f.service.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
			next, left = *f, parts // a retry of the transaction starts from these
			next.room = core.MaxStep
			if err := next.admit(tx, p); err != nil {
				return err
			}
			if first && next.decide != nil {
				if err := next.decide(&next, tx, p); err != nil {
					return err
				}
			}
			for len(left) > 0 && next.room > 0 {
				next.more = false
				if err := left[0](&next, ctx, tx); err != nil {
					return err
				}
				if next.more {
					break
				}
				left = left[1:]
			}
			return nil
		})
		if err != nil {
			return err
		}
		*f, parts = next, left
		f.service.core.Inline.Wake()
	}
	return nil
}

// admit looks up the sets and authorises the caller.
func (f *folderSteps) admit(tx *metadata.Tx, p auth.Principal) (err error) {
	action := auth.Read
	if f.by = p; f.move {
		action = auth.Write
	}
	if f.source, err = core.LookupSet(tx, f.from.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := f.source.Authorise(tx, p, action); err != nil {
		return err
	}
	if f.goal, err = core.LookupSet(tx, f.to.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := f.goal.Authorise(tx, p, auth.Write); err != nil {
		return err
	}
	for _, set := range []core.ResolvedSet{f.source, f.goal} {
		if err := set.Open("setId"); err != nil {
			return err
		}
		if set.Own != nil || set.Above != nil {
			return core.Conflict(errs.CodeBusy, "", "a deletion or restoration is in progress here; try again when it is done")
		}
	}
	return nil
}

// files returns the range of the files of a folder after the position.
func (w walk) files(in metadata.FolderKey) metadata.ResourceRange {
	return metadata.ResourceRange{Set: in.SetID, States: paging.Active, Order: paging.ByName, NamePrefix: in.Path, After: w.file}
}

// nextFiles reads the files of a step.
func (f *folderSteps) nextFiles(tx *metadata.Tx, of metadata.ResourceRange) ([]metadata.Resource, error) {
	files, err := rows.Collect(tx.Resources.Range(of), f.room)
	f.more = len(files) == f.room
	f.room -= len(files)
	return files, err
}

// advance moves the position to a file, and returns how many files with its name precede it.
func (w *walk) advance(r metadata.Resource) (before int) {
	w.same++
	if w.file.Name != r.Name {
		w.same = 0
	}
	w.file = paging.Position{Name: r.Name, ID: r.ID}
	return w.same
}

// nextFolders reads the rows of folders of a step.
func (f *folderSteps) nextFolders(tx *metadata.Tx, w *walk, in metadata.FolderKey) (all []metadata.Folder, err error) {
	from := in
	if w.row != "" {
		from.Path = w.row + "\x00"
	}
	for row, err := range tx.Folders.From(from) {
		if err != nil || !strings.HasPrefix(row.Path, in.Path) {
			return all, err
		}
		if f.more = f.room == 0; f.more {
			break
		}
		f.room--
		all = append(all, row)
		w.row = row.Path
	}
	return all, nil
}

// counterpart returns the file in the folder in that corresponds to a file in the folder of: with
// the same relative name, and the same number nth of preceding files with that name. r is nil
// without one. there is its name.
func counterpart(tx *metadata.Tx, of, in metadata.FolderKey, name string, nth int) (r *metadata.Resource, there string, err error) {
	there = in.Path + name[len(of.Path):]
	within := metadata.ResourceRange{Set: in.SetID, States: paging.Active, Order: paging.ByName, Name: &there}
	if err := files.InStoredForm(tx, &within, false); err != nil {
		return nil, there, err
	}
	same, err := rows.Collect(tx.Resources.Range(within), nth+1)
	if len(same) > nth {
		r = &same[nth]
	}
	return r, there, err
}

// aboutFile adds the name of a file to an error about it.
func aboutFile(name string, err error) error {
	if known, is := errors.AsType[*errs.Error](err); is {
		about := *known
		about.Message = core.Shorten(name) + ": " + about.Message
		return &about
	}
	return err
}
