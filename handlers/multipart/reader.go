// Package multipart reads multipart bodies (RFC 2046) part by part. It finds the same parts and
// bytes as mime/multipart, with two differences. It reads a large part directly into the caller's
// buffer, while mime/multipart reads 4 KiB at a time. And only the closing boundary ends a body.
package multipart

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"
)

// Bounds of a Reader, in bytes.
const (
	MaxHeader  = 16 << 10 // of the header of a part
	MaxOutside = 64 << 10 // between two parts: the header, boundaries, and the unread rest of the earlier part
	maxLine    = 4 << 10  // of a line outside headers; mime/multipart has the same bound
)

var (
	// ErrTooLong is returned by Next when a bound is exceeded.
	ErrTooLong = errors.New("the header of a part, or the text between two parts, is too long")
	// ErrMalformed is returned by Next when something other than a boundary follows a part.
	ErrMalformed = errors.New("a part does not end in a boundary")
)

const (
	firstRoom = 4 << 10 // bytes: enough for the headers of most uploads
	leastRead = 4 << 10 // bytes: fewer are not worth a separate read
)

// Reader reads a body. It is not safe for concurrent use.
type Reader struct {
	src      io.Reader
	err      error  // error after the buffered bytes
	store    []byte // store[at:] are buffered bytes that are not used yet
	at       int
	dashes   []byte // --boundary
	nl       []byte // line break of this body: CRLF, or LF if the first boundary ends in LF
	part     *Part  // the latest part
	outside  int
	begun    bool // a part was found
	lines    *bufio.Reader
	closings []byte // --boundary--
	divider  []byte // nl --boundary
}

// NewReader returns a Reader of the body in src with this boundary. It may read src ahead by about
// the size of a buffer.
func NewReader(src io.Reader, boundary string) *Reader {
	all := []byte("\r\n--" + boundary + "--")
	return &Reader{
		src: src, store: make([]byte, 0, firstRoom), lines: bufio.NewReaderSize(nil, firstRoom/4),
		nl: all[:2], dashes: all[2 : len(all)-2], closings: all[2:], divider: all[:len(all)-2],
	}
}

// Next returns the next part. It skips the rest of the part before. After the closing boundary it
// returns io.EOF. A body that ends earlier returns io.ErrUnexpectedEOF. Other errors are
// ErrTooLong, ErrMalformed, the errors of textproto for a part's header, and the errors of src.
func (r *Reader) Next() (*Part, error) {
	r.outside = 0
	if err := r.passOver(); err != nil {
		return nil, err
	}
	for ended := false; ; {
		line, err := r.line()
		switch {
		case err != nil:
			return nil, err
		case r.isBoundary(line):
			header, err := r.header()
			if err != nil {
				return nil, err
			}
			r.begun, r.part = true, &Part{Header: header, reader: r, first: true}
			return r.part, nil
		case r.isClosing(line):
			return nil, io.EOF
		case !r.begun: // text before the first part is allowed
		case !ended && bytes.Equal(line, r.nl):
			ended = true
		default:
			return nil, ErrMalformed
		}
	}
}

// passOver skips the unread rest of the latest part.
func (r *Reader) passOver() error {
	part := r.part
	for part != nil && !part.ended {
		if part.ready == 0 && !part.find() {
			if err := r.fill(); err != nil {
				return err
			}
			continue
		}
		if err := r.use(part.ready); err != nil {
			return err
		}
		part.first, part.ready = part.first && part.ready == 0, 0
	}
	return nil
}

// use counts and skips bytes between parts.
func (r *Reader) use(n int) error {
	r.at += n
	if r.outside += n; r.outside > MaxOutside {
		return ErrTooLong
	}
	return nil
}

// line returns the next line with its line break. The line is valid until the next read.
func (r *Reader) line() ([]byte, error) {
	for {
		end := bytes.IndexByte(r.store[r.at:], '\n') + 1
		switch {
		case end > maxLine, end == 0 && len(r.store)-r.at >= maxLine:
			return nil, ErrTooLong
		case end > 0:
			return r.store[r.at : r.at+end], r.use(end)
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// isBoundary reports whether a line begins a part. The first such line determines the line breaks
// of the body.
func (r *Reader) isBoundary(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, r.dashes)
	rest = bytes.TrimLeft(rest, " \t")
	if ok && !r.begun && string(rest) == "\n" {
		r.nl, r.divider = r.nl[len(r.nl)-1:], r.divider[len(r.divider)-len(r.dashes)-1:]
	}
	return ok && bytes.Equal(rest, r.nl)
}

func (r *Reader) isClosing(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, r.closings)
	return ok && bytes.Equal(bytes.TrimLeft(rest, " \t"), r.nl)
}

// header reads the header of a part, including the empty line.
func (r *Reader) header() (textproto.MIMEHeader, error) {
	for end := 0; ; {
		line, _, whole := bytes.Cut(r.store[r.at+end:], []byte("\n"))
		if end+len(line)+1 > MaxHeader {
			return nil, ErrTooLong
		}
		if !whole {
			if err := r.fill(); err != nil {
				return nil, err
			}
			continue
		}
		end += len(line) + 1
		if len(line) == 0 || string(line) == "\r" {
			r.lines.Reset(bytes.NewReader(r.store[r.at : r.at+end]))
			header, err := textproto.NewReader(r.lines).ReadMIMEHeader()
			return header, errors.Join(err, r.use(end))
		}
	}
}

// fill reads more bytes into the store.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if len(r.store) == cap(r.store) && r.at > 0 {
		r.store, r.at = append(r.store[:0], r.store[r.at:]...), 0
	} else if len(r.store) == cap(r.store) {
		r.store = append(make([]byte, 0, 2*cap(r.store)), r.store...)
	}
	n, err := r.src.Read(r.store[len(r.store):cap(r.store)])
	r.store = r.store[:len(r.store)+n]
	r.end(err)
	return nil
}

// end keeps an error of the source. At the end of the body it appends a line break, since some
// clients send the closing boundary without one.
func (r *Reader) end(err error) {
	if err == io.EOF {
		r.store, err = append(r.store, "\r\n"...), io.ErrUnexpectedEOF
	}
	r.err = err
}
