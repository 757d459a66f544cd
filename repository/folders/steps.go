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

// FolderOutcome is how much of a folder was copied, moved or deleted.
type FolderOutcome struct {
	Files, Folders int
	Deletion       FolderDeletion // of a deletion: what restores the files
	Made           []string       // of a deletion: the first thousand of the folders
}

// folderSteps is a folder that is copied, moved, deleted or restored: before a step, or in it.
type folderSteps struct {
	service  *Folders
	from, to metadata.FolderKey // of a deletion the same
	existing Existing
	move     bool
	shallow  bool // only the folder itself goes; of copies only
	restores *Restoration
	// decide finds in the transaction of the first step, before its first write, every reason to
	// refuse the whole. It may be nil.
	decide func(f *folderSteps, tx *metadata.Tx, p auth.Principal) error
	adds   int64 // bytes of the whole, as examineAll has found them

	madeBytes int // of the paths in done.Made

	by           auth.Principal
	source, goal core.ResolvedSet // in which the folders are
	done         FolderOutcome

	fromAt, toAt walk // through from, and through to
	room         int  // objects that this step may still change
	more         bool // the part is not finished
}

// walk is how far the steps have come through a folder.
type walk struct {
	file paging.Position // files up to this one are done
	same int             // of its name were before it
	row  string          // rows up to this one are done
}

// folderPart is a part of what is done with a folder. It changes at most f.room objects, and sets
// f.more if it has to be called again.
type folderPart func(f *folderSteps, ctx context.Context, tx *metadata.Tx) error

// run does the parts, one after the other, in steps of up to MaxStep objects. A step is one
// transaction, which looks the sets up and authorises the caller anew. Parts that fit into one step
// share a commit. An error behind a commit says how far it came.
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
			next, left = *f, parts // which runs anew if the transaction does
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

// admit looks the sets up, and authorises the caller.
func (f *folderSteps) admit(tx *metadata.Tx, p auth.Principal) (err error) {
	action := auth.Read
	if f.by = p; f.move {
		action = auth.Write
	}
	if f.source, err = core.LookupSet(tx, f.from.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := core.Authorise(tx, p, f.source.Dataspace, action); err != nil {
		return err
	}
	if f.goal, err = core.LookupSet(tx, f.to.SetID.String(), "setId"); err != nil {
		return err
	}
	if err := core.Authorise(tx, p, f.goal.Dataspace, auth.Write); err != nil {
		return err
	}
	for _, set := range []core.ResolvedSet{f.source, f.goal} {
		if err := set.Open("setId"); err != nil {
			return err
		}
		if set.Own != nil || set.Above != nil {
			return core.Conflict(errs.CodeBusy, "", "a deletion or restoration is under way here; try again when it is done")
		}
	}
	return nil
}

// files are the files of a folder that are left.
func (w walk) files(in metadata.FolderKey) metadata.ResourceRange {
	return metadata.ResourceRange{Set: in.SetID, States: paging.Active, Order: paging.ByName, NamePrefix: in.Path, After: w.file}
}

// nextFiles returns the files of a step.
func (f *folderSteps) nextFiles(tx *metadata.Tx, of metadata.ResourceRange) ([]metadata.Resource, error) {
	files, err := rows.Collect(tx.Resources.Range(of), f.room)
	f.more = len(files) == f.room
	f.room -= len(files)
	return files, err
}

// advance goes on behind a file. It returns how many of its name came before it.
func (w *walk) advance(r metadata.Resource) (before int) {
	w.same++
	if w.file.Name != r.Name {
		w.same = 0
	}
	w.file = paging.Position{Name: r.Name, ID: r.ID}
	return w.same
}

// nextFolders returns the rows of a step.
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

// counterpart returns the file of a folder that has the same name within it as one of another
// folder, which is the nth of its name.
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

// aboutFile is the error about one of many files, with its name.
func aboutFile(name string, err error) error {
	if known, is := errors.AsType[*errs.Error](err); is {
		about := *known
		about.Message = core.Shorten(name) + ": " + about.Message
		return &about
	}
	return err
}
