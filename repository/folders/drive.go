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

// Drive presents the repository as a tree of paths. It is safe for concurrent use.
type Drive struct {
	core    *core.Core
	files   *files.Files
	folders *Folders
}

// NewDrive returns the drive of a repository.
func NewDrive(core *core.Core, files *files.Files, folders *Folders) *Drive {
	return &Drive{core: core, files: files, folders: folders}
}

// The drive shows everything that the caller may read as one tree: dataspaces and their sets by
// name, and in each set the tree of its files (package tree). Deleted objects are not visible.
// Objects that the caller is not allowed to read are not visible either, since names can be
// guessed.

// DrivePath is a path of the drive. An empty Dataspace means the root, and an empty Set the
// dataspace. Path has no slash at its ends; if it is empty, it means the set.
type DrivePath struct{ Dataspace, Set, Path string }

// DriveEntry is the entry at a path of the drive: the root, a dataspace, a set, a folder, a file,
// or nothing.
type DriveEntry struct {
	Element    string              // last element of its path
	Dataspace  *metadata.Dataspace // nil for the root
	Set        *metadata.Set       // nil for the root and dataspaces
	Folder     string              // path within the set: "", or with a slash at its end
	File       *metadata.Resource  // nil if it is not a file
	Made       metadata.Stamp      // creation of the folder; 0 if it only has files
	Properties string              // properties that clients keep with it
	Attributes metadata.FileAttributes
	Name       string // the name that a file here would have, if nothing exists
	Missing    Missing
}

// Missing is the reason why nothing exists at a path.
type Missing uint8

// The reasons.
const (
	Present      Missing = iota // something exists
	Free                        // nothing, but the parent folder exists
	NoParent                    // the parent folder does not exist, either
	Unusable                    // an element is empty, . or .., or unusable for clients
	NotContained                // sets and dataspaces cannot be created here
)

// exists returns an error if nothing exists at the path, or if it is above the contents of a set.
func (e DriveEntry) exists() error {
	switch {
	case e.Missing != Present:
		return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Message: "there is nothing at this path, or you cannot read it"}
	case e.Set == nil:
		return ContainersStay()
	}
	return nil
}

// ContainersStay returns the error for a change of the two upper levels of the drive.
func ContainersStay() error {
	return core.Forbidden("dataspaces and sets cannot be created, renamed or deleted on the drive; use a browser or the commands")
}

// free returns an error if nothing new can be created at the path.
func (e DriveEntry) free() error {
	switch {
	case e.Missing == Present && e.File == nil && e.Folder == "", e.Missing == NotContained:
		return ContainersStay()
	case e.Missing == Present:
		return &errs.Error{Kind: errs.MethodNotAllowed, Code: errs.CodeMethodNotAllowed, Message: "there is something at this path already"}
	case e.Missing == Unusable:
		return core.Invalid("path", "an element of the path is empty, . or .., is too long, or has a backslash or a control character")
	case e.Missing == NoParent:
		return core.Conflict(errs.CodeNotFound, "path", "the folder of this path does not exist")
	}
	return nil
}

// Lookup returns the entry at a path of the drive, even if nothing exists there.
func (s *Drive) Lookup(ctx context.Context, p auth.Principal, path DrivePath) (e DriveEntry, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
		e, err = locate(tx, p, path, auth.Read)
		return err
	})
	return e, err
}

// Writable is like Lookup for a caller who wants to change the entry or create it. It returns an
// error if the caller is not allowed to.
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

// locate finds the entry at a path. An entry that the caller is not allowed to read counts as
// missing. locate returns an error if the caller may read there but not perform action.
func locate(tx *metadata.Tx, p auth.Principal, path DrivePath, action auth.Action) (e DriveEntry, err error) {
	switch {
	case path.Dataspace == "":
		return e, core.Permitted(p, action)
	case path.Path == "":
		e.Missing = NotContained
	default:
		e.Missing = NoParent
	}
	if err := core.Permitted(p, action); err != nil {
		return e, err
	}
	see := auth.Read
	if core.Permitted(p, see) != nil {
		see = action // a key that only adds files finds the places where it may add
	}
	d, err := objectNamed(tx.Dataspaces.ByName, tx.Dataspaces.Get, path.Dataspace)
	if err == nil && d.State == metadata.Active {
		err = hide(core.Authorise(tx, core.Passing(p), d, see))
	}
	if errors.Is(err, metadata.ErrNotFound) || err == nil && d.State != metadata.Active {
		return e, nil
	}
	if err == nil && action != auth.Read {
		by := p
		if path.Set != "" {
			by = core.Passing(p)
		}
		err = core.Authorise(tx, by, d, action)
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
	if errors.Is(err, metadata.ErrNotFound) || err == nil && (set.DataspaceID != d.ID || set.Shown().State != metadata.Active || !p.Limits.Permits(d.ID, set.ID, see)) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Set, e.Element = &set.Set, set.Name
	return e, e.within(tx, path.Path)
}

// objectNamed returns the object with a name.
func objectNamed[T any](id func(string) (metadata.ID, error), get func(metadata.ID) (T, error), name string) (object T, err error) {
	of, err := id(name)
	if err != nil {
		return object, err
	}
	return get(of)
}

// hide replaces a Forbidden error by ErrNotFound.
func hide(err error) error {
	if refusal, is := errors.AsType[*errs.Error](err); is && refusal.Kind == errs.Forbidden {
		return metadata.ErrNotFound
	}
	return err
}

// within sets the entry to the object at a path of its set.
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

// Again returns a copy of the position for another listing from it. The copy does not reuse memory.
func (p DrivePosition) Again() DrivePosition {
	p.spare = files.Window{}
	return p
}

// take sets the entry to a node of its set.
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

// DrivePosition is the position at which a listing of a folder continues. The zero DrivePosition is
// the beginning. Only one listing may continue from it, because that reuses the memory of the
// previous one.
type DrivePosition struct {
	id    metadata.ID
	in    tree.Position
	spare files.Window
}

// List calls add for the entries of a folder after a position, until add returns false or the
// number of entries reaches most. The entry is borrowed. If more is true, a listing from next
// returns the rest, in its state at that time.
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
			err = l.sets(p, at)
		default:
			err = l.folder(at)
		}
		next, more = l.next, l.full
		return err
	})
	return next, more, err
}

// driveListing is a listing in progress.
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
	all, err := containers.ListedDataspaces(l.tx, core.Passing(p), paging.Query{After: paging.Position{ID: l.next.id}})
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

func (l *driveListing) sets(p auth.Principal, at DriveEntry) error {
	for set, err := range l.tx.Sets.Range(metadata.SetRange{Dataspaces: []metadata.ID{at.Dataspace.ID}, States: paging.States(metadata.Active), After: l.next.id}) {
		if err != nil {
			return err
		}
		if !p.Limits.Permits(at.Dataspace.ID, set.ID, auth.Read) {
			continue
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

// UsedBytes returns the total size of the active files of a dataspace. known is false if the key of
// the caller reaches only one of its sets.
func (s *Drive) UsedBytes(ctx context.Context, p auth.Principal, dataspace metadata.ID) (bytes int64, known bool, err error) {
	if p.Limits.Set != (metadata.ID{}) {
		return 0, false, nil
	}
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
	return bytes, err == nil, err
}
