package directory

import (
	"errors"
	"fmt"
	"os"
	"time"
)

var errReadOnly = errors.New("the store is open for reading only")

// OpenReadOnly opens the store below path, a directory, and never changes anything in it: all
// writes fail. A missing folder of the layout counts as empty. Another process may have the store
// open and write to it.
func OpenReadOnly(path string) (*Store, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, failed("open the store", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("blobs: open the store: %s is not a directory", path)
	}
	d := newStore(path, unwritable{})
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
