package repository

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sort"
	"strings"

	"labshelf/auth"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
)

// treeFile is an active file of a set, as package tree wants it.
type treeFile struct {
	*metadata.Resource
	id string
}

// Named implements tree.File.
func (f treeFile) Named() (id, name string) { return f.id, f.Name }

func (f treeFile) after(p tree.Position) bool {
	id, name := f.Named()
	return cmp.Or(strings.Compare(name, p.Name), strings.Compare(id, p.ID)) > 0
}

// Files are read in batches, which grow while they follow each other.
const (
	leastFiles = 2
	mostFiles  = 256
)

// setTree is the tree of a set in one transaction, in which the set is not written. What it has
// read last answers whether there is a folder beside a file without another search.
type setTree struct {
	tx       *metadata.Tx
	set      metadata.ID
	expected int    // how many files are read at first; 0: a few
	spare    window // whose memory the first files take that are read
	window   window
	made     struct { // the folders that are there by themselves: none from from up to first
		known       bool
		from, first string // first "": there is none
	}
}

// treeOf returns the tree of the active files of a set.
func treeOf(tx *metadata.Tx, set metadata.ID) *setTree { return &setTree{tx: tx, set: set} }

// window is all files of a set behind a position and up to the last one; ended: and there are no
// more.
type window struct {
	from  tree.Position
	files []treeFile
	rows  []metadata.Resource // what the files are
	ended bool
}

// behind returns the files of the window behind a position. Not known: it does not tell which is
// the first one there.
func (w *window) behind(p tree.Position) (files []treeFile, known bool) {
	if cmp.Or(strings.Compare(p.Name, w.from.Name), strings.Compare(p.ID, w.from.ID)) < 0 {
		return nil, false
	}
	at := sort.Search(len(w.files), func(i int) bool { return w.files[i].after(p) })
	return w.files[at:], at < len(w.files) || w.ended
}

// Files implements tree.Set.
func (s *setTree) Files(prefix string, after tree.Position) iter.Seq2[treeFile, error] {
	return func(yield func(treeFile, error) bool) {
		at := after
		if at.Name < prefix {
			at = tree.Position{Name: prefix}
		}
		most := leastFiles
		if s.window.files == nil && s.expected > 0 {
			most = s.expected
		}
		for ; ; most = min(2*most, mostFiles) {
			files, known := s.window.behind(at)
			if !known {
				read, err := s.read(at, most)
				if err != nil {
					yield(treeFile{}, err)
					return
				}
				if most > leastFiles || len(s.window.files) < most {
					s.window = read
				}
				files = read.files
			}
			for _, f := range files {
				if !strings.HasPrefix(f.Name, prefix) || !yield(f, nil) {
					return
				}
			}
			if len(files) == 0 {
				return
			}
			at.ID, at.Name = files[len(files)-1].Named()
		}
	}
}

// read reads the next files behind a position.
func (s *setTree) read(after tree.Position, most int) (w window, err error) {
	w.from = after
	from := paging.Position{Name: after.Name}
	if id, ok := metadata.ParseID(after.ID); ok {
		from.ID = id
	}
	if s.set == (metadata.ID{}) {
		return w, errors.New("the tree of no set")
	}
	w.files, w.rows = s.spare.files[:0], s.spare.rows[:0]
	if s.spare = (window{}); cap(w.rows) < most {
		w.files, w.rows = make([]treeFile, 0, most), make([]metadata.Resource, 0, most)
	}
	for r, err := range s.tx.Resources.Range(metadata.ResourceRange{
		Set: s.set, States: paging.States(metadata.Active), Order: paging.ByName, After: from,
	}) {
		if err != nil {
			return w, err
		}
		w.rows = append(w.rows, r)
		if w.files = append(w.files, treeFile{&w.rows[len(w.rows)-1], r.ID.String()}); len(w.files) == most {
			return w, nil
		}
	}
	w.ended = true
	return w, nil
}

// ByID implements tree.Set.
func (s *setTree) ByID(id string) (f treeFile, found bool, err error) {
	r, err := byID(s.tx.Resources.Get, id)
	if errors.Is(err, metadata.ErrNotFound) {
		return f, false, nil
	}
	return treeFile{&r, id}, err == nil && r.SetID == s.set && r.State == metadata.Active, err
}

// Any implements tree.Set.
func (s *setTree) Any(folder string) (bool, error) {
	files, known := s.window.behind(tree.Position{Name: folder})
	if !known {
		for _, err := range s.Files(folder, tree.Position{}) {
			return err == nil, err
		}
	} else if len(files) > 0 && strings.HasPrefix(files[0].Name, folder) {
		return true, nil
	}
	if s.madeKnown(folder) {
		return strings.HasPrefix(s.made.first, folder), nil
	}
	for made, err := range s.Folders(folder) {
		return err == nil && strings.HasPrefix(made, folder), err
	}
	return false, nil
}

