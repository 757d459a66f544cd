package slowclient_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/handlers/internal/slowclient"
)

// newFile creates a file of size zeros.
func newFile(tb testing.TB, size int64) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		tb.Fatal(err)
	}
	return path
}

// sending returns a handler that sends a file.
func sending(path string, limits slowclient.Limits) http.Handler {
	return limited(limits, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
}

// serveFile serves a new file over connections that implement Conn.
func serveFile(tb testing.TB, size int64, known *conn) *httptest.Server {
	server := httptest.NewUnstartedServer(sending(newFile(tb, size), slowclient.Limits{Stall: time.Minute, MinRate: 1 << 10}))
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return slowclient.ConnContext(ctx, known) }
	server.Start()
	tb.Cleanup(server.Close)
	return server
}

// TestAcknowledgedBytesCount tests that a client is regarded as active if the connection reports
// acknowledged bytes, even if writes make no progress for longer than the limit.
func TestAcknowledgedBytesCount(t *testing.T) {
	t.Parallel()
	const size, limit = 8 << 20, time.Second
	path := newFile(t, size)
	for name, perPoll := range map[string]int64{"taking": 1 << 20, "stalled": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				known := &conn{}
				known.pending.Store(1 << 40)
				known.perPoll.Store(perPoll)
				client := connect(t, known, sending(path, slowclient.Limits{Stall: limit, MinRate: 1 << 10}))
				answer := ask(t, client)
				synctest.Wait()
				if !known.unlimited.Load() {
					t.Error("the system's buffer is limited")
				}
				time.Sleep(3 * limit)
				n, err := io.Copy(io.Discard, answer.Body)
				if complete := n == size && err == nil; complete != (perPoll > 0) {
					t.Errorf("received %d bytes, %v", n, err)
				}
				synctest.Wait()
				if known.unlimited.Load() {
					t.Error("the system's buffer is not limited")
				}
			})
		})
	}
}

// TestHeadAndSmallBodyAreOneWrite uses a body that net/http alone would not send together with the
// header.
func TestHeadAndSmallBodyAreOneWrite(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]int64{0: 0, 1 << 10: 0, 2 << 10: 1, 4 << 10: 1, 16 << 10: 1, 16<<10 + 1: 0, 1 << 20: 0} {
		known := &conn{}
		server := serveFile(t, size, known)
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, answer.Body); n != size || err != nil || answer.Body.Close() != nil {
			t.Errorf("received %d of %d bytes, %v", n, size, err)
		}
		if got := known.corked.Load(); got != want {
			t.Errorf("a body of %d bytes was corked %d times, want %d", size, got, want)
		}
	}
}

// BenchmarkDownload sends a file from the disk to a client that reads all of it.
func BenchmarkDownload(b *testing.B) {
	for name, size := range map[string]int64{"4KiB": 4 << 10, "100KiB": 100 << 10, "64MiB": 64 << 20} {
		b.Run(name, func(b *testing.B) {
			server := serveFile(b, size, &conn{})
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				answer, err := http.Get(server.URL)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, answer.Body); n != size || err != nil || answer.Body.Close() != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// timed is a connection whose write deadlines the test changes.
type timed struct {
	*net.TCPConn
	adjust func(time.Time) time.Time
}

func (c *timed) SetWriteDeadline(at time.Time) error { return c.TCPConn.SetWriteDeadline(c.adjust(at)) }

// timedListener wraps its connections in timed.
type timedListener struct {
	net.Listener
	adjust func(time.Time) time.Time
}

func (l timedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &timed{conn.(*net.TCPConn), l.adjust}, nil
}

// TestUnknownConnectionsHaveNoShorterDeadlines tests connections that are not a Conn. A write that
// its deadline interrupts can continue only if the system reports how much it accepted. Windows
// does not report this. So on such connections each write gets the whole budget.
func TestUnknownConnectionsHaveNoShorterDeadlines(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 1<<20)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, serve := range map[string]http.HandlerFunc{
		"a file": func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) },
		"memory": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(content)))
			_, _ = w.Write(content)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nearest := &atomic.Int64{}
			nearest.Store(int64(time.Hour))
			server := httptest.NewUnstartedServer(limited(slowclient.Limits{Stall: limit}, serve))
			server.Listener = timedListener{server.Listener, func(at time.Time) time.Time {
				if !at.IsZero() {
					nearest.Store(min(nearest.Load(), int64(time.Until(at))))
				}
				return at
			}}
			server.Start()
			defer server.Close()
			answer, err := http.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, answer.Body)
			if n != int64(len(content)) || err != nil || answer.Body.Close() != nil {
				t.Errorf("received %d bytes, %v", n, err)
			}
			if in := time.Duration(nearest.Load()); in < limit/2 {
				t.Errorf("a write had a deadline of %v", in)
			}
		})
	}
}

// TestFileContinuesAfterAnEarlyDeadline makes every other deadline pass before the file is sent, as
// on a machine that was suspended. Sending must continue at the same offset.
func TestFileContinuesAfterAnEarlyDeadline(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i >> 8)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(sending(path, slowclient.Limits{Stall: limit}))
	var near atomic.Int64
	server.Listener = timedListener{server.Listener, func(at time.Time) time.Time {
		if !at.IsZero() && time.Until(at) < limit/2 && near.Add(1)%2 == 1 {
			return time.Unix(1, 0)
		}
		return at
	}}
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return slowclient.ConnContext(ctx, &conn{}) }
	server.Start()
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(answer.Body)
	if !bytes.Equal(got, content) || err != nil || answer.Body.Close() != nil || near.Load() < 2 {
		t.Errorf("received %d of %d bytes, or wrong ones, after %d deadlines: %v", len(got), len(content), near.Load(), err)
	}
}
