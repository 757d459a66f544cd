package mirror

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"labshelf/cli/client/fetch"
	"labshelf/cli/display"
)

// apply moves the files to the paths in the lines of changes. It is idempotent, so that the next
// run can repeat it after a crash: first all files leave their old paths, and only when that is on
// stable storage do they get the new ones.
func (m *mirror) apply(changes []*change, say func(string)) error {
	j := &m.state.Metadata
	if !j.Left {
		left, err := m.vacate(changes)
		if err != nil {
			return err
		}
		if left {
			j.Left = true
			if err := m.writeState(); err != nil {
				return err
			}
		}
	}
	if err := m.arrive(changes, say); err != nil {
		return err
	}
	j.Done, j.Left = j.Bytes, false
	return nil
}

// vacate moves every changed or removed file away from its old path, and reports whether there was
// one.
func (m *mirror) vacate(changes []*change) (any bool, err error) {
	folders := map[string]bool{}
	for _, c := range changes {
		if c.old == nil || c.old.path == "" || c.new != nil && c.new.path == c.old.path {
			continue
		}
		any = true
		fetch.AddParents(folders, c.old.path)
		if c.new != nil && c.new.path != "" && c.new.digest == c.old.digest && !m.Exists(c.staged()) {
			err = m.Rename(c.old.path, c.staged())
		} else {
			err = m.Remove(c.old.path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return any, err
		}
	}
	if !any {
		return false, nil
	}
	if err := m.RemoveEmpty(folders, filesName); err != nil {
		return any, err
	}
	return any, m.Sync(append(slices.Sorted(maps.Keys(folders)), incomingName)...)
}

// arrive gives every file its new path and its modification time.
func (m *mirror) arrive(changes []*change, say func(string)) error {
	folders := map[string]bool{}
	for _, c := range changes {
		if c.new == nil || c.new.path == "" {
			continue
		}
		at := c.new.path
		if m.Exists(c.staged()) {
			at = c.staged()
		}
		err := m.Change(func() error { return m.Root.Chtimes(at, c.modified, c.modified) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // somebody removed it manually
			return err
		}
		if at == c.new.path {
			continue
		}
		if err := m.clearPath(c, say); err != nil {
			return err
		}
		fetch.AddParents(folders, c.new.path)
		if err := m.Rename(at, c.new.path); err != nil {
			return err
		}
	}
	return m.Sync(slices.Sorted(maps.Keys(folders))...)
}

// clearPath creates the folder for a file. It moves foreign files at that path to the strays.
func (m *mirror) clearPath(c *change, say func(string)) error {
	folder := path.Dir(c.new.path)
	err := m.Mkdir(folder)
	if errors.Is(err, fetch.ErrDisk) {
		elements := strings.Split(folder, "/")
		for i := range elements {
			if err := m.moveStray(strings.Join(elements[:i+1], "/"), true, say); err != nil {
				return err
			}
		}
		err = m.Mkdir(folder)
	}
	if err != nil {
		return err
	}
	info, err := m.Root.Lstat(c.new.path)
	if err == nil && info.Mode().IsRegular() && c.old != nil && c.old.path == c.new.path {
		return nil // the file that is replaced
	}
	return m.moveStray(c.new.path, false, say)
}

// moveStray moves a foreign entry with this name to the strays. If folder is set, a folder stays.
func (m *mirror) moveStray(name string, folder bool, say func(string)) error {
	info, err := m.Root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && folder && info.IsDir() {
		return nil
	}
	if err != nil {
		return fetch.DiskError(err)
	}
	to := straysName + "/" + time.Now().UTC().Format("20060102T150405.000000") + "/" + name
	if err := m.Mkdir(path.Dir(to)); err != nil {
		return err
	}
	if err := m.Rename(name, to); err != nil {
		return err
	}
	say(display.Printable(name) + " did not belong to this mirror; it is " + display.Printable(to) + " now")
	return nil
}
