package bolt

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// mapped is the address space that the file gets at once, in bytes. Windows makes the file itself that long, so it is little.
const mapped = 64 << 20

// renamesOverOpen tells whether a file can be put in the place of one that is open.
const renamesOverOpen = false

// noSpace tells whether an error says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// unwritable tells whether an error says that nothing can be written, or no file opened, at this time. After a sync that fails
// nothing is known, whatever the error.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES))
}

// revealed returns the error. bbolt keeps why the file could not be made longer as text here, too, but it has given up its map by
// then: nothing can be read or written until the file is opened anew, so the cause is not one that passes.
func revealed(err error) error { return err }

// syncDir does nothing: Windows syncs no directories, and keeps their changes in the log of the file system.
func syncDir(string) error { return nil }
