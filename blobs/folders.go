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

// folders is the state of the folders of first bytes. Each is created with its first file, since
// creating all 256 would make the first OpenDir slow.
type folders struct {
	changing sync.Mutex // locked while a folder is created, or the folder names are synced
	names    names      // the names of the folders
	within   [256]names // the names of files in each folder
	state    [256]atomic.Uint32
}

// names syncs the names in one directory. A failed sync is never repeated: it may succeed without
// the names, which the kernel has dropped, and another writer would take its file for durable. For
// the same reason syncs of one directory do not overlap.
type names struct {
	syncing sync.Mutex
	broken  error // error of a failed sync; guarded by syncing
}

func (n *names) sync(disk FS, directory string) error {
	n.syncing.Lock()
	defer n.syncing.Unlock()
	if n.broken != nil {
		return n.broken
	}
	err := disk.SyncDir(directory)
	if err != nil && !unopened(err) { // otherwise the sync was not tried
		n.broken = err
	}
	return err
}

// States of a folder. They only increase.
const (
	absent  uint32 = iota
	present        // a power failure may lose its name
	durable        // its name is on stable storage
)

// readFolders sets the state of the folders that exist.
func (d *Dir) readFolders() error {
	entries, err := os.ReadDir(d.blobs)
	if err != nil {
		return failed("open the store", err)
	}
	existing := make(map[string]fs.DirEntry, len(entries))
	for _, entry := range entries {
		existing[entry.Name()] = entry
	}
	for first := range 256 {
		path := d.folder(byte(first))
		entry, found := existing[filepath.Base(path)]
		if found && !entry.IsDir() {
			return fmt.Errorf("blobs: open the store: %s is not a directory", path)
		}
		if found {
			d.folders.state[first].Store(present)
		}
	}
	return nil
}

// makeFolder creates the folder of a first byte unless it exists.
func (d *Dir) makeFolder(first byte) error {
	state := &d.folders.state[first]
	if state.Load() != absent {
		return nil
	}
	d.folders.changing.Lock()
	defer d.folders.changing.Unlock()
	if state.Load() != absent {
		return nil // created meanwhile
	}
	if err := d.ensure(d.folder(first)); err != nil {
		return err
	}
	state.Store(present)
	return nil
}

// syncFolderName brings the name of a folder, and of all others, to stable storage, unless it is
// durable.
func (d *Dir) syncFolderName(first byte) error {
	if d.folders.state[first].Load() == durable {
		return nil
	}
	d.folders.changing.Lock()
	defer d.folders.changing.Unlock()
	if d.folders.state[first].Load() == durable {
		return nil // synced meanwhile, with another one
	}
	return d.syncFolders()
}

// syncFolders brings the names of the folders to stable storage. No folder is created meanwhile.
func (d *Dir) syncFolders() error {
	if err := d.folders.names.sync(d.fs, d.blobs); err != nil {
		return err
	}
	for i := range d.folders.state {
		d.folders.state[i].CompareAndSwap(present, durable)
	}
	return nil
}

// syncWithin brings the names in the folder of a first byte to stable storage.
func (d *Dir) syncWithin(first byte) error {
	return d.folders.within[first].sync(d.fs, d.folder(first))
}

// SyncNames brings the names of all blobs whose digests begin with a byte to stable storage. A
// caller uses it before it relies on a blob that another process has committed, since that process
// may have ended before its sync. The folder must exist. Errors: ErrUnsynced, ErrUnavailable.
func (d *Dir) SyncNames(first byte) error {
	if err := d.syncFolder(first); err != nil {
		return unsynced(fmt.Sprintf("sync the names in folder %02x", first), err)
	}
	return nil
}

// ensure creates the directory unless it exists.
func (d *Dir) ensure(path string) error {
	err := d.fs.Mkdir(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return failed("create the store's directories", err)
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
