package backup_test

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"syscall"
	"testing"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

// someFiles are bodies in several folders.
var someFiles = []string{"one", "two", "three", "four", "five", "six"}

// foldersOf returns the folders of resources below a data directory or a backup, each to be synced
// once.
func foldersOf(dir string, made []metadata.Resource) map[string]int {
	folders := map[string]int{}
	for _, r := range made {
		folders[filepath.Dir(path(dir, r))] = 1
	}
	return folders
}

// synced counts the syncs of each folder of blobs.
func synced(dir string, calls []blobstest.Call) map[string]int {
	folders := map[string]int{}
	for _, call := range calls {
		if call.Op == blobstest.SyncDir && filepath.Dir(call.Path) == filepath.Join(dir, "blobs") {
			folders[call.Path]++
		}
	}
	return folders
}

// badSync is a fault at the first sync of a folder of blobs. Before that, opening the store syncs
// two other folders.
var badSync = blobstest.Fault{Op: blobstest.SyncDir, N: 3, Err: &fs.PathError{Op: "sync", Path: "x", Err: syscall.EIO}}

// TestFoundFilesAreSynced: an earlier process may have been killed between renaming a file and
// syncing its folder. The next manifest is written after a sync of that folder.
func TestFoundFilesAreSynced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload(someFiles...)
	dest := t.TempDir()
	older := w.backUp(dest)
	w.purge(w.upload("seven")[0]) // so that the next manifest differs
	disk := blobstest.NewFaultFS(directory.OS{})
	create := func() (backup.Created, error) {
		source, err := openLocal(w.dir)
		check(t, err)
		defer func() { check(t, source.Close()) }()
		return backup.CreateOn(t.Context(), source, dest, backup.CreateOptions{}, disk)
	}
	disk.Arm(badSync)
	_, err := create()
	wantError(t, err, blobs.ErrUnsynced, "sync the names in folder")
	if got := filepath.Base(metaOf(t, dest)); got != older.Manifest.Database.File {
		t.Errorf("the metadata are in %s", got)
	}
	mustRestore(t, dest)
	disk.Arm()
	again, err := create()
	check(t, err)
	if want, got := foldersOf(dest, made), synced(dest, disk.Calls()); again.Copied.Count != 0 || !maps.Equal(want, got) {
		t.Errorf("copied %+v; synced %v, want %v", again.Copied, got, want)
	}
}

// TestRepairKeepsFoundFiles: the same applies to a file that an earlier repair restored, before the
// row of its damage is removed.
func TestRepairKeepsFoundFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.upload(someFiles...)
	dest := t.TempDir()
	w.backUp(dest)
	meta, err := bolt.Open(w.metadata(), bolt.Options{})
	check(t, err)
	check(t, meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Damages.Put(metadata.Damage{Digest: made[0].Digest, Found: tx.Stamp(), What: "its file is missing"})
	}))
	check(t, meta.Close())
	noted := func() bool {
		meta, err := bolt.Open(w.metadata(), bolt.Options{ReadOnly: true})
		check(t, err)
		err = meta.View(t.Context(), func(tx *metadata.Tx) error {
			_, err := tx.Damages.Get(made[0].Digest)
			return err
		})
		check(t, meta.Close())
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	disk := blobstest.NewFaultFS(directory.OS{})
	disk.Arm(badSync)
	_, err = backup.RepairOn(t.Context(), w.dir, dest, backup.RepairEvents{}, disk)
	wantError(t, err, blobs.ErrUnsynced, "sync the names in folder")
	if !noted() {
		t.Error("the damage was forgotten too early")
	}
	disk.Arm()
	_, err = backup.RepairOn(t.Context(), w.dir, dest, backup.RepairEvents{}, disk)
	check(t, err)
	if want, got := foldersOf(w.dir, made), synced(w.dir, disk.Calls()); noted() || !maps.Equal(want, got) {
		t.Errorf("noted: %v; synced %v, want %v", noted(), got, want)
	}
}