// madeKnown tells whether the first folder from a path on that is there by itself is known.
func (s *setTree) madeKnown(from string) bool {
	return s.made.known && s.made.from <= from && (s.made.first == "" || from <= s.made.first)
}

// Folders implements tree.Set.
func (s *setTree) Folders(from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.madeKnown(from) {
			if from = s.made.first; from == "" {
				return
			}
		}
		first := true
		for row, err := range s.tx.Folders.From(metadata.FolderKey{SetID: s.set, Path: from}) {
			if err == nil && row.Path == "" {
				continue // the properties of the set itself
			}
			if err == nil && first {
				s.noteMade(from, row.Path)
			}
			first = false
			if !yield(row.Path, err) || err != nil {
				return
			}
		}
		if first {
			s.noteMade(from, "")
		}
	}
}

func (s *setTree) noteMade(from, first string) {
	s.made.known, s.made.from, s.made.first = true, from, first
}

// MakeFolder makes a folder at a path of the drive whose parent exists: a row without a stamp, so
// that nobody who follows changes hears of it. Whether it can be made is asked before, too: clients
// make the folder of each file anew that they put, and a refusal does not wait for a commit.
func (s *Service) MakeFolder(ctx context.Context, p auth.Principal, path DrivePath) error {
	err := s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := makeable(tx, p, path)
		return err
	})
	if err != nil {
		return err
	}
	return s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := makeable(tx, p, path)
		if err != nil {
			return err
		}
		return putFolder(tx, p, metadata.FolderKey{SetID: at.Set.ID, Path: at.Name + "/"}, s.now())
	})
}

// makeable returns what is at a path where a folder can be made.
func makeable(tx *metadata.Tx, p auth.Principal, path DrivePath) (at DriveEntry, err error) {
	if at, err = locate(tx, p, path, auth.Write); err != nil {
		return at, err
	}
	_, element, _ := tree.Split(path.Path)
	if err = at.free(); err == nil && !tree.IsFolder(element) {
		err = invalid("path", "the last element of the path cannot be the name of a folder")
	}
	return at, err
}

func putFolder(tx *metadata.Tx, p auth.Principal, key metadata.FolderKey, now metadata.Stamp) error {
	if err := nameText.check("path", key.Path); err != nil {
		return err
	}
	return tx.Folders.Put(metadata.Folder{SetID: key.SetID, Path: key.Path, Created: now, CreatedBy: p.UserID})
}

// keepFolder makes a folder from which something has gone one that is there by itself, if nothing
// is left in it.
func keepFolder(tx *metadata.Tx, p auth.Principal, folder metadata.FolderKey, now metadata.Stamp) error {
	there, err := tree.Exists(treeOf(tx, folder.SetID), folder.Path)
	if err != nil || there {
		return err
	}
	return putFolder(tx, p, folder, now)
}

// maxProperties is how many bytes the properties that clients keep with one file or folder may
// have. A listing repeats them.
const maxProperties = 16 << 10

// ChangeProperties changes what clients keep with a file or a folder: change changes the
// Properties, and of a file the Attributes, of the entry. A row without a stamp is written, or
// removed where nothing is left.
func (s *Service) ChangeProperties(ctx context.Context, p auth.Principal, path DrivePath, change func(*DriveEntry) error) error {
	return s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := locate(tx, p, path, auth.Write)
		if err == nil {
			err = at.exists()
		}
		if err != nil {
			return err
		}
		after := at
		err = change(&after)
		switch {
		case err != nil, after.Properties == at.Properties && after.Attributes == at.Attributes:
			return err
		case len(after.Properties) > maxProperties && after.Properties != at.Properties:
			return invalid("", "the properties of a file may have up to %d bytes together", maxProperties)
		case at.File != nil:
			return keepProperties(tx, metadata.FileProperties{ResourceID: at.File.ID, Properties: after.Properties, Attributes: after.Attributes})
		}
		row, err := tx.Folders.Get(metadata.FolderKey{SetID: at.Set.ID, Path: at.Folder})
		if errors.Is(err, metadata.ErrNotFound) {
			row, err = metadata.Folder{SetID: at.Set.ID, Path: at.Folder, Created: s.now(), CreatedBy: p.UserID}, nil
		}
		if err != nil {
			return err
		}
		row.Properties = after.Properties
		return tx.Folders.Put(row)
	})
}
