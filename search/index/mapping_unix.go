//go:build unix

package index

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file that is not empty for reading.
func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// unmapFile ends what mapFile began.
func unmapFile(data []byte) error {
	return unix.Munmap(data)
}

// syncDir brings the entries of a directory to stable storage.
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
