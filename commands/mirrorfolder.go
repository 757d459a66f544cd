package commands

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
)

// folder is what a mirror is kept in. Nothing outside is ever touched: that is os.Root's promise. Errors are errDisk.
type folder struct {
	root *os.Root
	// before is asked before each change, nil: nobody is. It is the seam at which tests end a run, as a power cut would.
	before func() error
}

func (f folder) change(do func() error) error {
	if f.before != nil {
		if err := f.before(); err != nil {
			return err
		}
	}
	return disk(do())
}

func (f folder) rename(from, to string) error {
	return f.change(func() error { return f.root.Rename(from, to) })
}

// remove removes a file, or a folder that is empty. That there is none is no error.
func (f folder) remove(name string) error {
	return f.change(func() error {
		if err := f.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (f folder) mkdir(name string) error {
	return f.change(func() error { return f.root.MkdirAll(name, 0o777) })
}

// replace gives a file this content: after a crash it has the old one or the new one.
func (f folder) replace(name string, content []byte) error {
	aside := name + ".new"
	err := f.change(func() error {
		file, err := f.root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		return errors.Join(err, file.Sync(), file.Close())
	})
	if err == nil {
		err = f.rename(aside, name)
	}
	if err == nil {
		err = f.sync(".")
	}
	return err
}

// sync returns when the names in folders are on stable storage. One that is gone has none.
func (f folder) sync(names ...string) error {
	for _, name := range names {
		opened, err := f.root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return disk(err)
		}
		if err := errors.Join(syncFolder(opened), opened.Close()); err != nil {
			return disk(err)
		}
	}
	return nil
}

// has tells whether there is a file of this length.
func (f folder) has(name string, bytes int64) bool {
	info, err := f.root.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == bytes
}

// there tells whether there is anything of this name.
func (f folder) there(name string) bool {
	_, err := f.root.Lstat(name)
	return err == nil
}

// names lists what is in a folder; one that is not there has nothing.
func (f folder) names(name string) ([]string, error) {
	opened, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk(err)
	}
	list, err := opened.Readdirnames(-1)
	return list, disk(errors.Join(err, opened.Close()))
}

// tidy removes those of these folders that are empty. names has them with those above them.
func (f folder) tidy(names map[string]bool) error {
	inner := sortedKeys(names)
	slices.Reverse(inner) // a folder comes after the one that it is in
	for _, name := range inner {
		info, err := f.root.Lstat(name)
		if err != nil || !info.IsDir() || name == filesName {
			continue
		}
		err = f.change(func() error {
			_ = f.root.Remove(name) // unless there is something in it
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// above adds the folder of a file, and those above it, to names.
func above(names map[string]bool, file string) {
	for name := path.Dir(file); name != "." && !names[name]; name = path.Dir(name) {
		names[name] = true
	}
}

func sortedKeys(names map[string]bool) []string {
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
