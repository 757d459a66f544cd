package blobs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// uncache asks the kernel to forget what it has of a file in memory. Where it cannot be asked or does not comply, reading
// works all the same.
func uncache(r io.Reader) {
	f, ok := r.(*os.File)
	if !ok {
		return
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) })
}
