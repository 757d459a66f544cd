package archive

import (
	"crypto/sha256"
	"strconv"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Paths gives out paths that differ on every system, without regard to case and to the composition
// of accents; and none is a folder of another. The first one that asks for a path gets it, so names
// have to come in the order of creation. It needs some 30 bytes for each file and each folder. It
// is not safe for concurrent use.
type Paths struct {
	taken map[pathKey]bool // whether it is a folder
	fold  cases.Caser
}

// pathKey is a path as the least exact of all systems compares it, as a digest: of fixed size, and
// collisions cannot be made on purpose.
type pathKey [16]byte

// NewPaths returns Paths in which these are taken.
func NewPaths(taken ...string) *Paths {
	p := &Paths{taken: map[pathKey]bool{}, fold: cases.Fold()}
	for _, path := range taken {
		p.taken[p.place(path)] = false
	}
	return p
}

// Give returns a path for the resource with this id and name, and takes it. Where the name is
// taken, ` (ID)` is inserted before its extension; where a file has the name of a folder, into that
// of the folder. Clean does not change what Give returns.
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
	if len(path) > maxPath { // with what was added
		path = p.free("", last, id, false)
	}
	p.taken[p.place(path)] = false
	return path
}

// free returns the first free form of the path of an element in a folder; folder: the element is a
// folder, too.
func (p *Paths) free(above, element, id string, folder bool) string {
	path := above + element
	for n := 1; ; n++ {
		taken, known := p.taken[p.place(path)]
		if !known || folder && taken {
			return path
		}
		addition := " (" + id + ")"
		if n > 1 { // a name that imitates the addition
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
