package folders

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/rows"
)

// Drive is the repository as a tree of paths. It is safe for concurrent use.
type Drive struct {
	core    *core.Core
	files   *files.Files
	folders *Folders
}

// NewDrive returns the drive of a repository.
func NewDrive(core *core.Core, files *files.Files, folders *Folders) *Drive {
	return &Drive{core: core, files: files, folders: folders}
}

// The drive shows what the caller may read as one tree: dataspaces and their sets by name, and in
// each set the tree of its files (package tree). What is deleted is not there, and what the caller
// may not read is not there either, since names can be guessed.

// DrivePath is a path of the drive. Dataspace "" is the root, Set "" the dataspace; Path has no
// slash at its ends, and "" is the set.
type DrivePath struct{ Dataspace, Set, Path string }

// DriveEntry is what is at a path of the drive: the root, a dataspace, a set or a folder of it, a
// file, or nothing.
type DriveEntry struct {
	Element    string              // the last one of its path
	Dataspace  *metadata.Dataspace // nil: the root
	Set        *metadata.Set       // nil: above the sets
	Folder     string              // of the set: "", or with a slash at its end
	File       *metadata.Resource  // nil: no file
	Made       metadata.Stamp      // when the folder was made; 0: it is there because of its files
	Properties string              // what clients keep with it
	Attributes metadata.FileAttributes
	Name       string // where there is nothing: the name that a file would have here
	Missing    Missing
}

// Missing tells why there is nothing at a path.
type Missing uint8

// Why there is nothing.
const (
	Present      Missing = iota // there is something
	Free                        // but there may be: the folder above exists
	NoParent                    // nor is there the folder above
	Unusable                    // an element is empty, . or .., or nothing that any client can use
	NotContained                // nor may there be: sets and dataspaces are not made here
)

// exists returns the error of a path at which there is nothing.
func (e DriveEntry) exists() error {
	switch {
	case e.Missing != Present:
		return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: "there is nothing at this path, or you may not read it"}
	case e.Set == nil:
		return ContainersStay()
	}
	return nil
}

// ContainersStay refuses a change of the two upper levels of the drive.
func ContainersStay() error {
	return core.Forbidden("dataspaces and sets are made, renamed and deleted in the pages or by commands, not on the drive")
}

// free returns why nothing new can be at a path.
func (e DriveEntry) free() error {
	switch {
	case e.Missing == Present && e.File == nil && e.Folder == "", e.Missing == NotContained:
		return ContainersStay()
	case e.Missing == Present:
		return &errs.Error{Kind: errs.MethodNotAllowed, Code: errs.CodeMethodNotAllowed, Message: "there is something at this path already"}
	case e.Missing == Unusable:
		return core.Invalid("path", "an element of the path is empty, . or .., too long, or has a backslash or a control character")
	case e.Missing == NoParent:
		return core.Conflict(errs.CodeNotFound, "path", "the folder of this path does not exist")
	}
	return nil
}

// Lookup returns what is at a path of the drive, also where that is nothing.
func (s *Drive) Lookup(ctx context.Context, p auth.Principal, path DrivePath) (e DriveEntry, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
		e, err = locate(tx, p, path, auth.Read)
		return err
	})
	return e, err
}

// Writable is Lookup for a caller who may change what is there, or may be: anything below a set.
func (s *Drive) Writable(ctx context.Context, p auth.Principal, path DrivePath) (e DriveEntry, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
		if e, err = locate(tx, p, path, auth.Write); err == nil && e.Missing != Present {
			err = e.free()
		} else if err == nil && e.Set == nil {
			err = ContainersStay()
		}
		return err
	})
	return e, err
}

// locate finds what is at a path, for a caller who may read there; who may not do more gets an
// error.
func locate(tx *metadata.Tx, p auth.Principal, path DrivePath, action auth.Action) (e DriveEntry, err error) {
	switch {
	case path.Dataspace == "":
		return e, nil
	case path.Path == "":
		e.Missing = NotContained
	default:
		e.Missing = NoParent
	}
	d, err := objectNamed(tx.Dataspaces.ByName, tx.Dataspaces.Get, path.Dataspace)
	if err == nil && d.State == metadata.Active {
		err = hide(core.Authorise(tx, p, d, auth.Read))
	}
	if errors.Is(err, metadata.ErrNotFound) || err == nil && d.State != metadata.Active {
		return e, nil
	}
	if err == nil && action != auth.Read {
		err = core.Authorise(tx, p, d, action)
	}
	if err != nil {
		return e, err
	}
	e.Dataspace, e.Element = &d, d.Name
	if path.Set == "" {
		e.Missing = Present
		return e, nil
	}
	set, err := objectNamed(tx.Sets.ByName, func(id metadata.ID) (core.ResolvedSet, error) { return core.ResolveSet(tx, id) }, path.Set)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && (set.DataspaceID != d.ID || set.Shown().State != metadata.Active) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Set, e.Element = &set.Set, set.Name
	return e, e.within(tx, path.Path)
}

// objectNamed gets an object by its name.
func objectNamed[T any](id func(string) (metadata.ID, error), get func(metadata.ID) (T, error), name string) (object T, err error) {
	of, err := id(name)
	if err != nil {
		return object, err
	}
	return get(of)
}

// hide makes a refusal ErrNotFound.
func hide(err error) error {
	if refusal, is := errors.AsType[*errs.Error](err); is && refusal.Kind == errs.Forbidden {
		return metadata.ErrNotFound
	}
	return err
}

