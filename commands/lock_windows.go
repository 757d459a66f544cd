package commands

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the lock on an open file until unlock. It does not wait: errLocked says that another process has it. What is locked is
// a byte that no file has, since nobody else could write to those that it has.
func lock(file *os.File) error {
	const how = windows.LOCKFILE_FAIL_IMMEDIATELY | windows.LOCKFILE_EXCLUSIVE_LOCK
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// unlock gives the lock back and closes the file.
func unlock(file *os.File) error { return file.Close() }

// syncFolder does nothing: Windows refuses to flush a folder.
func syncFolder(*os.File) error { return nil }
