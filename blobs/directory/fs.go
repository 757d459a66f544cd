package directory

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// FS is the interface of [Store] to the disk: every call that changes or syncs data uses it, so
// that tests can record the calls and make each of them fail. Reads do not use it. The methods may
// be called concurrently, and their errors wrap the errors of the operating system.
type FS interface {
	Files
	Names

	// Mkdir makes a directory of mode 0700, whatever the umask. An existing one is an error that
	// matches fs.ErrExist.
	Mkdir(path string) error

	// Touch sets the modification time of a file. On file systems with a journal the next sync of
	// its directory makes it durable; on others it may be lost in a power failure.
	Touch(path string, at time.Time) error

	// SyncDir brings the names in a directory to stable storage. Windows has no such call, and
	// SyncDir does nothing there: a name given just before a power failure is as safe as the log of
	// the file system makes it.
	SyncDir(path string) error
}

// Names changes the names of files.
type Names interface {
	// Link gives a file another name, which must be unused. Not every file system supports this.
	Link(from, to string) error

	// Rename moves a file, and replaces an existing file with the new name. On Windows a file
	// system without POSIX semantics, such as FAT, refuses this while the replaced file is open;
	// the moved file may be open for reading.
	Rename(from, to string) error

	// Remove deletes a file or an empty directory. On Windows a file system without POSIX semantics
	// keeps the name of an open file until it is closed.
	Remove(path string) error
}

// Files opens files for writing.
type Files interface {
	// Create creates a file of mode 0600, whatever the umask, and opens it for writing. An existing
	// file is an error that matches fs.ErrExist. After an error no file of this call is left.
	Create(path string) (File, error)

	// Reopen opens an existing file for writing at a position, in bytes, and truncates it there. A
	// missing file is an error that matches fs.ErrNotExist.
	Reopen(path string, at int64) (File, error)
}

// File is a file being written. The caller closes it, once.
type File interface {
	io.WriteCloser

	// Sync brings all written data to stable storage. After an error it must not be called again:
	// the kernel may have marked unwritten data as clean, and would then report success.
	Sync() error
}

// OS is the file system of the operating system.
type OS struct{}

var _ FS = OS{}

// Create implements [FS].
func (OS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return newFile(f, 0), nil
}

// Reopen implements [FS].
func (OS) Reopen(path string, at int64) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end > at {
		err = f.Truncate(at)
	}
	if err == nil {
		_, err = f.Seek(at, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newFile(f, at), nil
}

// Mkdir implements [FS].
func (OS) Mkdir(path string) error {
	if err := os.Mkdir(path, dirMode); err != nil {
		return err
	}
	return os.Chmod(path, dirMode)
}

// MkdirAll creates a directory of mode 0700 and its missing parents, and syncs their names. An
// existing directory is not an error. If the path or a parent is not a directory, an *fs.PathError
// names it and matches syscall.ENOTDIR.
func (o OS) MkdirAll(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return err
	}
	parent := filepath.Dir(path)
	if err := o.MkdirAll(parent); err != nil {
		return err
	}
	if err := o.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return o.SyncDir(parent)
}

// ErrLocked is returned by Lock if another process, or another descriptor of this one, holds the
// lock.
var ErrLocked = errors.New("the file is locked")

// Lock locks an open file, exclusively or shared, until it is closed. It does not wait.
func Lock(file *os.File, exclusive bool) error { return lock(file, exclusive) }

// Touch implements [FS].
func (OS) Touch(path string, at time.Time) error { return os.Chtimes(path, at, at) }

// Link implements [FS].
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Rename implements [FS].
func (OS) Rename(from, to string) error { return rename(from, to) }

// Remove implements [FS].
func (OS) Remove(path string) error { return remove(path) }

// SyncDir implements [FS].
func (OS) SyncDir(path string) error { return syncDir(path) }
