package fetch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// Folder is a folder whose changes are durable. os.Root confines all changes to it. Errors are
// ErrDisk.
type Folder struct {
	Root *os.Root
	// Before is called before each change if it is not nil. Tests end a run there, as a power
	// failure would.
	Before func() error
}

// Change calls do, which changes the folder.
func (f Folder) Change(do func() error) error {
	if f.Before != nil {
		if err := f.Before(); err != nil {
			return err
		}
	}
	return DiskError(do())
}

// Rename renames a file or folder, and replaces an existing one.
func (f Folder) Rename(from, to string) error {
	return f.Change(func() error { return f.Root.Rename(from, to) })
}

// Remove removes a file or an empty folder, if it exists.
func (f Folder) Remove(name string) error {
	return f.Change(func() error {
		if err := f.Root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Mkdir creates a folder and its missing parents.
func (f Folder) Mkdir(name string) error {
	return f.Change(func() error { return f.Root.MkdirAll(name, 0o777) })
}

// Replace replaces the content of a file atomically and durably: after a crash it has the old
// content or the new one.
func (f Folder) Replace(name string, content []byte) error {
	aside := name + ".new"
	err := f.Change(func() error {
		file, err := f.Root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		return errors.Join(err, file.Sync(), file.Close())
	})
	if err == nil {
		err = f.Rename(aside, name)
	}
	if err == nil {
		err = f.Sync(".")
	}
	return err
}

// Sync returns when the entries of folders are on stable storage. It ignores missing folders.
func (f Folder) Sync(names ...string) error {
	for _, name := range names {
		opened, err := f.Root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return DiskError(err)
		}
		if err := errors.Join(syncFolder(opened), opened.Close()); err != nil {
			return DiskError(err)
		}
	}
	return nil
}

// HasFile reports whether a regular file of this length exists.
func (f Folder) HasFile(name string, bytes int64) bool {
	info, err := f.Root.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == bytes
}

// Exists reports whether the name is taken.
func (f Folder) Exists(name string) bool {
	_, err := f.Root.Lstat(name)
	return err == nil
}

// Names lists the entries of a folder; a missing folder has no entries.
func (f Folder) Names(name string) ([]string, error) {
	opened, err := f.Root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, DiskError(err)
	}
	list, err := opened.Readdirnames(-1)
	return list, DiskError(errors.Join(err, opened.Close()))
}

// RemoveEmpty removes the empty ones of these folders, except keep. names must also contain their
// parents.
func (f Folder) RemoveEmpty(names map[string]bool, keep string) error {
	inner := slices.Sorted(maps.Keys(names))
	slices.Reverse(inner) // a folder before its parent
	for _, name := range inner {
		info, err := f.Root.Lstat(name)
		if err != nil || !info.IsDir() || name == keep {
			continue
		}
		err = f.Change(func() error {
			_ = f.Root.Remove(name) // fails if the folder is not empty
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AddParents adds the folder of a file and all its parents to names.
func AddParents(names map[string]bool, file string) {
	for name := path.Dir(file); name != "." && !names[name]; name = path.Dir(name) {
		names[name] = true
	}
}
