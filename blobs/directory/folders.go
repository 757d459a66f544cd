package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"labshelf/blobs"
)

// folders is the state of the folders of first bytes. Each is created with its first file, since
// creating all 256 would make the first Open slow.
type folders struct {
	disk     FS
	root     string     // the directory blobs/
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

// folder returns the path of the folder of a first byte.
func (f *folders) folder(first byte) string {
	return filepath.Join(f.root, fmt.Sprintf("%02x", first))
}

// path returns the path of a blob.
func (f *folders) path(digest blobs.Digest) string {
	name := digest.String()
	return filepath.Join(f.root, name[:2], name)
}

// read sets the state of the folders that exist.
func (f *folders) read() error {
	entries, err := os.ReadDir(f.root)
	if err != nil {
		return failed("open the store", err)
	}
	existing := make(map[string]fs.DirEntry, len(entries))
	for _, entry := range entries {
		existing[entry.Name()] = entry
	}
	for first := range 256 {
		path := f.folder(byte(first))
		entry, found := existing[filepath.Base(path)]
		if found && !entry.IsDir() {
			return fmt.Errorf("blobs: open the store: %s is not a directory", path)
		}
		if found {
			f.state[first].Store(present)
		}
	}
	return nil
}

// make creates the folder of a first byte unless it exists.
func (f *folders) make(first byte) error {
	state := &f.state[first]
	if state.Load() != absent {
		return nil
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if state.Load() != absent {
		return nil // created in the meantime
	}
	if err := ensure(f.disk, f.folder(first)); err != nil {
		return err
	}
	state.Store(present)
	return nil
}

// syncName brings the name of a folder, and of all others, to stable storage, unless it is
// durable.
func (f *folders) syncName(first byte) error {
	if f.state[first].Load() == durable {
		return nil
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if f.state[first].Load() == durable {
		return nil // synced in the meantime, with another one
	}
	return f.syncNames()
}

// syncNames brings the names of the folders to stable storage. No folder is created in the
// meantime.
func (f *folders) syncNames() error {
	if err := f.names.sync(f.disk, f.root); err != nil {
		return err
	}
	for i := range f.state {
		f.state[i].CompareAndSwap(present, durable)
	}
	return nil
}

// syncWithin brings the names in the folder of a first byte to stable storage.
func (f *folders) syncWithin(first byte) error {
	return f.within[first].sync(f.disk, f.folder(first))
}

// sync brings the names in the folder of a first byte, and its own name, to stable storage.
func (f *folders) sync(first byte) error {
	if err := f.syncWithin(first); err != nil {
		return err
	}
	return f.syncName(first)
}

// ensure creates the directory unless it exists.
func ensure(disk FS, path string) error {
	err := disk.Mkdir(path)
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