// within finds what is at a path of the set.
func (e *DriveEntry) within(tx *metadata.Tx, path string) error {
	of := files.TreeOf(tx, e.Set.ID)
	path, err := tree.Stored(of, path)
	if err != nil {
		return err
	}
	node, found, err := tree.Lookup(of, path)
	if err != nil {
		return err
	}
	folder, element, plain := tree.Split(path)
	switch {
	case found:
		e.Missing = Present
		return e.take(tx, node)
	case !plain:
		e.Missing = Unusable
		return nil
	}
	e.Element, e.Name, e.Missing = element, path, Free
	there, err := tree.Exists(of, folder)
	if !there {
		e.Missing = NoParent
	}
	return err
}

// Again returns the position for a second listing from it, which takes over no memory.
func (p DrivePosition) Again() DrivePosition {
	p.spare = files.Window{}
	return p
}

// take makes it the entry of a node of its set.
func (e *DriveEntry) take(tx *metadata.Tx, node tree.Node[files.TreeFile]) error {
	e.Folder, e.Made, e.Properties, e.Attributes, e.File = node.Folder, 0, "", metadata.FileAttributes{}, nil
	if node.Element != "" {
		e.Element = node.Element
	}
	if node.File != nil {
		e.File = node.File.Resource
		row, err := tx.FileProperties.Get(e.File.ID)
		e.Properties, e.Attributes = row.Properties, row.Attributes
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	row, err := tx.Folders.Get(metadata.FolderKey{SetID: e.Set.ID, Path: e.Folder})
	e.Properties, e.Made = row.Properties, row.Created
	return errs.Ignore(err, metadata.ErrNotFound)
}

// DrivePosition is where a listing of a folder goes on. The zero DrivePosition is its beginning. A
// listing goes on from it once: it takes over the memory of the one before.
type DrivePosition struct {
	id    metadata.ID
	in    tree.Position
	spare files.Window
}

// List calls add for the entries of a folder of the drive after a position, until add returns
// false, at most so many. The entry is borrowed. more: a listing from next on has the rest, as it
// is then.
func (s *Drive) List(
	ctx context.Context, p auth.Principal, path DrivePath, after DrivePosition, most int, add func(*DriveEntry) bool,
) (next DrivePosition, more bool, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := locate(tx, p, path, auth.Read)
		if err != nil || at.Missing != Present || at.File != nil {
			return err
		}
		l := &driveListing{tx: tx, most: most, add: add, next: after}
		switch {
		case at.Dataspace == nil:
			err = l.dataspaces(p)
		case at.Set == nil:
			err = l.sets(at)
		default:
			err = l.folder(at)
		}
		next, more = l.next, l.full
		return err
	})
	return next, more, err
}

// driveListing is a listing under way.
type driveListing struct {
	tx   *metadata.Tx
	most int
	add  func(*DriveEntry) bool
	next DrivePosition
	full bool
}

// take adds an entry, and reports whether another one may follow.
func (l *driveListing) take(e *DriveEntry, at DrivePosition) bool {
	more := l.add(e)
	l.next = at
	l.most--
	l.full = l.most <= 0 || !more
	return !l.full
}

func (l *driveListing) dataspaces(p auth.Principal) error {
	all, err := containers.ListedDataspaces(l.tx, p, paging.Query{After: paging.Position{ID: l.next.id}})
	if err != nil {
		return err
	}
	for d, err := range all {
		if err != nil {
			return err
		}
		if d.State == metadata.Active && !l.take(&DriveEntry{Element: d.Name, Dataspace: &d}, DrivePosition{id: d.ID}) {
			break
		}
	}
	return nil
}

func (l *driveListing) sets(at DriveEntry) error {
	for set, err := range l.tx.Sets.Range(metadata.SetRange{Dataspaces: []metadata.ID{at.Dataspace.ID}, States: paging.States(metadata.Active), After: l.next.id}) {
		if err != nil {
			return err
		}
		e := DriveEntry{Element: set.Name, Dataspace: at.Dataspace, Set: &set}
		if err := e.take(l.tx, tree.Node[files.TreeFile]{}); err != nil {
			return err
		}
		if !l.take(&e, DrivePosition{id: set.ID}) {
			break
		}
	}
	return nil
}

func (l *driveListing) folder(at DriveEntry) error {
	e, of := at, files.TreeOf(l.tx, at.Set.ID)
	of.Expected, of.Spare = min(l.most+1, files.MostFiles), l.next.spare
	for node, err := range tree.Children(of, at.Folder, l.next.in) {
		if err == nil {
			err = e.take(l.tx, node)
		}
		if err != nil {
			return err
		}
		if !l.take(&e, DrivePosition{in: node.Next(), spare: of.Window}) {
			break
		}
	}
	return nil
}

// UsedBytes returns how many bytes the active files of a dataspace have.
func (s *Drive) UsedBytes(ctx context.Context, p auth.Principal, dataspace metadata.ID) (bytes int64, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		d, err := core.LookupDataspace(tx, dataspace.String(), "")
		if err == nil {
			err = core.Authorise(tx, p, d, auth.Read)
		}
		if err != nil {
			return err
		}
		c, err := rows.Counters(tx, dataspace)
		bytes = c.ActiveBytes
		return err
	})
	return bytes, err
}
