package commands

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// apply brings the files to where the lines of changes say they are. It can be begun again wherever it was left: of all that moves,
// first everything leaves its place, and only when that is known to be so does something get a new one.
func (m *mirror) apply(changes []*change, say func(string)) error {
	j := &m.state.Metadata
	if !j.Left {
		left, err := m.leave(changes)
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

// leave takes every file from its place that does not stay there, and tells whether there was one.
func (m *mirror) leave(changes []*change) (any bool, err error) {
	folders := map[string]bool{}
	for _, c := range changes {
		if c.old == nil || c.old.path == "" || c.new != nil && c.new.path == c.old.path {
			continue
		}
		any = true
		above(folders, c.old.path)
		if c.new != nil && c.new.path != "" && c.new.digest == c.old.digest && !m.there(c.staged()) {
			err = m.rename(c.old.path, c.staged())
		} else {
			err = m.remove(c.old.path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return any, err
		}
	}
	if !any {
		return false, nil
	}
	if err := m.tidy(folders); err != nil {
		return any, err
	}
	return any, m.sync(append(sortedKeys(folders), incomingName)...)
}

// arrive gives every file its new place and time.
func (m *mirror) arrive(changes []*change, say func(string)) error {
	folders := map[string]bool{}
	for _, c := range changes {
		if c.new == nil || c.new.path == "" {
			continue
		}
		at := c.new.path
		if m.there(c.staged()) {
			at = c.staged()
		}
		err := m.change(func() error { return m.root.Chtimes(at, c.modified, c.modified) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // somebody removed it
			return err
		}
		if at == c.new.path {
			continue
		}
		if err := m.makeWay(c, say); err != nil {
			return err
		}
		above(folders, c.new.path)
		if err := m.rename(at, c.new.path); err != nil {
			return err
		}
	}
	return m.sync(sortedKeys(folders)...)
}

// makeWay makes the folder that a file goes into, and moves aside what is not of the mirror and has its place.
func (m *mirror) makeWay(c *change, say func(string)) error {
	folder := path.Dir(c.new.path)
	err := m.mkdir(folder)
	if errors.Is(err, errDisk) {
		elements := strings.Split(folder, "/")
		for i := range elements {
			if err := m.strayed(strings.Join(elements[:i+1], "/"), true, say); err != nil {
				return err
			}
		}
		err = m.mkdir(folder)
	}
	if err != nil {
		return err
	}
	info, err := m.root.Lstat(c.new.path)
	if err == nil && info.Mode().IsRegular() && c.old != nil && c.old.path == c.new.path {
		return nil // it is the one that is replaced
	}
	return m.strayed(c.new.path, false, say)
}

// strayed moves what is at a place to the strays. A folder may stay where one has to be.
func (m *mirror) strayed(name string, folder bool, say func(string)) error {
	info, err := m.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && folder && info.IsDir() {
		return nil
	}
	if err != nil {
		return disk(err)
	}
	to := straysName + "/" + time.Now().UTC().Format("20060102T150405.000000") + "/" + name
	if err := m.mkdir(path.Dir(to)); err != nil {
		return err
	}
	if err := m.rename(name, to); err != nil {
		return err
	}
	say(printable(name) + " was not of this mirror; it is " + printable(to) + " now")
	return nil
}
