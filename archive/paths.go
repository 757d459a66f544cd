package archive

import (
	"crypto/sha256"
	"strconv"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Paths gives out paths, no two of which mean the same file on any system: they differ also without regard to case and to how
// accents are composed, and none is a folder of another. Whoever asks for a path first has it, so that names are given in the
// order of creation. It remembers some 30 bytes for each file and each folder. It is not safe for concurrent use.
type Paths struct {
	taken map[place]bool // whether it is a folder
	fold  cases.Caser
}

// place is a path as the least exact of all systems sees it, as a digest: of fixed size, and nobody can make two paths clash.
type place [16]byte

// NewPaths begins with these paths taken.
func NewPaths(taken ...string) *Paths {
	p := &Paths{taken: map[place]bool{}, fold: cases.Fold()}
	for _, path := range taken {
		p.taken[p.place(path)] = false
	}
	return p
}

// Give returns the path for the resource with this id and name, and takes it. Where another one has the name, ` (ID)` comes
// before its extension; where a file has that of a folder, the folder gets it. What
// Give returns, Clean leaves as it is.
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

// free returns the path of an element in a folder, which is to be a folder itself or a file, in the first form that is free.
func (p *Paths) free(above, element, id string, folder bool) string {
	path := above + element
	for n := 1; ; n++ {
		taken, known := p.taken[p.place(path)]
		if !known || folder && taken {
			return path
		}
		addition := " (" + id + ")"
		if n > 1 { // there is a name that was made to look like ours
			addition = " (" + id + " " + strconv.Itoa(n) + ")"
		}
		path = above + shorten(element, addition)
	}
}

func (p *Paths) place(path string) (at place) {
	sum := sha256.Sum256([]byte(norm.NFD.String(p.fold.String(norm.NFD.String(path)))))
	copy(at[:], sum[:])
	return at
}
