package bolt

import (
	"errors"
	"io/fs"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/windows"
)

// initialMmapSize is the address space that the file gets at once, in bytes. Windows makes the file
// itself that long, so it is small.
const initialMmapSize = 64 << 20

// renamesOverOpen tells whether a file can be renamed over one that is open.
const renamesOverOpen = false

// noSpace tells whether an error says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// unwritable tells whether an error says that nothing can be written, or no file opened, at this
// time. No error of a sync says that: after it the state of the file is unknown.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES))
}

// withCause returns the error. bbolt keeps as text only why the file could not be made longer, but
// it has unmapped the file by then: nothing can be read or written until the file is opened anew,
// so the cause is not transient.
func withCause(err error) error { return err }

// syncDir does nothing: Windows syncs no directories, and keeps their changes in the log of the
// file system.
func syncDir(string) error { return nil }

// releaseMapped does nothing: Windows decides alone which pages of a mapped file are resident.
func releaseMapped(*bbolt.DB) {}
