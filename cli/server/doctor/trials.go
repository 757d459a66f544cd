package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/metadata"
)

// trials are the examinations that write into a folder of the examined place.
func trials() []examination {
	return []examination{
		{"sync", trySync}, {"rename", tryRename}, {"link", tryLink}, {"lock", tryLock}, {"map", tryMap}, {"names", tryNames},
	}
}

// The only remedy for a file system that loses or mixes up data is another one.
const otherDisk = "keep the data on a local disk with a common file system, such as ext4, XFS, NTFS or APFS"

// quickSync is shorter than any disk needs to sync a file to stable storage.
const quickSync = 50 * time.Microsecond

// trySync writes files, syncs them and their folder, and measures the time.
func trySync(w place) []Finding {
	const rounds = 16
	var took time.Duration
	for i := range rounds {
		once, err := syncOnce(filepath.Join(w.trial, fmt.Sprintf("sync-%d", i)))
		if err != nil {
			return []Finding{problem(otherDisk, "data cannot be brought to stable storage: %v", err)}
		}
		took += once
	}
	mean := took / rounds
	if mean < quickSync {
		return []Finding{warning("unless this is memory or a disk with a battery, find the part that reports success too early: a cache of a disk, "+
			"a virtual machine that ignores flushes, or the mount option nobarrier",
			"syncing a file takes %s on average, so the file might not be on stable storage", display.Duration(mean))}
	}
	return []Finding{fine("files and folders can be synced to stable storage, a file in %s on average", display.Duration(mean))}
}

// syncOnce writes and syncs one file, and returns the time that this took.
func syncOnce(path string) (took time.Duration, err error) {
	var disk directory.OS
	file, err := disk.Create(path)
	if err != nil {
		return 0, err
	}
	_, err = file.Write(bytes.Repeat([]byte("labshelf"), 512))
	if err == nil {
		begun := time.Now()
		err = file.Sync()
		took = time.Since(begun)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	return took, disk.SyncDir(filepath.Dir(path))
}

// tryRename replaces a file by renaming another one.
func tryRename(w place) []Finding {
	from, to := filepath.Join(w.trial, "new"), filepath.Join(w.trial, "old")
	err := errors.Join(os.WriteFile(to, []byte("old"), 0o600), os.WriteFile(from, []byte("new"), 0o600))
	if err == nil {
		err = (directory.OS{}).Rename(from, to)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(to)
	}
	if err == nil && (string(text) != "new" || exists(from)) {
		err = errors.New("afterwards the old file exists, or both names do")
	}
	if err != nil {
		return []Finding{problem(otherDisk, "a file cannot be replaced by renaming another: %v", err)}
	}
	return []Finding{fine("a file can be replaced by renaming another")}
}

// tryLink gives a file a second name, as tools that copy to the same disk may do.
func tryLink(w place) []Finding {
	file, link := filepath.Join(w.trial, "file"), filepath.Join(w.trial, "link")
	if err := os.WriteFile(file, []byte("file"), 0o600); err != nil {
		return []Finding{problem(otherDisk, "a file cannot be written: %v", err)}
	}
	if err := os.Link(file, link); err != nil {
		return []Finding{warning("the service does not need this; tools that save space with hard links do not work here",
			"a file cannot have two names: %v", err)}
	}
	first, err := os.Stat(file)
	second, err2 := os.Stat(link)
	if err := errors.Join(err, err2); err != nil || !os.SameFile(first, second) {
		return []Finding{warning(otherDisk, "two names of one file lead to different files: %v", err)}
	}
	return []Finding{fine("a file can have two names")}
}

// tryLock takes a lock twice, as two services on one data directory would do.
func tryLock(w place) (found []Finding) {
	path := filepath.Join(w.trial, "lock")
	first, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return []Finding{problem(otherDisk, "a file cannot be created: %v", err)}
	}
	defer func() { _ = first.Close() }() // no data were written
	second, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return []Finding{problem(otherDisk, "a file cannot be opened twice: %v", err)}
	}
	defer func() { _ = second.Close() }()
	if err := directory.Lock(first, true); err != nil {
		return []Finding{problem(otherDisk, "a file cannot be locked: %v", err)}
	}
	if err := directory.Lock(second, true); err == nil {
		return []Finding{problem(otherDisk, "a lock does not exclude others: two services could write to one data directory")}
	}
	return []Finding{fine("a lock excludes others")}
}

// tryMap uses a metadata file in the way of the service: it writes to the file, and reads through
// the memory map.
func tryMap(w place) []Finding {
	const rows = 200
	meta, err := bolt.Open(filepath.Join(w.trial, datadir.MetadataFile), bolt.Options{})
	if err != nil {
		return []Finding{problem(otherDisk, "a metadata file cannot be used here: %v", err)}
	}
	for i := range rows {
		digest := blobs.Digest(sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		err = meta.Update(context.Background(), func(tx *metadata.Tx) error { return tx.Blobs.Put(blobs.Blob{Digest: digest, Size: int64(i)}) })
		if err != nil {
			break
		}
		err = meta.View(context.Background(), func(tx *metadata.Tx) error {
			row, err := tx.Blobs.Get(digest)
			if err == nil && row.Size != int64(i) {
				err = errors.New("the data read differ from the data written")
			}
			return err
		})
		if err != nil {
			break
		}
	}
	if err := errors.Join(err, meta.Close()); err != nil {
		return []Finding{problem(otherDisk, "data written to a file are not visible in its memory map: %v", err)}
	}
	return []Finding{fine("data written to a file are visible in its memory map")}
}

// tryNames creates a file with the longest name that the service uses, and a file with the longest
// name that most systems allow.
func tryNames(w place) []Finding {
	folder := filepath.Join(w.trial, "blobs", "00")
	longest := filepath.Join(folder, strings.Repeat("a", 2*sha256.Size))
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(longest, nil, 0o600)
	}
	if err != nil {
		return []Finding{problem("use a directory with a shorter path, or "+otherDisk, "file names cannot be as long as the service needs: %v", err)}
	}
	found := []Finding{fine("file names can be as long as the service needs")}
	if exists(filepath.Join(folder, strings.Repeat("A", 2*sha256.Size))) {
		found = append(found, fine("names that differ only in case are the same name here; the service uses no such names"))
	}
	return found
}
