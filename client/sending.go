package client

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync/atomic"
)

// sending is the body of one try. The file is read, and hashed, by a goroutine of its own: so that a file whose Read does not
// return holds up nobody beyond the end of the context, and that one piece is hashed while the one before is sent.
type sending struct {
	form       *form
	head, tail *bytes.Reader // tail is nil until the file has ended
	left       int64         // of the file, to be read; negative: not known

	chunks chan chunk  // from the goroutine
	free   chan []byte // to it; two are there
	piece  []byte      // that is being sent
	rest   []byte      // of it

	gone    <-chan struct{} // the context has ended
	stop    chan struct{}   // the try has ended
	stopped chan struct{}   // nobody reads the file any more

	begun  atomic.Bool // the file is read, or will not be
	spared bool        // nothing of the file was read, when the try has ended
	ending atomic.Bool // something of the tail has been sent
	wrong  atomic.Pointer[error]
}

// chunk is a piece of the file, and what comes after it.
type chunk struct {
	piece []byte
	tail  []byte // at its end
	err   error
}

// maxPiece is how much of a file is read at once, in bytes.
const maxPiece = 128 << 10

var errEnded = errors.New("the try has ended")

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
	s.ending.Store(true)
	return s.tail.Read(p)
}

// next waits for the next piece of the file.
func (s *sending) next() error {
	if !s.begun.Swap(true) {
		size := int64(maxPiece)
		if s.left >= 0 {
			size = min(size, s.left)
		}
		s.free <- make([]byte, size)
		s.free <- make([]byte, size)
		go s.readFile()
	} else {
		s.free <- s.piece
	}
	select {
	case c := <-s.chunks:
		s.piece, s.rest = c.piece[:cap(c.piece)], c.piece
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

// readFile reads the file to its end, and gives out piece after piece.
func (s *sending) readFile() {
	defer close(s.stopped)
	var sum hash.Hash
	if s.form.digestAt >= 0 {
		sum = sha256.New()
	}
	for c := (chunk{}); c.tail == nil && c.err == nil; {
		select {
		case c.piece = <-s.free:
		case <-s.stop:
			return
		}
		n, err := s.readPiece(c.piece)
		c.piece = c.piece[:n]
		if sum != nil {
			sum.Write(c.piece)
		}
		switch {
		case err == io.EOF:
			c.tail = s.form.ending(sum)
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

// readPiece reads on in the file, which must end where it should.
func (s *sending) readPiece(p []byte) (int, error) {
	if s.left == 0 {
		if n, err := s.form.file.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("it has more than %d bytes: it changed while it was sent, or its size is wrong", s.form.size)
	}
	if s.left > 0 {
		p = p[:min(int64(len(p)), s.left)]
	}
	n, err := s.form.file.Read(p)
	if s.left > 0 {
		s.left -= int64(n)
		if err == io.EOF && s.left > 0 {
			err = fmt.Errorf("it has %d bytes less than %d: it changed while it was sent, or its size is wrong", s.left, s.form.size)
		}
	}
	return n, err
}

// Close is called by what sends it; the try ends later.
func (s *sending) Close() error { return nil }

// end waits until nobody reads the file any more, unless the context has ended.
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

// whole tells whether the service may have all of it.
func (s *sending) whole() bool { return s.ending.Load() }

// failed is the error of reading the file. nil: there was none.
func (s *sending) failed() error {
	if s == nil || s.wrong.Load() == nil {
		return nil
	}
	return *s.wrong.Load()
}
