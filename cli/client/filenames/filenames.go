// Package filenames stores the names of resources whose local files have other names. get writes
// them, put reads them.
package filenames

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"sync"

	"labshelf/cli/client/fetch"
)

// The files that get writes in a folder in addition to the set's files.
const (
	Name     = ".labshelf-names.json" // a document
	LockName = ".labshelf-get.lock"   // exists while a set is downloaded
)

// Reserved reports whether a name belongs to a file of get itself, which put skips.
func Reserved(name string) bool { return reserved().MatchString(name) }

var reserved = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.labshelf-(names\.json(\.new)?|get\.lock|[A-Za-z0-9_-]+-[0-9a-f]{64}\.part)$`)
})

// format is the version of a document.
const format = 1

// document maps files to resources whose names differ from the paths: the name is not a portable
// path, or several resources have it.
type document struct {
	Format int                 `json:"format"`
	About  string              `json:"about"`
	Files  map[string]Resource `json:"files"` // by path below the folder, with /
}

// Resource is the resource of a file.
type Resource struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

const about = "Written by labshelf get, for labshelf put: the names of these files as resources."

// ErrDamaged means that the document of a folder is invalid.
var ErrDamaged = errors.New("the names that get has stored for this folder cannot be used")

// Read returns the resources by path, or nil if the folder has no document. Errors: ErrDamaged,
// errors of the file system.
func Read(folder fs.FS) (map[string]Resource, error) {
	text, err := fs.ReadFile(folder, Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names document
	if err := json.Unmarshal(text, &names); err != nil || names.Format != format {
		return nil, fmt.Errorf("%w: %s is damaged, or was written by another version of labshelf; get the set again, or remove the file", ErrDamaged, Name)
	}
	return names.Files, nil
}

// Update sets the resources of the files at paths to the ones in now, and removes those of paths
// that now lacks. Other files keep theirs. Errors: errors of the file system.
func Update(root *os.Root, paths []string, now map[string]Resource) error {
	before, err := Read(root.FS())
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	names := maps.Clone(before)
	if names == nil {
		names = map[string]Resource{}
	}
	for _, path := range paths {
		delete(names, path)
	}
	maps.Copy(names, now)
	switch {
	case err == nil && maps.Equal(before, names):
		return nil
	case len(names) == 0:
		return fetch.Folder{Root: root}.Remove(Name)
	}
	text, err := json.MarshalIndent(document{format, about, names}, "", " ")
	if err != nil {
		return err
	}
	return fetch.Folder{Root: root}.Replace(Name, append(text, '\n'))
}
