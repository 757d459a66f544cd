// Package pipetest provides a listener whose connections are pipes, for tests in bubbles of
// testing/synctest. In a bubble, time advances while both ends of a pipe wait. It does not advance
// while they wait for a socket.
package pipetest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Listener is a net.Listener of the bubble in which it was created.
type Listener struct {
	dialled chan net.Conn
	closed  chan struct{}
	close   func()
}

// Serve serves requests in the bubble of t until t ends.
func Serve(t *testing.T, server *http.Server) *Listener {
	t.Helper()
	l := &Listener{dialled: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return l
}

// Dial returns the client's end of a new connection. It is closed when t ends.
func (l *Listener) Dial(t *testing.T) net.Conn {
	near, far := net.Pipe()
	l.dialled <- conn{far}
	t.Cleanup(func() { _ = near.Close() })
	return near
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error { l.close(); return nil }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{} }

// conn is the server's end of a pipe. Like a TCP connection it accepts a body with one call, until
// its deadline.
type conn struct{ net.Conn }

// RemoteAddr implements net.Conn. It returns a loopback address.
func (c conn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// ReadFrom implements io.ReaderFrom.
func (c conn) ReadFrom(src io.Reader) (sent int64, err error) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := src.Read(chunk)
		switch {
		case err == io.EOF:
			return sent, nil
		case err != nil:
			return sent, err
		}
		taken, err := c.Write(chunk[:n])
		sent += int64(taken)
		if back, ok := src.(io.Seeker); ok && taken < n { // the position reports how much was accepted, as with a TCP connection
			_, seeking := back.Seek(int64(taken-n), io.SeekCurrent)
			err = errors.Join(err, seeking)
		}
		if err != nil {
			return sent, err
		}
	}
}
