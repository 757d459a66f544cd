package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// peer is a server that is measured. All of them are asked by the same client.
type peer struct {
	address string // host and port
	path    string // before the path of every request
	key     string // "": none is sent
}

// peerAt returns the server behind a base URL without TLS.
func peerAt(base, key string) peer {
	address, path, _ := strings.Cut(strings.TrimPrefix(base, "http://"), "/")
	return peer{address: address, path: strings.TrimSuffix("/"+path, "/"), key: key}
}

// get returns a GET of a path below the peer's, or of a URL that it gave, as it goes over the wire.
func (p peer) get(url string) []byte { return p.request("GET", url, "") }

// request returns a request without a body, or the head of one that has a body described by more
// headers.
func (p peer) request(method, url, headers string) []byte {
	path, whole := strings.CutPrefix(url, "http://"+p.address)
	if !whole {
		path = p.path + url
	}
	key := ""
	if p.key != "" {
		key = "Authorization: " + p.key + "\r\n"
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", method, path, p.address, key, headers)
}

// wire is one kept-alive connection, and the least that a client of HTTP/1.1 can do over it: it
// sends requests that are formatted in advance and parses of an answer only its status and its
// length. It shares the processors with the server that it measures, so what it costs is missing
// there. Not safe for concurrent use.
type wire struct {
	conn     net.Conn
	in       []byte
	from, to int // received and not consumed: in[from:to]
	release  func() bool
}

// dial connects to a peer. At the end of ctx the connection breaks. The caller closes the wire.
func dial(ctx context.Context, p peer) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &wire{conn: conn, in: make([]byte, 256<<10), release: release}, nil
}

// dials connects several times.
func dials(ctx context.Context, p peer, n int) (wires []*wire, err error) {
	for range n {
		w, err := dial(ctx, p)
		if err != nil {
			closeAll(wires)
			return nil, err
		}
		wires = append(wires, w)
	}
	return wires, nil
}

func closeAll(wires []*wire) {
	for _, w := range wires {
		w.close()
	}
}

func (w *wire) close() {
	w.release()
	_ = w.conn.Close() // nothing is under way that could be lost
}

// want sends a request and returns the body of its answer, which must have this status. The body is
// valid until the next call.
func (w *wire) want(status int, request []byte) ([]byte, error) {
	if _, err := w.conn.Write(request); err != nil {
		return nil, err
	}
	return w.answer(status)
}

// answer reads an answer that must have this status, and returns its body, valid until the next
// call.
func (w *wire) answer(status int) ([]byte, error) {
	length, err := w.head(status)
	if err != nil {
		return nil, err
	}
	return w.take(length)
}

// head reads the head of an answer that must have this status, and returns the length of the body.
func (w *wire) head(status int) (length int, err error) {
	if w.from == w.to {
		w.from, w.to = 0, 0
	}
	var text []byte
	for {
		if end := bytes.Index(w.in[w.from:w.to], []byte("\r\n\r\n")); end >= 0 {
			text = w.in[w.from : w.from+end+2]
			w.from += end + 4
			break
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	got, length, err := parseHead(text)
	if err != nil || got == status {
		return length, err
	}
	body, err := w.take(length)
	return 0, errors.Join(fmt.Errorf("status %d instead of %d: %.500s", got, status, body), err)
}

// parseHead returns the status and the length of the body from the head of an answer.
func parseHead(text []byte) (status, length int, err error) {
	const name = "\r\nContent-Length: " // as both Go and nginx write it
	if len(text) < 12 {
		return 0, 0, fmt.Errorf("no HTTP: %q", text)
	}
	if status, err = strconv.Atoi(string(text[9:12])); err != nil {
		return 0, 0, fmt.Errorf("no HTTP: %.100q", text)
	}
	if status == http.StatusNoContent {
		return status, 0, nil
	}
	_, rest, found := bytes.Cut(text, []byte(name))
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	length, err = strconv.Atoi(string(value))
	if !found || err != nil {
		return 0, 0, fmt.Errorf("an answer that does not tell its length: %.1000q", text)
	}
	return status, length, nil
}

// fill reads more, over consumed bytes if there is no other room.
func (w *wire) fill() error {
	if w.to == len(w.in) {
		whole := w.in
		if w.from == 0 {
			whole = make([]byte, 2*len(w.in))
		}
		w.to = copy(whole, w.in[w.from:w.to])
		w.in, w.from = whole, 0
	}
	n, err := w.conn.Read(w.in[w.to:])
	w.to += n
	if n > 0 {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// take returns the next n bytes.
func (w *wire) take(n int) ([]byte, error) {
	for w.to-w.from < n {
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
	taken := w.in[w.from : w.from+n]
	w.from += n
	return taken, nil
}

// each gives the next n bytes to fn, part by part, in whatever sizes they come.
func (w *wire) each(n int, fn func([]byte) error) error {
	for n > 0 {
		if w.from == w.to {
			w.from, w.to = 0, 0
			if err := w.fill(); err != nil {
				return err
			}
		}
		part := w.in[w.from:min(w.to, w.from+n)]
		if err := fn(part); err != nil {
			return err
		}
		w.from += len(part)
		n -= len(part)
	}
	return nil
}

// textField returns the string of a member of a JSON object in the form of this service, or "".
// None of the strings contains characters that JSON escapes.
func textField(body []byte, name string) string {
	_, rest, found := bytes.Cut(body, []byte(`"`+name+`": "`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	if !found {
		return ""
	}
	return string(text)
}
