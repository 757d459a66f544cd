//go:build unix

package blobs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const renameReplacesOpenFile = true

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noSpace reports whether err says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// device returns the number of the file system that holds path.
func device(path string) (uint64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: the system does not name its device", path)
	}
	return uint64(stat.Dev), nil // signed on some systems
}
