package blobs

import (
	"errors"
	"os"
	"syscall"
	"time"
)

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

// openToRead opens a file. The system follows links; looking beforehand has to do.
func openToRead(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	return os.Open(path)
}

// rename tries for about a second while the new name is free: a virus scanner or an indexer that has a look at a new
// file makes renaming it fail for a moment. A new name that is taken belongs to a file in use, and waiting is no help.
func rename(from, to string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := os.Rename(from, to)
		busy := errors.Is(err, errSharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
		if !busy || wait > 512*time.Millisecond {
			return err
		}
		if _, taken := os.Lstat(to); taken == nil {
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

// unopened reports whether err says that there are too many open files, so that what was asked for has not begun.
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
