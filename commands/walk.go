package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// local is one file on this machine that is to become a resource.
type local struct {
	path           string // for people, and to open it
	copy           string // to open it, if that is another one
	name, filename string // of the resource
	id             string // of the resource that get has made the file of, or ""
	size           int64  // bytes, when it was found
}

// litter are files that systems leave in folders for themselves.
var litter = []string{".DS_Store", "Thumbs.db", "desktop.ini"}

// walk finds the files to put. What cannot be one goes to leave, and does not end it.
type walk struct {
	under   string   // what stands in front of every name: "", or a folder and "/"
	name    string   // of the only file, if it is another one than its own
	exclude []string // patterns of path.Match
	leave   func(path string, outcome outcome, why error)

	files []local
	named map[string]string    // the path of the first file that has a name
	names map[string]namedFile // of the folder that is read
}

// arguments adds the files that args name, and those in the folders that they name. A link that is named is followed.
func (w *walk) arguments(ctx context.Context, args []string) error {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			w.leave(arg, failed, unreadable(err))
		case info.IsDir():
			err = w.folder(ctx, arg)
		case !info.Mode().IsRegular():
			w.leave(arg, failed, fmt.Errorf("it is %s; give - to put what comes on standard input", kindOf(info.Mode())))
		default:
			err = w.single(arg, info.Size())
		}
		if ctx.Err() != nil || errors.Is(err, errNames) {
			return err
		}
	}
	return nil
}

// single adds a file that is an argument.
func (w *walk) single(arg string, size int64) (err error) {
	w.names = nil
	if w.name == "" {
		if w.names, err = readNames(os.DirFS(filepath.Dir(arg))); err != nil && errors.Is(err, errNames) {
			return fmt.Errorf("%s: %w", filepath.Dir(arg), err)
		}
	}
	w.file(arg, filepath.Base(arg), size)
	return nil
}

// folder adds what is below a folder, in the order of names.
func (w *walk) folder(ctx context.Context, root string) (err error) {
	if w.names, err = readNames(os.DirFS(root)); errors.Is(err, errNames) {
		return fmt.Errorf("%s: %w", root, err)
	}
	return fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		where := filepath.Join(root, filepath.FromSlash(name))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.leave(where, failed, unreadable(err))
			return nil
		case name == ".":
			return nil
		case !utf8.ValidString(name):
			w.leave(where, failed, errors.New("its name is not UTF-8; rename it"))
			return without(d)
		case w.excludes(name) || !d.IsDir() && (slices.Contains(litter, d.Name()) || ofGet.MatchString(d.Name())):
			return without(d)
		case !d.IsDir():
			w.entry(where, name, d)
		}
		return nil
	})
}

// without goes on without a file, or all that is in a folder.
func without(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// entry adds what was found in a folder, and is none.
func (w *walk) entry(where, name string, d fs.DirEntry) {
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // it went while the folder was read
	case err != nil:
		w.leave(where, failed, unreadable(err))
	case !info.Mode().IsRegular():
		w.leave(where, leftOut, notAFile(info.Mode()))
	default:
		w.file(where, name, info.Size())
	}
}

// file adds a file.
func (w *walk) file(where, name string, size int64) {
	got := w.names[name]
	w.add(local{path: where, name: w.under + cmp.Or(w.name, got.Name, name), filename: filepath.Base(where), id: got.ID, size: size})
}

// add adds a file, unless another one has its name.
func (w *walk) add(f local) {
	other, taken := w.named[f.name]
	if taken && f.id == "" {
		w.leave(f.path, failed, sameName(other))
		return
	}
	if !taken {
		w.named[f.name] = f.path
	}
	w.files = append(w.files, f)
}

func sameName(other string) error {
	return fmt.Errorf("%s would have the same name; put them one after the other, each with its own --under", printable(other))
}

// excludes tells whether a pattern fits the path within the folder, or, without a "/" in it, the last part of the path.
func (w *walk) excludes(name string) bool {
	return slices.ContainsFunc(w.exclude, func(pattern string) bool {
		pattern = strings.TrimSuffix(pattern, "/")
		text := name
		if !strings.Contains(pattern, "/") {
			text = path.Base(name)
		}
		fits, _ := path.Match(pattern, text) // the pattern has been tried
		return fits
	})
}

// notAFile is why an entry of a folder is left out: what it is.
type notAFile fs.FileMode

func (m notAFile) Error() string { return "left out, since it is " + kindOf(fs.FileMode(m)) }

// otherKinds are the kinds of entries that are no files, in the order of reports.
var otherKinds = []struct {
	mode                     fs.FileMode
	kind, one, several, word string // in sentences, in sums, and in the word of --json
}{
	{fs.ModeSymlink, "a symbolic link", "symbolic link", "symbolic links", "symlink"},
	{fs.ModeNamedPipe, "a pipe", "pipe", "pipes", "pipe"},
	{fs.ModeSocket, "a socket", "socket", "sockets", "socket"},
	{fs.ModeDevice, "a device", "device", "devices", "device"},
	{fs.ModeIrregular, "no regular file", "other entry", "other entries", "other"},
}

// kindIndex is the place of a mode in otherKinds.
func kindIndex(mode fs.FileMode) int {
	for i, k := range otherKinds {
		if mode&k.mode != 0 {
			return i
		}
	}
	return len(otherKinds) - 1
}

// kindOf says what is no file.
func kindOf(mode fs.FileMode) string { return otherKinds[kindIndex(mode)].kind }

// unreadable is an error of the file system without the path, which stands in front of it.
func unreadable(err error) error {
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}
