package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// sending is the body of one attempt: a file, and the bytes before and after it. A separate
// goroutine reads and hashes the file. So a blocked Read delays nothing beyond the end of the
// context, and one chunk is hashed while the previous one is sent.
type sending struct {
	file       io.Reader
	see        func([]byte)  // called with each chunk of the file, in order; may be nil
	ending     func() []byte // returns the bytes after the file; called at its end
	length     int64         // of the whole body; -1: unknown
	head, tail *bytes.Reader // tail is nil until the file has ended
	size, left int64         // size of the file, and bytes still to read; negative: unknown

	chunks chan chunk  // from the goroutine
	free   chan []byte // to the goroutine; two buffers exist
	buf    []byte      // buffer that is being sent
	rest   []byte      // unsent part of it

	gone    <-chan struct{} // the context has ended
	stop    chan struct{}   // the attempt has ended
	stopped chan struct{}   // the file is no longer read

	begun  atomic.Bool // the file is being read, or never will be
	spared bool        // the attempt has ended without a read of the file
	ended  atomic.Bool // a part of the tail has been sent
	wrong  atomic.Pointer[error]
}

// chunk is a part of the file, or its end.
type chunk struct {
	data []byte
	tail []byte // at the end of the file
	err  error
}

// chunkSize is the size of a read, in bytes.
const chunkSize = 128 << 10

var errEnded = errors.New("the attempt has ended")

// begin prepares Read and end. The attempt ends with ctx at the latest.
func (s *sending) begin(ctx context.Context) *sending {
	s.left, s.gone, s.stop, s.stopped = s.size, ctx.Done(), make(chan struct{}), make(chan struct{})
	s.chunks, s.free = make(chan chunk), make(chan []byte, 2)
	return s
}

func (s *sending) Read(p []byte) (int, error) {
	if s.head.Len() > 0 {
		return s.head.Read(p)
	}
	for len(s.rest) == 0 && s.tail == nil {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	if len(s.rest) > 0 {
		n := copy(p, s.rest)
		s.rest = s.rest[n:]
		return n, nil
	}
	s.ended.Store(true)
	return s.tail.Read(p)
}

// next waits for the next chunk of the file.
func (s *sending) next() error {
	if !s.begun.Swap(true) {
		size := int64(chunkSize)
		if s.left >= 0 {
			size = min(size, s.left)
		}
		s.free <- make([]byte, size)
		s.free <- make([]byte, size)
		go s.readFile()
	} else {
		s.free <- s.buf
	}
	select {
	case c := <-s.chunks:
		s.buf, s.rest = c.data[:cap(c.data)], c.data
		if c.tail != nil {
			s.tail = bytes.NewReader(c.tail)
		}
		if c.err != nil {
			s.wrong.Store(&c.err)
		}
		return c.err
	case <-s.stop:
	case <-s.gone:
	}
	return errEnded
}

// readFile reads the file to its end, and sends its chunks.
func (s *sending) readFile() {
	defer close(s.stopped)
	for c := (chunk{}); c.tail == nil && c.err == nil; {
		select {
		case c.data = <-s.free:
		case <-s.stop:
			return
		}
		n, err := s.readChunk(c.data)
		c.data = c.data[:n]
		if s.see != nil {
			s.see(c.data)
		}
		switch {
		case err == io.EOF:
			c.tail = s.ending()
		case err != nil:
			c.err = err
		}
		select {
		case s.chunks <- c:
		case <-s.stop:
			return
		}
	}
}

// readChunk reads the next bytes of the file, which must have the announced size.
func (s *sending) readChunk(p []byte) (int, error) {
	if s.left == 0 {
		if n, err := s.file.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("the file has more than %d bytes: it changed while it was being sent, or the given size is wrong", s.size)
	}
	if s.left > 0 {
		p = p[:min(int64(len(p)), s.left)]
	}
	n, err := s.file.Read(p)
	if s.left > 0 {
		s.left -= int64(n)
		if err == io.EOF && s.left > 0 {
			err = fmt.Errorf("the file has %d bytes less than %d: it changed while it was being sent, or the given size is wrong", s.left, s.size)
		}
	}
	return n, err
}

// Close implements io.Closer for the transport; the attempt ends later.
func (s *sending) Close() error { return nil }

// end waits until the file is no longer read, or the context has ended.
func (s *sending) end() {
	close(s.stop)
	if s.spared = !s.begun.Swap(true); s.spared {
		return
	}
	select {
	case <-s.stopped:
	case <-s.gone:
	}
}

// whole reports whether the service may have received the whole body.
func (s *sending) whole() bool { return s.ended.Load() }

// failed returns the error of reading the file, or nil.
func (s *sending) failed() error {
	if s == nil || s.wrong.Load() == nil {
		return nil
	}
	return *s.wrong.Load()
}
