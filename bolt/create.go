package bolt

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"
)

// What follows the name of the metadata file in that of a file beside it, before a random number.
const (
	newMark      = ".new-"      // one that is being made
	snapshotMark = ".snapshot-" // a Snapshot
)

// create makes the file beside its place, and links it there when it is complete: a power cut while bbolt makes a file can
// leave one that it does not open again, and of two processes that start at once only one may win. (A rename would put one's
// file over that which the other has already opened; it serves where there are no hard links.)
func create(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newMark)
	if err != nil {
		return err
	}
	fresh := file.Name()
	err = errors.Join(file.Close(), fill(fresh))
	if err == nil {
		if err = os.Link(fresh, path); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			err = os.Rename(fresh, path)
		}
	}
	if _, made := os.Lstat(path); made == nil {
		err = nil // by the other process
	}
	if removing := os.Remove(fresh); !errors.Is(removing, fs.ErrNotExist) {
		err = errors.Join(err, removing)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// fill makes an empty file into a complete one without rows, and brings it to stable storage.
func fill(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, // it is synced once, at the end
	})
	if err != nil {
		return err
	}
	newest := uint32(1 + len(migrations()))
	err = db.Update(func(btx *bbolt.Tx) error {
		for version := uint32(1); version <= newest; version++ {
			if err := addBuckets(btx, version); err != nil {
				return err
			}
		}
		t := &tx{bolt: btx}
		var secret [32]byte
		rand.Read(secret[:]) // never fails
		t.put(metaBucket, nameKey(schemaRow), seal(nameKey(schemaRow), schemaFields, newest))
		t.put(metaBucket, nameKey(lastStampRow), seal(nameKey(lastStampRow), lastStampFields, 0))
		t.put(metaBucket, nameKey(secretRow), seal(nameKey(secretRow), secretFields, secret))
		if t.failed != nil {
			return t.failed
		}
		return addEpoch(btx)
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := db.Close(); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// removeLeftovers removes what a process that was killed has left beside the file. What it cannot remove now waits for the next
// start. (Where another process is making a file at this moment, it will find this one.)
func removeLeftovers(path string) {
	dir, name := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, entry := range entries {
		for _, mark := range []string{newMark, snapshotMark} {
			if strings.HasPrefix(entry.Name(), name+mark) {
				_ = os.Remove(dir + entry.Name())
			}
		}
	}
}
