package multipart

import (
	"bytes"
	"io"
	"net/textproto"
)

// Part is one part of a body.
type Part struct {
	Header textproto.MIMEHeader

	reader *Reader
	first  bool // nothing of it has been read: a boundary ends it here without the line break before
	ended  bool
	ready  int // bytes at the front of the store that are known to be in it
}

// Read reads the content of the part, as it was sent. io.EOF: a boundary follows, or Next has been
// called. Other errors are those of Next.
func (p *Part) Read(b []byte) (int, error) {
	r := p.reader
	if r.part != p {
		return 0, io.EOF
	}
	for p.ready == 0 && !p.ended {
		if p.find() {
			break
		}
		if len(b)-len(r.store[r.at:]) >= leastRead && !p.first && r.err == nil {
			if n := p.readInto(b); n > 0 {
				return n, nil
			}
		} else if err := r.fill(); err != nil {
			return 0, err
		}
	}
	if p.ended {
		return 0, io.EOF
	}
	n := copy(b, r.store[r.at:r.at+p.ready])
	r.at += n
	p.ready -= n
	p.first = p.first && n == 0
	return n, nil
}

// find scans the store. False: more bytes are needed to decide.
func (p *Part) find() bool {
	p.ready, p.ended = p.scan(p.reader.store[p.reader.at:])
	return p.ready > 0 || p.ended
}

// readInto reads directly into b, after what is in the store, and puts back what may not be in the
// part. It returns how many bytes are; with none, there is more to find in the store, or an error.
func (p *Part) readInto(b []byte) int {
	r := p.reader
	stored := copy(b, r.store[r.at:])
	n, err := r.src.Read(b[stored:])
	b = b[:stored+n]
	ready, _ := p.scan(b)
	r.store, r.at = append(r.store[:0], b[ready:]...), 0
	r.end(err)
	return ready
}

// scan returns how many bytes at the front of data are in the part, as far as data tells, and
// whether the part ends before them.
func (p *Part) scan(data []byte) (ready int, ended bool) {
	if p.first {
		switch after(data, p.reader.dashes) {
		case yes:
			return 0, true
		case maybe:
			return 0, false
		}
	}
	divider := p.reader.divider
	at := bytes.Index(data, divider)
	if at < 0 {
		// The line break is found nowhere else in a divider.
		tail := data[max(0, len(data)-len(divider)+1):]
		if begin := bytes.LastIndexByte(tail, divider[0]); begin >= 0 && bytes.HasPrefix(divider, tail[begin:]) {
			return len(data) - len(tail) + begin, false
		}
		return len(data), false
	}
	switch after(data[at:], divider) {
	case yes:
		return at, at == 0
	case maybe:
		return at, false
	}
	return at + len(divider), false
}

type answer int

const (
	no answer = iota
	maybe
	yes
)

// after tells whether data begins with a boundary, and not with something longer.
func after(data, boundary []byte) answer {
	rest, ok := bytes.CutPrefix(data, boundary)
	switch {
	case !ok && bytes.HasPrefix(boundary, data), ok && len(rest) == 0, ok && string(rest) == "-":
		return maybe
	case !ok:
		return no
	case rest[0] == ' ', rest[0] == '\t', rest[0] == '\r', rest[0] == '\n', bytes.HasPrefix(rest, []byte("--")):
		return yes
	}
	return no
}
