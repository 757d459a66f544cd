package archive

import (
	"crypto/sha256"
	"strconv"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Paths assigns paths that differ on every system, regardless of case and of the composition of
// accents, and none of which is a folder of another. The first resource with a path gets it, so the
// names must be in the order of creation. It needs some 30 bytes for each file and folder. It is
// not safe for concurrent use.
type Paths struct {
	taken map[pathKey]bool // value: whether the path is a folder
	fold  cases.Caser
}

// pathKey is the digest of a path as the least exact system compares it. It has a fixed size, and
// collisions cannot be made on purpose.
type pathKey [16]byte

// NewPaths returns Paths in which the given paths are taken.
func NewPaths(taken ...string) *Paths {
	p := &Paths{taken: map[pathKey]bool{}, fold: cases.Fold()}
	for _, path := range taken {
		p.taken[p.place(path)] = false
	}
	return p
}

// Give returns a path for the resource with this id and name, and marks it as taken. If the name is
// taken, it inserts ` (ID)` before the extension; if a file has the name of a folder, into the name
// of the folder. Clean does not change the result.
func (p *Paths) Give(id, name string) string {
	rest := elements(name)
	if len(rest) == 0 {
		rest = []string{id}
	}
	path, last := "", rest[len(rest)-1]
	for _, folder := range rest[:len(rest)-1] {
		path = p.free(path, folder, id, true) + "/"
		p.taken[p.place(path[:len(path)-1])] = true
	}
	path = p.free(path, last, id, false)
	if len(path) > maxPath { // including the inserted ids
		path = p.free("", last, id, false)
	}
	p.taken[p.place(path)] = false
	return path
}

// free returns the first free form of an element's path in a folder. folder: the element is itself
// a folder.
func (p *Paths) free(above, element, id string, folder bool) string {
	path := above + element
	for n := 1; ; n++ {
		taken, known := p.taken[p.place(path)]
		if !known || folder && taken {
			return path
		}
		addition := " (" + id + ")"
		if n > 1 { // a name that imitates the insertion
			addition = " (" + id + " " + strconv.Itoa(n) + ")"
		}
		path = above + shorten(element, addition)
	}
}

func (p *Paths) place(path string) (at pathKey) {
	sum := sha256.Sum256([]byte(norm.NFD.String(p.fold.String(norm.NFD.String(path)))))
	copy(at[:], sum[:])
	return at
}
