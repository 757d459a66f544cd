package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestConnections(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[uint64]int{0: 1 << 20, 1: 1, 10: 5, 128: 64, 129: 65, 1024: 960, 1 << 63: 1 << 20, 1 << 20: 1<<20 - 64} {
		if got := connections(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

// TestGate: who comes when the house is full waits, and is let in when somebody leaves.
func TestGate(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gate := newGate(inner, 2)
	accepted, ended := make(chan net.Conn), make(chan error, 1)
	go func() {
		for {
			conn, err := gate.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- conn
		}
	}()
	var inside []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	for range 2 {
		inside = append(inside, <-accepted)
	}
	if _, ok := inside[0].(io.ReaderFrom); !ok {
		t.Error("files cannot go out by sendfile")
	}
	if n := gate.count(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	select {
	case <-accepted:
		t.Fatal("a third one was let in")
	case <-time.After(100 * time.Millisecond):
	}
	for range 2 { // closed twice, it makes room once
		_ = inside[0].Close() // the second time it is closed already
	}
	inside[0] = <-accepted
	if n := gate.count(); n != 2 {
		t.Errorf("%d connections once one has left and one has come, want 2", n)
	}
	if conn, err := net.Dial("tcp", inner.Addr().String()); err != nil || conn.Close() != nil {
		t.Fatal(err)
	}
	select {
	case <-accepted:
		t.Fatal("one left, two were let in")
	case <-time.After(100 * time.Millisecond):
	}
	// Full, it can still be closed.
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the end: %v", err)
	}
	if err := gate.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	for _, conn := range inside {
		_ = conn.Close() // nothing was sent
	}
}

// exhausted is a listener of a process that has no descriptors left for some time.
type exhausted struct {
	net.Listener
	failures int
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.failures--; l.failures >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestNoDescriptors: the service outlives a time without descriptors.
func TestNoDescriptors(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const room = 2
	server := &http.Server{ReadHeaderTimeout: headerTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newGate(&exhausted{inner, 3 * room}, room)) }()
	response, err := http.Get("http://" + inner.Addr().String())
	if err != nil || response.StatusCode != http.StatusNoContent || response.Body.Close() != nil {
		t.Errorf("%v, %v", response, err)
	}
	if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// TestSlowHeader: a header has its time, however it comes.
func TestSlowHeader(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	at, _ := start(t, io.Discard, "--stall-timeout", limit.String())
	address := strings.TrimSuffix(strings.TrimPrefix(at.address, "http://"), "/v1")
	started := time.Now()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	answer := make(chan error, 1)
	go func() {
		_, err := http.ReadResponse(bufio.NewReader(conn), nil)
		answer <- err
	}()
	const header = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: and on it goes, and on, and on, and on, and on"
	for i := 0; ; i++ {
		select {
		case err := <-answer:
			if took := time.Since(started); took < limit/2 || took > 3*limit {
				t.Errorf("cut off after %v: %v", took, err)
			}
			return
		case <-time.After(200 * time.Millisecond):
			_, _ = fmt.Fprint(conn, header[i%len(header):i%len(header)+1]) // it may be cut off by now
		}
	}
}
