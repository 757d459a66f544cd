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
var errChanged = errors.New("it changed while it was read, and is not stored; run the same command again when no program writes to it")

// source is an open file that is compared and sent. Reading it fails where it has changed since it
// was opened. After the end of the context it may be read for a while by the call that sent it.
type source struct {
	file   *os.File
	size   int64
	from   time.Time // of its last modification
	digest blobs.Digest
	known  bool   // digest is computed
	copied bool   // it is a temporary copy
	remove string // path of the copy that close removes, or ""
	what   string // see identity; "": nobody has asked

	at        int64 // offset of the next read
	again     int   // how often a call went back to the start
	meter     *meter.Meter
	moved     atomic.Int64 // bytes that the meter counts for it
	comparing bool         // it is read for its digest, and nothing is sent
	readError atomic.Pointer[error]
}

// openSource opens a file. Where the file system reports another size than the file has, it opens a
// temporary copy. The caller closes it.
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
		err = errors.New("it is no file any more")
	}
	if err != nil {
		return nil, unreadable(errors.Join(err, file.Close()))
	}
	return &source{file: file, size: info.Size(), from: info.ModTime()}, nil
}

// hasItsSize reports whether the file ends where the file system says. procfs reports 0 bytes for
// each file, sysfs a whole page, and other file systems that compute their files do likewise.
func (s *source) hasItsSize() bool {
	before := max(0, s.size-1)
	n, err := s.file.ReadAt(make([]byte, 2), before)
	return err == io.EOF && before+int64(n) == s.size
}

// copy reads the file to its end, into a temporary file, whose size is right. It fails where the
// file was changed meanwhile.
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

// Read implements io.Reader and saves errors, which are not those of the service.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.read(p)
	if err != nil && err != io.EOF {
		s.readError.CompareAndSwap(nil, &err)
	}
	return n, err
}

// read returns EOF at the original length, and only if the file is unchanged: the service must not
// store a mixture.
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

// unchanged returns an error unless the file has the length and time that it had when it was
// opened.
func (s *source) unchanged() error {
	info, err := s.file.Stat()
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.from)) {
		err = errChanged
	}
	return err
}

// noteChange saves the error of a file that has changed.
func (s *source) noteChange() {
	if err := s.unchanged(); err != nil {
		s.readError.CompareAndSwap(nil, &err)
	}
}

// changed checks for a change, and tells whether there was one.
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

// skip counts bytes that need not be read; a negative n takes back those that are read again.
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

// sum returns the digest, for which it reads the file once. The offset is 0 afterwards.
func (s *source) sum(ctx context.Context) (blobs.Digest, error) {
	if err := s.rewind(); err != nil || s.known {
		return s.digest, err
	}
	s.comparing = true
	defer func() { s.comparing = false }()
	hash, buffer := sha256.New(), make([]byte, min(s.size+1, 256<<10)) // a small one for a small file, of which there may be many
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

// identity returns what tells the file from another one, or from itself at another time: where it
// is and when it was modified, or its digest where that is known, or where it is a copy in a
// temporary file. It stays the same when the digest is computed later.
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

// failure returns the saved error of reading; nil: there was none.
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
	_ = s.file.Close() // it was only read
	if s.remove != "" {
		_ = os.Remove(s.remove) // it is in the folder for temporary files anyway
	}
}
