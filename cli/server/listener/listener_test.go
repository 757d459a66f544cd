package listener

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnectionsFitDescriptors(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[uint64]int{0: 1 << 20, 1: 1, 10: 5, 128: 64, 129: 65, 1024: 960, 1 << 63: 1 << 20, 1 << 20: 1<<20 - 64} {
		if got := connections(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

// TestConnectionLimit: at the limit a new client waits, and is accepted when a connection is
// closed.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testConnectionLimit)
}

func testConnectionLimit(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := limit(inner, 2)
	accepted, ended := make(chan net.Conn), make(chan error, 1)
	go func() {
		for {
			conn, err := limited.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- conn
		}
	}()
	var open []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	for range 2 {
		open = append(open, <-accepted)
	}
	if _, ok := open[0].(io.ReaderFrom); !ok {
		t.Error("files cannot be sent with sendfile")
	}
	if n := limited.Count(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	synctest.Wait()
	select {
	case <-accepted:
		t.Fatal("a third connection was accepted")
	default:
	}
	for range 2 { // a second Close frees no second slot
		_ = open[0].Close() // already closed the second time
	}
	open[0] = <-accepted
	if n := limited.Count(); n != 2 {
		t.Errorf("%d connections after one was closed and one accepted, want 2", n)
	}
	if conn, err := net.Dial("tcp", inner.Addr().String()); err != nil || conn.Close() != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	select {
	case <-accepted:
		t.Fatal("one connection was closed, but two were accepted")
	default:
	}
	// A listener at the limit can still be closed.
	if err := limited.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the end: %v", err)
	}
	if err := limited.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	for _, conn := range open {
		_ = conn.Close() // no data were sent
	}
}

// exhausted is a listener of a process that temporarily has no descriptors.
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

// TestServesAfterDescriptorsRanOut: a server continues after a time without descriptors.
func TestServesAfterDescriptorsRanOut(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const room = 2
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limit(&exhausted{inner, 3 * room}, room)) }()
	response, err := http.Get("http://" + inner.Addr().String())
	if err != nil || response.StatusCode != http.StatusNoContent || response.Body.Close() != nil {
		t.Errorf("%v, %v", response, err)
	}
	if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
