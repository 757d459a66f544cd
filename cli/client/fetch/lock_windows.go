package fetch

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks an open file until Unlock. It does not wait. It locks a byte beyond the end of any
// file, since other processes cannot write to a locked byte. Errors: ErrLocked.
func Lock(file *os.File) error {
	const how = windows.LOCKFILE_FAIL_IMMEDIATELY | windows.LOCKFILE_EXCLUSIVE_LOCK
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Unlock unlocks and closes the file.
func Unlock(file *os.File) error { return file.Close() }

// syncFolder does nothing: Windows cannot flush a folder.
func syncFolder(*os.File) error { return nil }
