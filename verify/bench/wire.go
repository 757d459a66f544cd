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

// peer is a measured server. All peers are measured with the same client.
type peer struct {
	address string // host and port
	path    string // prefix of the path of every request
	key     string // "": no key is sent
}

// peerAt returns the server behind a base URL without TLS.
func peerAt(base, key string) peer {
	address, path, _ := strings.Cut(strings.TrimPrefix(base, "http://"), "/")
	return peer{address: address, path: strings.TrimSuffix("/"+path, "/"), key: key}
}

// get returns a GET request for a path of the peer, or for a URL from one of its answers.
func (p peer) get(url string) []byte { return p.request("GET", url, "") }

// request returns a request without a body, or the head of a request whose body is described by
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

// wire is a kept-alive connection with a minimal HTTP/1.1 client. It sends requests that were
// formatted in advance, and parses only the status and the length of an answer. It shares the
// processors with the measured server, so its own cost reduces the server's results. It is not safe
// for concurrent use.
type wire struct {
	conn     net.Conn
	in       []byte
	from, to int // received and not consumed: in[from:to]
	release  func() bool
}

// dial connects to a peer. The connection breaks when ctx is done. The caller closes the wire.
func dial(ctx context.Context, p peer) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &wire{conn: conn, in: make([]byte, 256<<10), release: release}, nil
}

// dials opens n connections.
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
	_ = w.conn.Close() // no request is pending
}

// want sends a request and returns the body of the answer, which must have the given status. The
// body is valid until the next call.
func (w *wire) want(status int, request []byte) ([]byte, error) {
	if _, err := w.conn.Write(request); err != nil {
		return nil, err
	}
	return w.answer(status)
}

// answer reads an answer, which must have the given status, and returns its body. The body is valid
// until the next call.
func (w *wire) answer(status int) ([]byte, error) {
	length, err := w.head(status)
	if err != nil {
		return nil, err
	}
	return w.take(length)
}

// head reads the head of an answer, which must have the given status, and returns the length of the
// body.
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
		return 0, 0, fmt.Errorf("not HTTP: %q", text)
	}
	if status, err = strconv.Atoi(string(text[9:12])); err != nil {
		return 0, 0, fmt.Errorf("not HTTP: %.100q", text)
	}
	if status == http.StatusNoContent {
		return status, 0, nil
	}
	_, rest, found := bytes.Cut(text, []byte(name))
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	length, err = strconv.Atoi(string(value))
	if !found || err != nil {
		return 0, 0, fmt.Errorf("an answer without a length: %.1000q", text)
	}
	return status, length, nil
}

// fill reads more bytes. If the buffer is full, it overwrites consumed bytes or grows.
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

// each passes the next n bytes to fn in parts of any size.
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

// textField returns the string value of a member of a JSON object as this service formats it, or
// "". The strings must not contain escaped characters.
func textField(body []byte, name string) string {
	_, rest, found := bytes.Cut(body, []byte(`"`+name+`": "`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	if !found {
		return ""
	}
	return string(text)
}
