package bolt

import (
	"errors"
	"io/fs"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/windows"
)

// initialMmapSize is the address space that is mapped initially, in bytes. It is small, because
// Windows extends the file to that length.
const initialMmapSize = 64 << 20

// renamesOverOpen reports whether a file can be renamed over an open file.
const renamesOverOpen = false

// noSpace reports whether an error means that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// unwritable reports whether an error means that the file cannot be written, or no file can be
// opened, at this time. An error of a sync never counts, because the state of the file is unknown
// after it.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES))
}

// withCause returns the error unchanged. If bbolt cannot extend the file, it has unmapped it:
// nothing can be read or written until the file is opened again, so the cause is not transient.
func withCause(err error) error { return err }

// syncDir does nothing. Windows does not sync directories; their changes are in the log of the file
// system.
func syncDir(string) error { return nil }

// releaseMapped does nothing. Windows decides itself which pages of a mapped file are resident.
func releaseMapped(*bbolt.DB) {}
