package tree

import (
	"iter"
	"strings"
)

// File is a file of a set. The text of an id has 26 characters; a newer file has a greater id.
type File interface{ Named() (id, name string) }

// Position is a file, in order of name, then id. Without an id it is the place before all files
// with that name. The zero Position is the place before all files.
type Position struct{ Name, ID string }

// Set is the content of one set within one transaction.
type Set[F File] interface {
	// Files yields the files whose names begin with a prefix, after a position, ascending by name,
	// then id. A sequence yields an error at most once, as its last element.
	Files(prefix string, after Position) iter.Seq2[F, error]
	// ByID finds a file of this set.
	ByID(id string) (file F, found bool, err error)
	// Any reports whether a name, or the path of a created folder, begins with the path of a
	// folder.
	Any(folder string) (bool, error)
	// Folders yields the paths of created folders that equal or follow a path, ascending. Each ends
	// in a slash.
	Folders(from string) iter.Seq2[string, error]
}

// Node is a file, or a folder.
type Node[F File] struct {
	Element string // the last element of the path; "" is the set itself
	Folder  string // the path of a folder, "" or ending in a slash
	File    *F     // nil for a folder
	after   Position
}

// Next returns the position at which a listing of children continues after this one.
func (n Node[F]) Next() Position { return n.after }

// Exists reports whether a folder exists; its path is "" or ends in a slash.
func Exists[F File](s Set[F], folder string) (bool, error) {
	if folder == "" {
		return true, nil
	}
	return s.Any(folder)
}

// Lookup resolves a path without a slash at its ends; "" is the set itself. found is false if no
// file or folder has the path.
func Lookup[F File](s Set[F], path string) (n Node[F], found bool, err error) {
	if path == "" {
		return n, true, nil
	}
	folder, element, plain := Split(path)
	if !plain {
		return n, false, nil // no path contains such an element
	}
	n.Element = element
	found, file, err := withID(s, folder, element)
	if err != nil || found {
		n.File = &file
		return n, found, err
	}
	if IsFolder(element) {
		if found, err = Exists(s, folder+element+"/"); err != nil || found {
			n.Folder = folder + element + "/"
			return n, found, err
		}
	}
	name := folder + element
	for first, err := range s.Files(name, Position{Name: name}) {
		if err != nil {
			return n, false, err
		}
		if _, called := first.Named(); called == name {
			n.File, found = &first, true
		}
		break
	}
	return n, found, nil
}

// Children yields the children of a folder after a position, sorted by name: its files, and its
// folders with a slash at the end. It reads only the children, one file for each folder, and
// nothing below them.
func Children[F File](s Set[F], folder string, after Position) iter.Seq2[Node[F], error] {
	return func(yield func(Node[F], error) bool) {
		c := children[F]{set: s, folder: folder, after: after}
		defer c.close()
		for {
			node, more, err := c.next()
			if err != nil {
				yield(node, err)
				return
			}
			if !more || !yield(node, nil) {
				return
			}
		}
	}
}

// children is a running listing. pull is nil if the listing must seek again, after a folder.
type children[F File] struct {
	set    Set[F]
	folder string
	after  Position
	pull   func() (F, error, bool)
	stop   func()
	file   *F     // the next file; nil: not read yet
	made   string // the next created folder; "": not read yet
	ended  struct{ files, made bool }
}

// next returns the next child.
func (c *children[F]) next() (n Node[F], more bool, err error) {
	if err = c.read(); err != nil || c.ended.files && c.ended.made {
		return n, false, err
	}
	name := ""
	if !c.ended.files {
		_, name = (*c.file).Named()
	}
	if c.ended.files || !c.ended.made && c.made <= name {
		return c.enter(c.made), true, nil
	}
	in, rest, plain := Split(name)
	if len(in) > len(c.folder) {
		return c.enter(in), true, nil
	}
	n.File = c.file
	id, _ := (*c.file).Named()
	n.Element, err = shown(c.set, c.folder, rest, id, plain && (c.after.Name != name || c.after.ID == ""))
	c.after = Position{name, id}
	n.after, c.file = c.after, nil
	return n, err == nil, err
}

// enter returns the child folder that contains below, and continues after its content.
func (c *children[F]) enter(below string) Node[F] {
	element, _, _ := strings.Cut(below[len(c.folder):], "/")
	folder := c.folder + element + "/"
	c.close()
	c.after = Position{Name: folder[:len(folder)-1] + "0"} // the character after the slash
	c.file, c.made = nil, ""
	return Node[F]{Element: element, Folder: folder, after: c.after}
}

// read reads the next file and the next created folder, unless they are known.
func (c *children[F]) read() error {
	if c.file == nil && !c.ended.files {
		if c.pull == nil {
			c.pull, c.stop = iter.Pull2(c.set.Files(c.folder, c.after))
		}
		file, err, ok := c.pull()
		if err != nil {
			return err
		}
		c.file, c.ended.files = &file, !ok
	}
	if c.made == "" && !c.ended.made {
		return c.readMade()
	}
	return nil
}

// readMade reads the next created folder, below this folder and after the position.
func (c *children[F]) readMade() error {
	from := max(c.folder, c.after.Name)
	for made, err := range c.set.Folders(from) {
		if err != nil {
			return err
		}
		if made == c.folder {
			continue
		}
		if strings.HasPrefix(made, c.folder) {
			c.made = made
		}
		break
	}
	c.ended.made = c.made == ""
	return nil
}

func (c *children[F]) close() {
	if c.stop != nil {
		c.stop()
	}
	c.pull, c.stop = nil, nil
}
