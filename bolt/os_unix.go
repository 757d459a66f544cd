//go:build !windows

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// mapped is the address space that the file gets at once, in bytes, so that it is hardly ever mapped anew: that waits for
// every reader. It costs neither memory nor disk. 16 GiB, or 256 MiB where addresses have 32 bits.
const mapped = 1 << (28 + 6*(^uint(0)>>63))

// noSpace tells whether an error says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// syncDir brings the entries of a directory to stable storage.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
