//go:build !windows

package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
)

// initialMmapSize is the address space that the file gets at once, in bytes, so that it is rarely
// remapped, which waits for every reader. It costs neither memory nor disk. 16 GiB, or 256 MiB
// where addresses have 32 bits.
const initialMmapSize = 1 << (28 + 6*(^uint(0)>>63))

// renamesOverOpen tells whether a file can be renamed over one that is open.
const renamesOverOpen = true

// noSpace tells whether an error says that the disk or a quota is full, or the file as long as it
// can be.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// unwritable tells whether an error says that nothing can be written, or no file opened, at this
// time. No error of a sync says that: after it the state of the file is unknown.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE))
}

// withCause adds the cause to an error of which bbolt keeps the cause as text only: that the file
// could not be made longer.
func withCause(err error) error {
	text := err.Error()
	if !strings.HasPrefix(text, "file resize error: ") {
		return err
	}
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if strings.HasSuffix(text, ": "+cause.Error()) {
			return fmt.Errorf("%w: %w", err, &fs.PathError{Op: "truncate", Err: cause})
		}
	}
	return err
}

// syncDir brings the entries of a directory to stable storage.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// releaseMapped takes the pages of the file that have been read out of the resident memory of the
// process. They stay in the page cache, and come back when they are read again. Where that fails
// nothing is lost but memory.
func releaseMapped(db *bbolt.DB) {
	_ = db.View(func(btx *bbolt.Tx) error { // meanwhile the file is not mapped elsewhere
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(btx.Size()), syscall.MADV_DONTNEED)
		return nil
	})
}
