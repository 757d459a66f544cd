package put

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/cli/meter"
)

// errChanged is the error of a file that was modified while it was read.
var errChanged = errors.New("the file changed while it was read, and is not stored; run the same command again when no program writes to it")

// source is an open file that is compared and sent. Reading fails if the file has changed since it
// was opened. The call that sends it may continue to read for a while after the end of its context.
type source struct {
	file   *os.File
	size   int64
	from   time.Time // of its last modification
	digest blobs.Digest
	known  bool   // digest has been computed
	copied bool   // the file is a temporary copy
	remove string // path of the copy that close removes, or ""
	what   string // see identity; "" until first used

	at        int64 // offset of the next read
	again     int   // how often a call returned to the start
	meter     *meter.Meter
	moved     atomic.Int64 // bytes that the meter counts for this file
	comparing bool         // the file is read only for its digest
	readError atomic.Pointer[error]
}

// openSource opens a file. If the file is longer or shorter than the file system reports, it opens
// a temporary copy. The caller closes it.
func openSource(ctx context.Context, path string, m *meter.Meter) (*source, error) {
	s, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s.meter = m
	if s.hasItsSize() {
		return s, nil
	}
	copied, err := s.copy(ctx)
	s.close()
	if err != nil {
		return nil, err
	}
	copied.meter = m
	return copied, nil
}

// openFile opens a regular file.
func openFile(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no longer a file")
	}
	if err != nil {
		return nil, unreadable(errors.Join(err, file.Close()))
	}
	return &source{file: file, size: info.Size(), from: info.ModTime()}, nil
}

// hasItsSize reports whether the file ends at the size that the file system reports. procfs reports
// 0 bytes for each file, and sysfs a whole page.
func (s *source) hasItsSize() bool {
	before := max(0, s.size-1)
	n, err := s.file.ReadAt(make([]byte, 2), before)
	return err == io.EOF && before+int64(n) == s.size
}

// copy copies the file to a temporary file, whose size is right. It fails if the file changes in
// the meantime.
func (s *source) copy(ctx context.Context) (*source, error) {
	path, _, err := spool(ctx, s.file)
	if err != nil {
		return nil, unreadable(err)
	}
	copied := &source{}
	if err = s.unchanged(); err == nil {
		copied, err = openFile(path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	copied.copied, copied.remove = true, path
	return copied, nil
}

// Read implements io.Reader, and saves errors of the file, to distinguish them from errors of the
// service.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.read(p)
	if err != nil && err != io.EOF {
		s.readError.CompareAndSwap(nil, &err)
	}
	return n, err
}

// read returns EOF at the original length, and only if the file is unchanged: the service must not
// store a mixture of two versions.
func (s *source) read(p []byte) (int, error) {
	if s.at == s.size {
		if err := s.unchanged(); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := s.file.Read(p[:min(int64(len(p)), s.size-s.at)])
	s.at += int64(n)
	if s.comparing {
		s.countCompared(int64(n))
	} else {
		s.countMoved(int64(n))
	}
	if err == io.EOF {
		err = errChanged
	}
	return n, err
}

// unchanged returns an error unless the file has the same length and modification time as when it
// was opened.
func (s *source) unchanged() error {
	info, err := s.file.Stat()
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.from)) {
		err = errChanged
	}
	return err
}

// noteChange saves an error if the file has changed.
func (s *source) noteChange() {
	if err := s.unchanged(); err != nil {
		s.readError.CompareAndSwap(nil, &err)
	}
}

// changed reports whether the file has changed.
func (s *source) changed() bool {
	s.noteChange()
	return errors.Is(s.failure(), errChanged)
}

// Seek implements io.Seeker, for calls that are repeated.
func (s *source) Seek(offset int64, whence int) (int64, error) {
	at, err := s.file.Seek(offset, whence)
	if err == nil {
		s.skip(at - s.at)
		s.at = at
	}
	if whence == io.SeekStart {
		s.again++
	}
	return at, err
}

func (s *source) countMoved(n int64) {
	s.moved.Add(n)
	s.meter.Moved(n)
}

func (s *source) countCompared(n int64) {
	s.moved.Add(n)
	s.meter.Read(n)
}

// skip counts bytes that need not be read; a negative n takes back bytes that are read again.
func (s *source) skip(n int64) {
	s.moved.Add(n)
	s.meter.Skipped(n)
}

// rewind goes back to the start.
func (s *source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	s.again--
	return err
}

// sum returns the digest. It reads the file once. The offset is 0 afterwards.
func (s *source) sum(ctx context.Context) (blobs.Digest, error) {
	if err := s.rewind(); err != nil || s.known {
		return s.digest, err
	}
	s.comparing = true
	defer func() { s.comparing = false }()
	hash, buffer := sha256.New(), make([]byte, min(s.size+1, 256<<10)) // a small buffer for a small file, since there may be many
	for {
		n, err := s.Read(buffer)
		hash.Write(buffer[:n])
		if err == io.EOF {
			break
		}
		if err = cmp.Or(ctx.Err(), s.failure(), err); err != nil {
			return blobs.Digest{}, err
		}
	}
	hash.Sum(s.digest[:0])
	s.known = true
	return s.digest, s.rewind()
}

// identity returns a text that distinguishes this version of the file from other files and
// versions. It is the path and the modification time, or the digest if that is known or if the file
// is a temporary copy. It stays the same when the digest is computed later.
func (s *source) identity(ctx context.Context) (string, error) {
	if s.what != "" {
		return s.what, nil
	}
	if s.known || s.copied {
		digest, err := s.sum(ctx)
		if err == nil {
			s.what = digest.String()
		}
		return s.what, err
	}
	path, err := filepath.Abs(s.file.Name())
	if err == nil {
		s.what = fmt.Sprintf("%q %d %d", path, s.size, s.from.UnixNano())
	}
	return s.what, err
}

// failure returns the saved error of reading, or nil.
func (s *source) failure() error {
	err := s.readError.Load()
	switch {
	case err == nil:
		return nil
	case errors.Is(*err, errChanged):
		return errChanged
	}
	return unreadable(*err)
}

func (s *source) close() {
	_ = s.file.Close() // only read
	if s.remove != "" {
		_ = os.Remove(s.remove) // the system empties the folder for temporary files
	}
}
