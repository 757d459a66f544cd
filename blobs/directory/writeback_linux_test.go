package directory_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// TestEarlyWriteBack checks how much of a large file is not yet on the disk after it has been
// written. If the system cannot report this (Linux before 6.5), it only checks the content.
func TestEarlyWriteBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(onDisk(t), "file")
	f, err := directory.OS{}.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	content := blobstest.Content(1 << 20)
	const times = 32
	for range times {
		if n, err := f.Write(content); err != nil || n != len(content) {
			t.Fatal(n, err)
		}
	}
	if dirty, known := dirtyBytes(t, path); known && dirty > times<<20/2 {
		t.Errorf("%d MiB of %d wait for Sync", dirty>>20, times)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != times<<20 {
		t.Error(info, err)
	}
}

// dirtyBytes returns the bytes of a file that are changed in memory, and whose writeback has not
// begun.
func dirtyBytes(t *testing.T, path string) (bytes uint64, known bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var stat unix.Cachestat_t
	err = errors.Join(unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0), f.Close())
	if err != nil && !errors.Is(err, unix.ENOSYS) {
		t.Fatal(err)
	}
	return stat.Dirty * uint64(os.Getpagesize()), err == nil
}
