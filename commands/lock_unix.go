//go:build unix

package commands

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock on an open file until unlock. It does not wait: errLocked says that another process has it.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// unlock gives the lock back and closes the file. To close it would not do where another process is just being started: until that
// is, it has the file, too.
func unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// syncFolder returns when the names in an open folder are on stable storage.
func syncFolder(folder *os.File) error { return folder.Sync() }
