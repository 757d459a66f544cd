package handlers_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/handlers"
)

// told is a connection whose other end is said to take something between two looks, or nothing.
type told struct {
	net.Conn
	untaken, each atomic.Int64
	much          atomic.Bool
	gathered      atomic.Int64 // how often
}

func (t *told) Untaken() (int64, error) { return t.untaken.Add(-t.each.Load()), nil }
func (t *told) HoldBack(much bool)      { t.much.Store(much) }
func (t *told) Gather([]byte)           { t.gathered.Add(1) }
func (t *told) Release() error          { return nil }

// serveFile serves a new file of so many zeros to clients about whom line tells.
func serveFile(tb testing.TB, size int64, stall time.Duration, line *told) *httptest.Server {
	path := filepath.Join(tb.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handlers.Access(handlers.Config{Stall: stall, MinRate: 1 << 10}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(path)
		if err != nil {
			tb.Error(err)
			return
		}
		http.ServeContent(w, r, "zeros.bin", time.Time{}, file)
		_ = file.Close()
	})))
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return handlers.ConnContext(ctx, line)
	}
	server.Start()
	tb.Cleanup(server.Close)
	return server
}

// TestTaken has a client that takes nothing for longer than the limit, as far as writing to the connection shows: what counts is
// what the connection tells of him.
func TestTaken(t *testing.T) {
	t.Parallel()
	const size, limit = 64 << 20, time.Second
	for name, each := range map[string]int64{"taking": 1 << 20, "stalled": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := &told{}
			line.untaken.Store(1 << 40)
			line.each.Store(each)
			server := serveFile(t, size, limit, line)
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the system may hold back much", line.much.Load)
			time.Sleep(3 * limit)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, answer.Body)
			if whole := n == size && err == nil; whole != (each > 0) {
				t.Errorf("%d bytes came, %v", n, err)
			}
			eventually(t, "it may hold back little again", func() bool { return !line.much.Load() })
		})
	}
}

// TestGathered: the head goes with a body that is small, but not so small that they would go together anyway.
func TestGathered(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]int64{0: 0, 1 << 10: 0, 2 << 10: 1, 4 << 10: 1, 16 << 10: 1, 16<<10 + 1: 0, 1 << 20: 0} {
		line := &told{}
		server := serveFile(t, size, time.Minute, line)
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, answer.Body); n != size || err != nil || answer.Body.Close() != nil {
			t.Errorf("%d bytes of %d came, %v", n, size, err)
		}
		if got := line.gathered.Load(); got != want {
			t.Errorf("a body of %d bytes was gathered %d times, want %d", size, got, want)
		}
	}
}

// BenchmarkDownload is the way of a file from the disk to a client who reads it all.
func BenchmarkDownload(b *testing.B) {
	for name, size := range map[string]int64{"4KiB": 4 << 10, "100KiB": 100 << 10, "64MiB": 64 << 20} {
		b.Run(name, func(b *testing.B) {
			server := serveFile(b, size, time.Minute, &told{})
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

// timed is a connection that asks somebody before it sets the end of its writes.
type timed struct {
	*net.TCPConn
	adjust func(time.Time) time.Time
}

func (c *timed) SetWriteDeadline(at time.Time) error { return c.TCPConn.SetWriteDeadline(c.adjust(at)) }

// timedListener makes its connections timed.
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

// TestWholePatience: a write that its end has cut short can be gone on with only where the system says how much it took. Windows
// does not say it. So over a connection of which nothing is known each write gets the whole patience.
func TestWholePatience(t *testing.T) {
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
			server := httptest.NewUnstartedServer(handlers.Access(handlers.Config{Stall: limit}, serve))
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
				t.Errorf("%d bytes came, %v", n, err)
			}
			if in := time.Duration(nearest.Load()); in < limit/2 {
				t.Errorf("a write was to end in %v", in)
			}
		})
	}
}

// TestLateWrite has each other deadline pass before the file goes on its way, as on a machine that stood still for a while. The file
// is taken up where it was all the same.
func TestLateWrite(t *testing.T) {
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
	server := httptest.NewUnstartedServer(handlers.Access(handlers.Config{Stall: limit}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, path)
	})))
	var near atomic.Int64
	server.Listener = timedListener{server.Listener, func(at time.Time) time.Time {
		if !at.IsZero() && time.Until(at) < limit/2 && near.Add(1)%2 == 1 {
			return time.Unix(1, 0)
		}
		return at
	}}
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return handlers.ConnContext(ctx, &told{}) }
	server.Start()
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(answer.Body)
	if !bytes.Equal(got, content) || err != nil || answer.Body.Close() != nil || near.Load() < 2 {
		t.Errorf("%d bytes of %d came, or others, after %d deadlines: %v", len(got), len(content), near.Load(), err)
	}
}
