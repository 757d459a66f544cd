package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
)

// What get keeps in a folder for itself, beside files that are arriving.
const (
	namesFile   = ".labshelf-names.json" // a fileNames
	getLockFile = ".labshelf-get.lock"   // only while a set is got
)

// ofGet is what put leaves out because get keeps it for itself.
var ofGet = regexp.MustCompile(`^\.labshelf-(names\.json(\.new)?|get\.lock|[A-Za-z0-9_-]+-[0-9a-f]{64}\.part)$`)

// namesFormat is the version of a fileNames.
const namesFormat = 1

// fileNames says of which resources the files in a folder are, where their paths do not: where a name is no path that every system can
// write, or not the name of one resource alone.
type fileNames struct {
	Format int                  `json:"format"`
	About  string               `json:"about"`
	Files  map[string]namedFile `json:"files"` // by their path below the folder, with /
}

// namedFile is the resource of a file.
type namedFile struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

const aboutNames = "Written by labshelf get, for labshelf put: the names that these files have as resources."

// errNames says that the names of a folder cannot be used.
var errNames = errors.New("what get has written of the names in this folder cannot be used")

// readNames reads those of a folder; where there are none it has none. Errors: errNames, those of the file system.
func readNames(folder fs.FS) (map[string]namedFile, error) {
	text, err := fs.ReadFile(folder, namesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names fileNames
	if err := json.Unmarshal(text, &names); err != nil || names.Format != namesFormat {
		return nil, fmt.Errorf("%w: %s is damaged, or of another version of labshelf; get the set anew, or remove it", errNames, namesFile)
	}
	return names.Files, nil
}

// keepNames brings the names of a folder up to date with the files that are there now, and keeps those of others.
func keepNames(root *os.Root, now []one) error {
	before, err := readNames(root.FS())
	if err != nil && !errors.Is(err, errNames) {
		return err
	}
	names := maps.Clone(before)
	if names == nil {
		names = map[string]namedFile{}
	}
	for _, o := range now {
		delete(names, o.path)
		if o.renamed() || o.shared {
			names[o.path] = namedFile{o.name, o.id}
		}
	}
	switch {
	case err == nil && maps.Equal(before, names):
		return nil
	case len(names) == 0:
		return folder{root: root}.remove(namesFile)
	}
	text, err := json.MarshalIndent(fileNames{namesFormat, aboutNames, names}, "", " ")
	if err != nil {
		return err
	}
	return folder{root: root}.replace(namesFile, append(text, '\n'))
}

// markShared notes which files have a name that another one of the same set has, too.
func markShared(list []one) {
	count := map[string]int{}
	for _, o := range list {
		count[o.name]++
	}
	for i := range list {
		list[i].shared = count[list[i].name] > 1
	}
}

// distinct leaves out the files that would have the name of another one, unless the set has the resource that each of them is.
func (w *walk) distinct(held holdings) {
	first := map[string]bool{}
	w.files = slices.DeleteFunc(w.files, func(f local) bool {
		known := slices.ContainsFunc(held.of[f.name], func(h holding) bool { return f.id != "" && h.id == f.id })
		if known || !first[f.name] {
			first[f.name] = first[f.name] || !known
			return false
		}
		w.leave(f.path, failed, sameName(w.named[f.name]))
		return true
	})
}
