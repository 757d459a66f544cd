package put

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

	"labshelf/cli/client/filenames"
	"labshelf/cli/client/report"
	"labshelf/cli/display"
)

// localFile is a local file to upload.
type localFile struct {
	path           string // as displayed
	copy           string // file that is read instead of path, or ""
	name, filename string // of the resource
	id             string // of the resource from which get wrote the file, or ""
	size           int64  // in bytes, when walk found it
}

// systemFiles are files that operating systems leave in folders.
var systemFiles = []string{".DS_Store", "Thumbs.db", "desktop.ini"}

// walk finds the files to upload. It passes other entries to skip, and continues.
type walk struct {
	under   string   // prefix of every name: "", or a folder and "/"
	name    string   // of the only file, or "" for its own
	exclude []string // patterns of path.Match
	skip    func(path string, outcome report.Outcome, why error)

	files []localFile
	named map[string]string             // path of the first file with each name
	names map[string]filenames.Resource // names in the current folder, as get wrote them
}

// arguments adds the files in args, and all files below the folders in args. It follows a link that
// is an argument.
func (w *walk) arguments(ctx context.Context, args []string) error {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			w.skip(arg, report.Failed, unreadable(err))
		case info.IsDir():
			err = w.folder(ctx, arg)
		case !info.Mode().IsRegular():
			w.skip(arg, report.Failed, fmt.Errorf("it is %s; use - to put standard input", report.KindOf(info.Mode())))
		default:
			err = w.single(arg, info.Size())
		}
		if ctx.Err() != nil || errors.Is(err, filenames.ErrDamaged) {
			return err
		}
	}
	return nil
}

// single adds a file that is an argument.
func (w *walk) single(arg string, size int64) (err error) {
	w.names = nil
	if w.name == "" {
		if w.names, err = filenames.Read(os.DirFS(filepath.Dir(arg))); err != nil && errors.Is(err, filenames.ErrDamaged) {
			return fmt.Errorf("%s: %w", filepath.Dir(arg), err)
		}
	}
	w.file(arg, filepath.Base(arg), size)
	return nil
}

// folder adds the files below a folder, in the order of their names.
func (w *walk) folder(ctx context.Context, root string) (err error) {
	if w.names, err = filenames.Read(os.DirFS(root)); errors.Is(err, filenames.ErrDamaged) {
		return fmt.Errorf("%s: %w", root, err)
	}
	return fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		where := filepath.Join(root, filepath.FromSlash(name))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.skip(where, report.Failed, unreadable(err))
			return nil
		case name == ".":
			return nil
		case !utf8.ValidString(name):
			w.skip(where, report.Failed, errors.New("its name is not UTF-8; rename it"))
			return without(d)
		case w.excludes(name) || !d.IsDir() && (slices.Contains(systemFiles, d.Name()) || filenames.Reserved(d.Name())):
			return without(d)
		case !d.IsDir():
			w.entry(where, name, d)
		}
		return nil
	})
}

// without skips a file, or a folder with its content.
func without(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// entry adds an entry of a folder if it is a regular file.
func (w *walk) entry(where, name string, d fs.DirEntry) {
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed in the meantime
	case err != nil:
		w.skip(where, report.Failed, unreadable(err))
	case !info.Mode().IsRegular():
		w.skip(where, report.Skipped, report.NotAFile(info.Mode()))
	default:
		w.file(where, name, info.Size())
	}
}

// file adds a file.
func (w *walk) file(where, name string, size int64) {
	got := w.names[name]
	w.add(localFile{path: where, name: w.under + cmp.Or(w.name, got.Name, name), filename: filepath.Base(where), id: got.ID, size: size})
}

// add adds a file, unless another file has its name.
func (w *walk) add(f localFile) {
	other, taken := w.named[f.name]
	if taken && f.id == "" {
		w.skip(f.path, report.Failed, sameName(other))
		return
	}
	if !taken {
		w.named[f.name] = f.path
	}
	w.files = append(w.files, f)
}

func sameName(other string) error {
	return fmt.Errorf("%s would have the same name; put them one after the other, each with its own --under", display.Printable(other))
}

// excludes reports whether a pattern matches the path within the folder or, if the pattern has no
// "/", the last element of the path.
func (w *walk) excludes(name string) bool {
	return slices.ContainsFunc(w.exclude, func(pattern string) bool {
		pattern = strings.TrimSuffix(pattern, "/")
		text := name
		if !strings.Contains(pattern, "/") {
			text = path.Base(name)
		}
		fits, _ := path.Match(pattern, text) // check has validated the pattern
		return fits
	})
}

// unreadable removes the path from an error of the file system: the output already has it.
func unreadable(err error) error {
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// distinct removes files whose names occur several times, unless each is a resource of the set.
func (w *walk) distinct(held existingFiles) {
	first := map[string]bool{}
	w.files = slices.DeleteFunc(w.files, func(f localFile) bool {
		known := slices.ContainsFunc(held.of[f.name], func(h existing) bool { return f.id != "" && h.id == f.id })
		if known || !first[f.name] {
			first[f.name] = first[f.name] || !known
			return false
		}
		w.skip(f.path, report.Failed, sameName(w.named[f.name]))
		return true
	})
}
