package directory

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeBackEvery is the number of written bytes after which their writeback is started.
const writeBackEvery = 8 << 20

// earlyFile starts the writeback of a large file while the rest still arrives, so that Sync has
// less to do. Durability comes from Sync alone.
type earlyFile struct {
	*os.File
	size, begun int64 // bytes written, and bytes whose writeback was started
}

// newFile returns a file in which writing begins at the given position.
func newFile(f *os.File, at int64) File { return &earlyFile{File: f, size: at, begun: at} }

// Write implements [File]. An error of the writeback is returned by this write, so that it is not
// lost.
func (f *earlyFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.size += int64(n)
	if err != nil || f.size-f.begun < writeBackEvery {
		return n, err
	}
	err = f.begin()
	f.begun = f.size
	return n, err
}

func (f *earlyFile) begin() error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.SyncFileRange(int(fd), f.begun, f.size-f.begun, unix.SYNC_FILE_RANGE_WRITE)
	})
	switch {
	case err != nil:
		return err
	case failed == nil, errors.Is(failed, unix.EINTR), errors.Is(failed, errors.ErrUnsupported),
		errors.Is(failed, unix.EINVAL), errors.Is(failed, unix.ESPIPE), errors.Is(failed, unix.EPERM):
		return nil // not supported, or not possible now
	}
	return &os.PathError{Op: "sync_file_range", Path: f.Name(), Err: failed}
}
