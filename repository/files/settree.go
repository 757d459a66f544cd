package files

import (
	"cmp"
	"errors"
	"iter"
	"sort"
	"strings"

	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// TreeFile is an active file of a set. It implements tree.File.
type TreeFile struct {
	*metadata.Resource
	id string
}

// Named implements tree.File.
func (f TreeFile) Named() (id, name string) { return f.id, f.Name }

func (f TreeFile) after(p tree.Position) bool {
	id, name := f.Named()
	return cmp.Or(strings.Compare(name, p.Name), strings.Compare(id, p.ID)) > 0
}

// Files are read in batches. The size doubles from one batch to the next, up to MostFiles.
const (
	leastFiles = 2
	MostFiles  = 256
)

// Tree is the tree of a set in one transaction that does not write to the set. It keeps the last
// files read, which often show without another search whether a folder exists next to a file.
type Tree struct {
	tx       *metadata.Tx
	set      metadata.ID
	Expected int    // number of files in the first batch; 0 for a few
	Spare    Window // memory to reuse for the first batch
	Window   Window
	made     struct { // explicitly created folders: none from from to before first
		known       bool
		from, first string // "" if no folder follows
	}
}

// TreeOf returns the tree of the active files of a set.
func TreeOf(tx *metadata.Tx, set metadata.ID) *Tree { return &Tree{tx: tx, set: set} }

// Window holds all files of a set after a position, up to the last of files. If ended is true, the
// set has no more files.
type Window struct {
	from  tree.Position
	files []TreeFile
	rows  []metadata.Resource // the rows of files
	ended bool
}

// behind returns the files in the window after a position. known is false if the window does not
// show which file comes first there.
func (w *Window) behind(p tree.Position) (files []TreeFile, known bool) {
	if cmp.Or(strings.Compare(p.Name, w.from.Name), strings.Compare(p.ID, w.from.ID)) < 0 {
		return nil, false
	}
	at := sort.Search(len(w.files), func(i int) bool { return w.files[i].after(p) })
	return w.files[at:], at < len(w.files) || w.ended
}

// Files implements tree.Set.
func (s *Tree) Files(prefix string, after tree.Position) iter.Seq2[TreeFile, error] {
	return func(yield func(TreeFile, error) bool) {
		at := after
		if at.Name < prefix {
			at = tree.Position{Name: prefix}
		}
		most := leastFiles
		if s.Window.files == nil && s.Expected > 0 {
			most = s.Expected
		}
		for ; ; most = min(2*most, MostFiles) {
			files, known := s.Window.behind(at)
			if !known {
				read, err := s.read(at, most)
				if err != nil {
					yield(TreeFile{}, err)
					return
				}
				if most > leastFiles || len(s.Window.files) < most {
					s.Window = read
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

// read reads the next files after a position.
func (s *Tree) read(after tree.Position, most int) (w Window, err error) {
	w.from = after
	from := paging.Position{Name: after.Name}
	if id, ok := metadata.ParseID(after.ID); ok {
		from.ID = id
	}
	if s.set == (metadata.ID{}) {
		return w, errors.New("the tree has no set")
	}
	w.files, w.rows = s.Spare.files[:0], s.Spare.rows[:0]
	if s.Spare = (Window{}); cap(w.rows) < most {
		w.files, w.rows = make([]TreeFile, 0, most), make([]metadata.Resource, 0, most)
	}
	for r, err := range s.tx.Resources.Range(metadata.ResourceRange{
		Set: s.set, States: paging.States(metadata.Active), Order: paging.ByName, After: from,
	}) {
		if err != nil {
			return w, err
		}
		w.rows = append(w.rows, r)
		if w.files = append(w.files, TreeFile{&w.rows[len(w.rows)-1], r.ID.String()}); len(w.files) == most {
			return w, nil
		}
	}
	w.ended = true
	return w, nil
}

// ByID implements tree.Set.
func (s *Tree) ByID(id string) (f TreeFile, found bool, err error) {
	r, err := core.ByID(s.tx.Resources.Get, id)
	if errors.Is(err, metadata.ErrNotFound) {
		return f, false, nil
	}
	return TreeFile{&r, id}, err == nil && r.SetID == s.set && r.State == metadata.Active, err
}

// Any implements tree.Set.
func (s *Tree) Any(folder string) (bool, error) {
	files, known := s.Window.behind(tree.Position{Name: folder})
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

// madeKnown reports whether the first explicitly created folder at or after a path is known.
func (s *Tree) madeKnown(from string) bool {
	return s.made.known && s.made.from <= from && (s.made.first == "" || from <= s.made.first)
}

// Folders implements tree.Set.
func (s *Tree) Folders(from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.madeKnown(from) {
			if from = s.made.first; from == "" {
				return
			}
		}
		first := true
		for row, err := range s.tx.Folders.From(metadata.FolderKey{SetID: s.set, Path: from}) {
			if err == nil && row.Path == "" {
				continue // properties of the set itself
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

func (s *Tree) noteMade(from, first string) {
	s.made.known, s.made.from, s.made.first = true, from, first
}
