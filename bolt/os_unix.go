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

// initialMmapSize is the address space that is mapped initially, in bytes. It is large, since
// remapping the file waits for every reader, and it costs neither memory nor disk. It is 16 GiB, or
// 256 MiB with 32-bit addresses.
const initialMmapSize = 1 << (28 + 6*(^uint(0)>>63))

// renamesOverOpen reports whether a file can be renamed over an open file.
const renamesOverOpen = true

// noSpace reports whether an error means that the disk or a quota is full, or that the file has its
// maximum length.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// unwritable reports whether an error means that the file cannot be written, or no file can be
// opened, at this time. An error of a sync never counts, because the state of the file is unknown
// after it.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE))
}

// withCause restores the cause of an error that bbolt keeps only as text: a failure to extend the
// file.
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

// syncDir syncs the entries of a directory to stable storage.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// releaseMapped removes the pages of the file from the resident memory of the process. They stay in
// the page cache, and return when they are read again. A failure only costs memory.
func releaseMapped(db *bbolt.DB) {
	_ = db.View(func(btx *bbolt.Tx) error { // the file is not remapped in the meantime
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(btx.Size()), syscall.MADV_DONTNEED)
		return nil
	})
}
