//go:build unix

package fetch

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks an open file until Unlock. It does not wait. Errors: ErrLocked.
func Lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock unlocks and closes the file. Closing alone is not enough: a starting child process shares
// the lock until it executes its program.
func Unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// syncFolder returns when the entries of an open folder are on stable storage.
func syncFolder(folder *os.File) error { return folder.Sync() }
