package commands

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"labshelf/blobs"
)

// errChanged is what was read while somebody wrote to it.
var errChanged = errors.New("it changed while it was read, and is not stored; run the same command again when nobody writes to it")

// source is a file that is compared and sent: as it was when it was opened, or reading it fails. Once the context has ended, it may
// be read for a while after the call that sent it.
type source struct {
	file   *os.File
	size   int64
	from   time.Time // of its last modification
	digest blobs.Digest
	known  bool // the digest is

	at     int64 // where it is read
	again  int   // how often a call went back to the start
	meter  *Meter
	moved  atomic.Int64 // what the meter has been told
	local  bool         // it is read for its digest, and nothing of it moves
	ahead  bool         // it is sent after that, so that reading it is not done yet
	hashed int64        // what the meter has been told of that
	broken atomic.Pointer[error]
}

// openSource opens a file. The caller closes it.
func openSource(path string, m *Meter) (*source, error) {
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
	return &source{file: file, size: info.Size(), from: info.ModTime(), meter: m}, nil
}

// Read keeps what goes wrong, which is no fault of the service.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.read(p)
	if err != nil && err != io.EOF {
		s.broken.CompareAndSwap(nil, &err)
	}
	return n, err
}

// read ends where the file ended at first, and only if nobody has written to it: the service must not take what it never was for
// the file.
func (s *source) read(p []byte) (int, error) {
	if s.at == s.size {
		if err := s.same(); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := s.file.Read(p[:min(int64(len(p)), s.size-s.at)])
	s.at += int64(n)
	s.tell(int64(n))
	if err == io.EOF {
		err = errChanged
	}
	return n, err
}

// same returns an error unless the file is as it was when it was opened.
func (s *source) same() error {
	info, err := s.file.Stat()
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.from)) {
		err = errChanged
	}
	return err
}

// look keeps that the file has changed, if it has.
func (s *source) look() {
	if err := s.same(); err != nil {
		s.broken.CompareAndSwap(nil, &err)
	}
}

// changed looks, and tells whether it has.
func (s *source) changed() bool {
	s.look()
	return errors.Is(s.failure(), errChanged)
}

// Seek is for calls that are made again.
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

func (s *source) tell(n int64) {
	if s.ahead {
		s.hashed += n
		s.meter.hashing.Add(n)
		return
	}
	s.moved.Add(n)
	if s.local {
		s.meter.compared(n)
		return
	}
	s.meter.moved(n)
}

// skip tells the meter of bytes that need not be read, or, where n is negative, that are to be read again.
func (s *source) skip(n int64) {
	if s.ahead {
		s.tell(n)
		return
	}
	s.moved.Add(n)
	s.meter.skipped(n)
}

// rewind goes back to the start.
func (s *source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	s.again--
	return err
}

// sum returns the digest. The file is read for it once, and is at its start afterwards.
func (s *source) sum(ctx context.Context) (blobs.Digest, error) {
	if err := s.rewind(); err != nil || s.known {
		return s.digest, err
	}
	s.local = true
	defer func() { s.local = false }()
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

// sumAhead is sum for a file that is to be sent next: what is read for it is not done yet.
func (s *source) sumAhead(ctx context.Context) (blobs.Digest, error) {
	if err := s.rewind(); err != nil {
		return blobs.Digest{}, err
	}
	s.ahead = true
	defer func() {
		s.tell(-s.hashed) // it ends anywhere when it fails
		s.ahead = false
	}()
	return s.sum(ctx)
}

// failure is what went wrong with reading it; nil: nothing.
func (s *source) failure() error {
	err := s.broken.Load()
	switch {
	case err == nil:
		return nil
	case errors.Is(*err, errChanged):
		return errChanged
	}
	return unreadable(*err)
}

func (s *source) close() { _ = s.file.Close() } // it was only read
