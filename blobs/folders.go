package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// folders knows which of the folders of first bytes there are. Each is made when the first file comes into it: all 256 at the
// first start were two thirds of that (0.15 ms each, and a megabyte for the journal).
type folders struct {
	changing sync.Mutex // held while one is made, or the names are synced
	names    names      // their own
	within   [256]names // of the files in them
	state    [256]atomic.Uint32
}

// names are those in one directory, on their way to stable storage. After a sync that failed there is no other one: it may succeed
// without the names, which the kernel has given up, and somebody else who has put a file there would take his for safe. So syncs of
// the same directory do not overlap either.
type names struct {
	syncing sync.Mutex
	broken  error // what a sync failed with, with syncing
}

func (n *names) sync(disk FS, directory string) error {
	n.syncing.Lock()
	defer n.syncing.Unlock()
	if n.broken != nil {
		return n.broken
	}
	err := disk.SyncDir(directory)
	if err != nil && !unopened(err) { // else nothing has been tried yet
		n.broken = err
	}
	return err
}

// States of a folder. No state is ever followed by one before it.
const (
	absent  uint32 = iota
	present        // its name may be lost in a power cut
	lasting        // its name is on stable storage
)

// findFolders notes the folders that are there.
func (d *Dir) findFolders() error {
	entries, err := os.ReadDir(d.blobs)
	if err != nil {
		return failed("open the store", err)
	}
	there := make(map[string]fs.DirEntry, len(entries))
	for _, entry := range entries {
		there[entry.Name()] = entry
	}
	for first := range 256 {
		path := d.folder(byte(first))
		entry, found := there[filepath.Base(path)]
		if found && !entry.IsDir() {
			return fmt.Errorf("blobs: open the store: %s is not a directory", path)
		}
		if found {
			d.folders.state[first].Store(present)
		}
	}
	return nil
}

// makeFolder makes the folder of a first byte unless it is there.
func (d *Dir) makeFolder(first byte) error {
	state := &d.folders.state[first]
	if state.Load() != absent {
		return nil
	}
	d.folders.changing.Lock()
	defer d.folders.changing.Unlock()
	if state.Load() != absent {
		return nil // made meanwhile
	}
	if err := d.ensure(d.folder(first)); err != nil {
		return err
	}
	state.Store(present)
	return nil
}

// keepFolder puts the name of a folder on stable storage unless it is there, and with it those of all others.
func (d *Dir) keepFolder(first byte) error {
	if d.folders.state[first].Load() == lasting {
		return nil
	}
	d.folders.changing.Lock()
	defer d.folders.changing.Unlock()
	if d.folders.state[first].Load() == lasting {
		return nil // synced meanwhile, with another one
	}
	return d.syncFolders()
}

// syncFolders puts the names of the folders on stable storage. None is made meanwhile.
func (d *Dir) syncFolders() error {
	if err := d.folders.names.sync(d.fs, d.blobs); err != nil {
		return err
	}
	for i := range d.folders.state {
		d.folders.state[i].CompareAndSwap(present, lasting)
	}
	return nil
}

// syncWithin puts the names in the folder of a first byte on stable storage.
func (d *Dir) syncWithin(first byte) error {
	return d.folders.within[first].sync(d.fs, d.folder(first))
}

// KeepNames puts the names of all blobs whose digests begin with a byte on stable storage. Who relies on a blob that somebody else
// has placed calls it, since that may have ended before it got to this. The folder must be there. Errors: ErrUnsynced, ErrUnavailable.
func (d *Dir) KeepNames(first byte) error {
	if err := d.syncFolder(first); err != nil {
		return unsynced(fmt.Sprintf("keep the names in folder %02x", first), err)
	}
	return nil
}

// ensure makes the directory unless it exists.
func (d *Dir) ensure(path string) error {
	err := d.fs.Mkdir(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return failed("make the store's directories", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return failed("open the store", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("blobs: open the store: %s is not a directory", path)
	}
	return nil
}
