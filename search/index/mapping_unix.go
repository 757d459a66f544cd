//go:build unix

package index

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a non-empty file for reading.
func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// unmapFile undoes mapFile.
func unmapFile(data []byte) error {
	return unix.Munmap(data)
}

// syncDir makes the entries of a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if closed := dir.Close(); err == nil {
		err = closed
	}
	return err
}
