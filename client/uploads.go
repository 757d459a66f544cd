package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"sync/atomic"

	"labshelf/blobs"
)

// form is an upload as the interface wants it: texts, then the file and, where its digest was not known before, that behind it.
type form struct {
	head, tail  []byte // what stands before and after the file; the digest in the tail is still to be filled in
	digestAt    int    // where in the tail; -1: nowhere
	boundary    string
	file        io.Reader
	size, start int64     // -1: not known
	seeker      io.Seeker // nil: the file can be read only once
	last        *sending  // the last try; nil: none yet
}

func newForm(r NewResource, body io.Reader, size int64) (*form, error) {
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	fields := [][2]string{{"setId", r.SetID}, {"name", r.Name}, {"format", r.Format}, {"description", r.Description}}
	known := r.Digest != blobs.Digest{}
	if known {
		fields = append(fields, [2]string{"sha256", r.Digest.String()})
	}
	for _, field := range fields {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}
	header := textproto.MIMEHeader{}
	params := map[string]string{"name": "file"}
	if r.Filename != "" {
		params["filename"] = r.Filename
	}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", params))
	if r.Mimetype != "" {
		header.Set("Content-Type", r.Mimetype)
	}
	if _, err := w.CreatePart(header); err != nil {
		return nil, err
	}
	f := &form{head: bytes.Clone(text.Bytes()), digestAt: -1, boundary: w.Boundary(), file: body, size: size}
	text.Reset()
	if !known {
		if err := w.WriteField("sha256", blobs.Digest{}.String()); err != nil {
			return nil, err
		}
		f.digestAt = text.Len() - len(blobs.Digest{}.String())
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f.tail = text.Bytes()
	if seeker, ok := body.(io.Seeker); ok {
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			f.seeker, f.start = seeker, start
		}
	}
	return f, nil
}

func (f *form) contentType() string { return "multipart/form-data; boundary=" + f.boundary }

// length of the whole body; -1: not known.
func (f *form) length() int64 {
	if f.size < 0 {
		return -1
	}
	return int64(len(f.head)) + f.size + int64(len(f.tail))
}

// rewind tells whether the body can be sent again, from its start. A call without a form has nothing to rewind.
func (f *form) rewind() bool {
	if f == nil || f.last == nil || !f.last.touched.Load() {
		return true
	}
	if f.seeker == nil {
		return false
	}
	_, err := f.seeker.Seek(f.start, io.SeekStart)
	return err == nil
}

// begin begins a try.
func (f *form) begin() *sending {
	if f == nil {
		return nil
	}
	f.last = &sending{form: f, turn: make(chan struct{}, 1), head: bytes.NewReader(f.head), left: f.size}
	if f.digestAt >= 0 {
		f.last.hash = sha256.New()
	}
	return f.last
}

// sending is the body of one try. What sends it may read and close it for a while after the try has ended.
type sending struct {
	form          *form
	turn          chan struct{}         // held by who reads
	head, tail    *bytes.Reader         // tail is nil until the file has ended
	left          int64                 // of the file; negative: not known
	hash          hash.Hash             // nil: the digest is known
	wrong         atomic.Pointer[error] // of reading the file
	ended         atomic.Bool
	touched, tell atomic.Bool // something of the file, something of the tail, has been read
}

var errEnded = errors.New("the try has ended")

func (s *sending) Read(p []byte) (int, error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.ended.Load() {
		return 0, errEnded
	}
	if s.head.Len() > 0 {
		return s.head.Read(p)
	}
	for s.tail == nil {
		n, err := s.readFile(p)
		switch {
		case err == io.EOF:
			s.tail = bytes.NewReader(s.form.ending(s.hash))
		case err != nil:
			s.wrong.Store(&err)
			return n, err
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	s.tell.Store(true)
	return s.tail.Read(p)
}

// readFile reads the file, which must end where it should.
func (s *sending) readFile(p []byte) (int, error) {
	s.touched.Store(true)
	if s.left > 0 && int64(len(p)) > s.left {
		p = p[:s.left]
	}
	var over [1]byte
	if s.left == 0 {
		p = over[:]
	}
	n, err := s.form.file.Read(p)
	switch {
	case s.left == 0 && n > 0:
		return 0, fmt.Errorf("it has more than %d bytes: it changed while it was sent, or its size is wrong", s.form.size)
	case err == io.EOF && s.left > int64(n):
		return n, fmt.Errorf("it has %d bytes less than %d: it changed while it was sent, or its size is wrong", s.left-int64(n), s.form.size)
	}
	if s.left > 0 {
		s.left -= int64(n)
	}
	if s.hash != nil {
		s.hash.Write(p[:n])
	}
	return n, err
}

// ending returns the tail with the digest.
func (f *form) ending(sum hash.Hash) []byte {
	if sum == nil {
		return f.tail
	}
	tail := bytes.Clone(f.tail)
	copy(tail[f.digestAt:], blobs.Digest(sum.Sum(nil)).String())
	return tail
}

// Close is called by what sends it.
func (s *sending) Close() error { return nil }

// end waits until nobody reads the file any more, or the context has ended.
func (s *sending) end(ctx context.Context) {
	s.ended.Store(true)
	select {
	case s.turn <- struct{}{}:
		<-s.turn
	case <-ctx.Done():
	}
}

// whole tells whether the service may have all of it.
func (s *sending) whole() bool { return s.tell.Load() }

// failed is the error of reading the file. nil: there was none.
func (s *sending) failed() error {
	if s == nil || s.wrong.Load() == nil {
		return nil
	}
	return *s.wrong.Load()
}
