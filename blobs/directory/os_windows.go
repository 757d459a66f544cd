package directory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// renameReplacesOpenFile is false: not every file system supports it, and another process may have
// opened the file without sharing it.
const renameReplacesOpenFile = false

// hasModes: the permissions of a file come from its folder.
const hasModes = false

const (
	errTooManyOpenFiles  = syscall.Errno(4)
	errWriteProtect      = syscall.Errno(19)
	errSharingViolation  = syscall.Errno(32)
	errHandleDiskFull    = syscall.Errno(39)
	errDiskFull          = syscall.Errno(112)
	errDiskQuotaExceeded = syscall.Errno(1295)
)

// openToRead opens a file so that it can be renamed and removed in the meantime: with os.Open both
// fail with a sharing violation. It does not follow a link.
func openToRead(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var handle syscall.Handle
	err = whileBusy(func() (err error) {
		const shared = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
		const how = syscall.FILE_FLAG_OPEN_REPARSE_POINT | syscall.FILE_FLAG_BACKUP_SEMANTICS // the second flag opens folders, to detect them
		handle, err = syscall.CreateFile(name, syscall.GENERIC_READ, shared, nil, syscall.OPEN_EXISTING, how, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// rename also replaces an open file (POSIX semantics) if the file system supports it: NTFS since
// Windows 10. os.Rename never does; os.Root does.
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

// below returns path relative to the folder above, or "" if it is not below it.
func below(path, above string) string {
	relative, err := filepath.Rel(above, path)
	if err != nil || !filepath.IsLocal(relative) {
		return ""
	}
	return relative
}

// remove deletes a file, or an empty folder. The file may be open if the file system supports it.
func remove(path string) error { return whileBusy(func() error { return os.Remove(path) }) }

// whileBusy repeats fn for about a second while another process uses the file: a virus scanner or
// an indexer that reads a new file makes opening, renaming and removing it fail briefly.
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

// syncDir does nothing: Windows cannot flush a directory (access denied).
func syncDir(string) error { return nil }

// noSpace reports whether err means that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errHandleDiskFull) || errors.Is(err, errDiskQuotaExceeded)
}

// unopened reports whether err means that too many files are open, so that the operation has not
// begun.
func unopened(err error) bool { return errors.Is(err, errTooManyOpenFiles) }

// readOnly reports whether err means that the volume is write-protected.
func readOnly(err error) bool { return errors.Is(err, errWriteProtect) }

// device returns the serial number of path's volume.
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
