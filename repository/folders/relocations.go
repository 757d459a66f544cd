package folders

import (
	"context"
	"errors"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Relocation is a copy or a move between two paths of the drive.
type Relocation struct {
	From, To  DrivePath
	Move      bool
	Shallow   bool // only for copies: copy a folder without its contents
	Overwrite bool // allow an existing entry at To
	// Check is called with the entries at both paths, which may be missing, in the transaction that
	// relocates. It returns an error to refuse the relocation. It may be called more than once and
	// must not call a use case.
	Check func(from, to DriveEntry) error
}

// Relocate copies or moves a file or a folder on the drive, and returns the former entries at both
// paths. A file that goes to the path of a file becomes its next version. A folder copied to the
// path of a folder replaces it; a folder moved there is merged with it. In all other cases, the
// entry at the destination is deleted. A file is relocated in one commit. A folder is relocated in
// steps, and nothing at the destination is deleted before the last file has arrived. The source's
// parent folder stays, even if it is empty.
func (s *Drive) Relocate(ctx context.Context, p auth.Principal, how Relocation) (from, to DriveEntry, err error) {
	r := relocation{Relocation: how, service: s}
	for range relocateTries {
		if err = s.core.View(ctx, p, r.decide); err != nil {
			return r.from, r.to, err
		}
		switch {
		case r.from.File == nil:
			err = r.relocateFolder(ctx, p)
		case r.replacesFolder():
			err = r.replaceFolder(ctx, p)
		default:
			err = r.relocateFile(ctx, p)
		}
		if !errors.Is(err, errOtherKind) {
			return r.from, r.to, err
		}
	}
	return r.from, r.to, keepsChanging()
}

func keepsChanging() error {
	return core.Conflict(errs.CodeBusy, "path", "the entry at this path keeps changing; try again")
}

// relocateTries is how often Relocate looks up both paths if other callers keep changing them.
const relocateTries = 5

// errOtherKind reports that a transaction has found another kind of entry at a path than the
// previous one.
var errOtherKind = errors.New("the entry at the path has changed")

// relocation is a Relocation with the entries at its paths.
type relocation struct {
	Relocation
	service  *Drive
	from, to DriveEntry
}

// decide looks up the entries at both paths, and runs all checks that do not depend on single
// files.
func (r *relocation) decide(tx *metadata.Tx, p auth.Principal) (err error) {
	if err := r.paths(); err != nil {
		return err
	}
	if r.to, err = locate(tx, p, r.To, auth.Write); err != nil {
		return err
	}
	if r.to.Missing != Present || r.to.File == nil && r.to.Folder == "" {
		if err := r.to.free(); err != nil {
			return err
		}
	}
	if r.from, err = locate(tx, p, r.From, r.needs()); err != nil {
		return err
	}
	if r.to.Missing == Present && !r.Overwrite {
		return &errs.Error{Kind: errs.Precondition, Code: errs.CodePrecondition, Message: "the destination exists, and the request does not allow overwriting it"}
	}
	if r.Check != nil {
		if err := r.Check(r.from, r.to); err != nil {
			return err
		}
	}
	if err := r.from.exists(); err != nil {
		return err
	}
	return r.apart()
}

// needs returns the action that the caller must be allowed to perform at the source.
func (r *relocation) needs() auth.Action {
	if r.Move {
		return auth.Write
	}
	return auth.Read
}

// paths returns an error for paths between which nothing can be relocated.
func (r *relocation) paths() error {
	within := r.From.Dataspace == r.To.Dataspace && r.From.Set == r.To.Set
	switch {
	case within && (r.From.Path == r.To.Path || strings.HasPrefix(r.To.Path, r.From.Path+"/")):
		return ontoItself()
	case r.From.Path == "" || r.To.Path == "":
		return ContainersStay()
	}
	return nil
}

func ontoItself() error {
	return core.Forbidden("a file or folder cannot be copied or moved onto or into itself")
}

// apart returns an error if the destination is the source under another name, or a folder around
// it, because making room there would delete the source.
func (r *relocation) apart() error {
	if r.from.Set.ID != r.to.Set.ID {
		return nil
	}
	if r.to.Missing != Present {
		if r.from.File == nil && strings.HasPrefix(r.to.Name, r.from.Folder) {
			return ontoItself() // under another form of its name
		}
		return nil
	}
	name := r.from.Folder
	if r.from.File != nil {
		name = r.from.File.Name
	}
	switch {
	case r.from.File != nil && r.to.File != nil && r.from.File.ID == r.to.File.ID:
		return ontoItself()
	case r.to.File == nil && strings.HasPrefix(name, r.to.Folder):
		return core.Conflict(errs.CodeFolderWithin, "path", "a folder cannot be replaced by an entry that it contains")
	}
	return nil
}

// replacesFolder reports whether a file goes to the path of a folder.
func (r *relocation) replacesFolder() bool {
	return r.from.File != nil && r.to.Missing == Present && r.to.File == nil
}

// again is decide in a writing transaction. Each path must still have an entry of the same kind.
func (r *relocation) again(tx *metadata.Tx, p auth.Principal) error {
	was := *r
	if err := r.decide(tx, p); err != nil {
		return err
	}
	same := func(a, b DriveEntry) bool {
		return a.Missing == b.Missing && a.Set.ID == b.Set.ID && a.Folder == b.Folder && (a.File == nil) == (b.File == nil)
	}
	if !same(was.from, r.from) || !same(was.to, r.to) {
		return errOtherKind
	}
	return nil
}

// relocateFile copies or moves a file to a free path or to the path of a file.
func (r *relocation) relocateFile(ctx context.Context, p auth.Principal) error {
	err := r.service.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := r.again(tx, p); err != nil {
			return err
		}
		to := files.Destination{SetID: r.to.Set.ID.String(), Name: r.to.Name}
		if r.to.File != nil {
			to.Onto = r.to.File.ID.String()
		}
		return r.place(ctx, tx, p, to)
	})
	r.service.core.Inline.Wake()
	return err
}

