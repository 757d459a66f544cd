//go:build unix

package directory

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const renameReplacesOpenFile = true

// hasModes: files have their own permissions.
const hasModes = true

// openToRead opens a file in one call. It does not follow a link, does not open a socket
// (errIrregular), and does not wait for a pipe.
func openToRead(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EOPNOTSUPP) {
		err = errors.Join(errIrregular, err)
	}
	return f, err
}

func rename(from, to string) error { return os.Rename(from, to) }

func remove(path string) error { return os.Remove(path) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noSpace reports whether err means that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// unopened reports whether err means that too many files are open, so that the operation has not
// begun.
func unopened(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// readOnly reports whether err means that the file system is read-only.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// device returns the number of path's file system.
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

func lock(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
