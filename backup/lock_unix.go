//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock on an open file, for this process alone or shared, until the file is closed. It does not wait.
func lock(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
