//go:build !windows

package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// mapped is the address space that the file gets at once, in bytes, so that it is hardly ever mapped anew: that waits for
// every reader. It costs neither memory nor disk. 16 GiB, or 256 MiB where addresses have 32 bits.
const mapped = 1 << (28 + 6*(^uint(0)>>63))

// renamesOverOpen tells whether a file can be put in the place of one that is open.
const renamesOverOpen = true

// noSpace tells whether an error says that the disk or a quota is full, or the file as long as it can be.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// unwritable tells whether an error says that nothing can be written, or no file opened, at this time. After a sync that fails
// nothing is known, whatever the error.
func unwritable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op != "sync" && path.Op != "fsync" &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE))
}

// revealed adds to an error what bbolt keeps of its cause as text only: why the file could not be made longer.
func revealed(err error) error {
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
