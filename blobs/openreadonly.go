package blobs

import (
	"errors"
	"fmt"
	"os"
	"time"
)

var errReadOnly = errors.New("the store is open for reading only")

// OpenDirReadOnly opens the store below path, a directory, and never changes anything in it: all
// writes fail. A missing folder of the layout counts as empty. Another process may have the store
// open and write to it.
func OpenDirReadOnly(path string) (*Dir, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, failed("open the store", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("blobs: open the store: %s is not a directory", path)
	}
	d := newDir(path, unwritable{})
	d.readOnly = true
	return d, nil
}

// unwritable is the file system of a read-only store.
type unwritable struct{}

var _ FS = unwritable{}

func (unwritable) Create(string) (File, error)        { return nil, errReadOnly }
func (unwritable) Reopen(string, int64) (File, error) { return nil, errReadOnly }
func (unwritable) Mkdir(string) error                 { return errReadOnly }
func (unwritable) Touch(string, time.Time) error      { return errReadOnly }
func (unwritable) Link(string, string) error          { return errReadOnly }
func (unwritable) Rename(string, string) error        { return errReadOnly }
func (unwritable) Remove(string) error                { return errReadOnly }
func (unwritable) SyncDir(string) error               { return errReadOnly }