// place copies or moves the file, and keeps the folder that it leaves.
func (r *relocation) place(ctx context.Context, tx *metadata.Tx, p auth.Principal, to files.Destination) error {
	t := r.service.files.NewRelocation(tx, p, r.Move)
	err := t.Prepare(ctx, r.from.File.ID.String(), to)
	if err == nil {
		_, err = t.CarryOut()
	}
	if err == nil && r.Move {
		err = keepFolder(tx, p, r.from.parent(), r.service.core.Now())
	}
	return err
}

// replaceFolder copies or moves a file to the path of a folder. The first commit creates the file
// and deletes the folder, or the first part of a large one.
func (r *relocation) replaceFolder(ctx context.Context, p auth.Principal) error {
	folder := metadata.FolderKey{SetID: r.to.Set.ID, Path: r.to.Folder}
	f := deletion(r.service.folders, folder, func(_ *folderSteps, tx *metadata.Tx, p auth.Principal) error { return r.again(tx, p) })
	return f.perform(ctx, p, []metadata.FolderKey{folder}, nil, func(f *folderSteps, ctx context.Context, tx *metadata.Tx) error {
		f.room--
		to, err := r.hiddenDestination(tx)
		if err != nil {
			return err
		}
		return r.place(ctx, tx, f.by, to)
	}, (*folderSteps).deleteFiles, (*folderSteps).deleteFolders)
}

// hiddenDestination returns the destination of a file that replaces a folder. The folder may hide a
// file of the same name, which would appear once the folder is gone. The file then becomes its next
// version.
func (r *relocation) hiddenDestination(tx *metadata.Tx) (files.Destination, error) {
	to := files.Destination{SetID: r.to.Set.ID.String(), Name: strings.TrimSuffix(r.to.Folder, "/")}
	hidden := tx.Resources.Range(metadata.ResourceRange{Set: r.to.Set.ID, States: paging.Active, Order: paging.ByName, Name: &to.Name})
	for file, err := range hidden {
		if err == nil && file.ID != r.from.File.ID {
			to.Onto = file.ID.String()
		}
		return to, err
	}
	return to, nil
}

// relocateFolder copies or moves a folder.
func (r *relocation) relocateFolder(ctx context.Context, p auth.Principal) error {
	f := &folderSteps{
		from: metadata.FolderKey{SetID: r.from.Set.ID, Path: r.from.Folder}, to: metadata.FolderKey{SetID: r.to.Set.ID, Path: r.to.Folder},
		move: r.Move, shallow: r.Shallow && !r.Move, existing: ReplaceExisting,
		decide: func(f *folderSteps, tx *metadata.Tx, p auth.Principal) error {
			if err := r.again(tx, p); err != nil {
				return err
			}
			return f.check(tx, p)
		},
	}
	if r.Move || f.shallow {
		f.existing = MergeExisting
	}
	var last []folderPart
	switch {
	case r.to.File != nil:
		f.to.Path = r.To.Path + "/"
		replaced := r.to.File.ID
		last = append(last, func(f *folderSteps, _ context.Context, tx *metadata.Tx) error { return deleteFile(tx, f.by, replaced) })
	case r.to.Missing != Present:
		f.to.Path = r.to.Name + "/"
	}
	if r.Move {
		last = append(last, func(f *folderSteps, _ context.Context, tx *metadata.Tx) error {
			return keepFolder(tx, f.by, r.from.parent(), f.service.core.Now())
		})
	}
	_, err := r.service.folders.placeFolder(ctx, p, f, last...)
	return err
}

// parent returns the parent folder of a file or folder.
func (e DriveEntry) parent() metadata.FolderKey {
	name := strings.TrimSuffix(e.Folder, "/")
	if e.File != nil {
		name, _, _ = tree.Split(e.File.Name)
		return metadata.FolderKey{SetID: e.Set.ID, Path: name}
	}
	return metadata.FolderKey{SetID: e.Set.ID, Path: name[:strings.LastIndexByte(name, '/')+1]}
}
