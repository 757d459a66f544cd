package handlers_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"

	"labshelf/handlers"
)

// askForMemory asks for one body that is in memory, over a connection that takes little at once. ended gets the error of its
// Write.
func askForMemory(t *testing.T, config handlers.Config, body []byte) (conn net.Conn, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	server := httptest.NewUnstartedServer(handlers.Access(config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, err := w.Write(body)
		ended <- err
	})))
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return handlers.ConnContext(ctx, &told{}) }
	server.Start()
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	same(t, "small buffer", conn.(*net.TCPConn).SetReadBuffer(64<<10), nil)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	same(t, "the request", err, nil)
	return conn, ended
}

// TestSlowReaderOfMemory: what is in memory goes on for as long as it is taken, past the deadlines in the middle, and arrives as
// it is.
func TestSlowReaderOfMemory(t *testing.T) {
	t.Parallel()
	body := make([]byte, 16<<20)
	for i := range body {
		body[i] = byte(i >> 12)
	}
	started := time.Now()
	conn, ended := askForMemory(t, handlers.Config{Stall: stall, MinRate: 1 << 10}, body)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for err == nil && got.Len() < len(body) {
		time.Sleep(beat)
		_, err = io.CopyN(&got, response.Body, 1<<20)
	}
	if !bytes.Equal(got.Bytes(), body) {
		t.Errorf("%d bytes of %d came, or others: %v", got.Len(), len(body), err)
	}
	same(t, "the error of the write", <-ended, nil)
	same(t, "it took longer than the limit", time.Since(started) > stall, true)
}

// TestStalledReaderOfMemory: whoever takes nothing is cut off when his patience is over, not at the first deadline.
func TestStalledReaderOfMemory(t *testing.T) {
	t.Parallel()
	started := time.Now()
	_, ended := askForMemory(t, handlers.Config{Stall: stall, MinRate: 1 << 30}, make([]byte, 64<<20))
	err := <-ended
	if took := time.Since(started); !errors.Is(err, os.ErrDeadlineExceeded) || took < stall/2 || took > 5*stall {
		t.Errorf("%v after %v", err, took)
	}
}
