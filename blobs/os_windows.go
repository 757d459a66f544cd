package blobs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// renameReplacesOpenFile: not on every file system, and not where another process has opened the
// file without sharing it.
const renameReplacesOpenFile = false

// hasModes tells that the permissions of a file come from its folder.
const hasModes = false

const (
	errTooManyOpenFiles  = syscall.Errno(4)
	errWriteProtect      = syscall.Errno(19)
	errSharingViolation  = syscall.Errno(32)
	errHandleDiskFull    = syscall.Errno(39)
	errDiskFull          = syscall.Errno(112)
	errDiskQuotaExceeded = syscall.Errno(1295)
)

// openToRead opens a file so that it can be renamed and removed meanwhile: Go's own os.Open makes
// both fail with a sharing violation. A link is not followed.
func openToRead(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var handle syscall.Handle
	err = whileBusy(func() (err error) {
		const shared = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
		const how = syscall.FILE_FLAG_OPEN_REPARSE_POINT | syscall.FILE_FLAG_BACKUP_SEMANTICS // the latter opens folders, to see that they are
		handle, err = syscall.CreateFile(name, syscall.GENERIC_READ, shared, nil, syscall.OPEN_EXISTING, how, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// rename replaces a file also while it is open (POSIX semantics), where the file system can do
// that: NTFS since Windows 10. os.Rename never does; os.Root does.
func rename(from, to string) error {
	above := filepath.Dir(from)
	for below(to, above) == "" && above != filepath.Dir(above) {
		above = filepath.Dir(above)
	}
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	err = whileBusy(func() error { return root.Rename(below(from, above), below(to, above)) })
	return errors.Join(err, root.Close())
}

// below returns path as seen from the folder above, "" if it is not below that.
func below(path, above string) string {
	relative, err := filepath.Rel(above, path)
	if err != nil || !filepath.IsLocal(relative) {
		return ""
	}
	return relative
}

// remove deletes a file, also while it is open where the file system can do that, or an empty
// folder.
func remove(path string) error { return whileBusy(func() error { return os.Remove(path) }) }

// whileBusy calls fn again for about a second while another process uses the file: a virus scanner
// or an indexer that looks at a new file makes opening, renaming and removing it fail for a moment.
func whileBusy(fn func() error) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := fn()
		busy := errors.Is(err, errSharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
		if !busy || wait > 512*time.Millisecond {
			return err
		}
		time.Sleep(wait)
	}
}

// syncDir does nothing: Windows refuses to flush a directory (access denied).
func syncDir(string) error { return nil }

// noSpace reports whether err says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errHandleDiskFull) || errors.Is(err, errDiskQuotaExceeded)
}

// unopened reports whether err says that there are too many open files, so that what was asked for
// has not begun.
func unopened(err error) bool { return errors.Is(err, errTooManyOpenFiles) }

// readOnly reports whether err says that the volume cannot be written to.
func readOnly(err error) bool { return errors.Is(err, errWriteProtect) }

// device returns the serial number of the volume that holds path.
func device(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	var info syscall.ByHandleFileInformation
	err = syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info)
	return uint64(info.VolumeSerialNumber), errors.Join(err, f.Close())
}

func lock(file *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
