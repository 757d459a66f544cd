package blobs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// dropPageCache asks the kernel to drop the pages of a file from memory. Reading works even if the
// kernel does not.
func dropPageCache(r io.Reader) {
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
