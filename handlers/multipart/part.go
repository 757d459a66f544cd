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
	first  bool // nothing of it has been read: a boundary may follow without a line break
	ended  bool
	ready  int // bytes at the front of the store that belong to the part
}

// Read reads the content of the part as it was sent. It returns io.EOF at the next boundary or
// after a call of Next, otherwise the errors of Next.
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

// find scans the store. It returns false if it needs more bytes to decide.
func (p *Part) find() bool {
	p.ready, p.ended = p.scan(p.reader.store[p.reader.at:])
	return p.ready > 0 || p.ended
}

// readInto reads directly into b, after the bytes in the store. It moves back bytes that might not
// belong to the part. It returns the number of bytes that do. If that is 0, the store has more to
// scan, or an error occurred.
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

// scan returns how many bytes at the front of data certainly belong to the part, and whether the
// part ends after them.
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
		// A divider contains its line break only at the beginning.
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

// after reports whether data begins with a boundary that nothing extends.
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
