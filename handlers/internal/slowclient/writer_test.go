package slowclient_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/handlers/internal/slowclient"
)

// TestWriterKeepsAbilities tests that a Writer has the optional interfaces of the server's writer,
// and that it passes a large file to the server's writer with ReadFrom.
func TestWriterKeepsAbilities(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var counted *readerFromCounter
	server := httptest.NewServer(http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		counted = &readerFromCounter{ResponseWriter: plain}
		var w http.ResponseWriter = &slowclient.Writer{}
		w.(*slowclient.Writer).Begin(counted, r, slowclient.Limits{Stall: time.Minute}, &slowclient.Buffers{})
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Error("no io.ReaderFrom")
		}
		if _, ok := w.(http.Flusher); !ok {
			t.Error("no http.Flusher")
		}
		if u, ok := w.(interface{ Unwrap() http.ResponseWriter }); !ok || u.Unwrap() != http.ResponseWriter(counted) {
			t.Error("no Unwrap")
		}
		control := http.NewResponseController(w)
		if err := errors.Join(control.SetReadDeadline(time.Now().Add(time.Minute)), control.SetWriteDeadline(time.Now().Add(time.Minute))); err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/flush" {
			_, _ = w.Write([]byte("part"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		file, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = file.Close() }()
		http.ServeContent(w, r, "", time.Time{}, file)
	}))
	defer server.Close()
	for header, want := range map[string][]byte{"": content, "bytes=0-9": content[:10], "bytes=3000000-": content[3_000_000:], "bytes=1048576-2097151": content[1<<20 : 2<<20]} {
		request, err := http.NewRequest("GET", server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Range", header)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("range %q: %d bytes, want %d, %v", header, len(got), len(want), err)
		}
		if small := len(want) <= 32<<10; small == (counted.files > 0) || small == (counted.written == 0) {
			t.Errorf("range %q: %d files and %d other bytes", header, counted.files, counted.written)
		}
	}
	response, err := server.Client().Get(server.URL + "/flush")
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 4)
	if _, err := io.ReadFull(response.Body, part); err != nil || string(part) != "part" {
		t.Errorf("after a flush, received %q, %v", part, err)
	}
	_ = response.Body.Close()
}

// readerFromCounter is a server's writer that records how it is called.
type readerFromCounter struct {
	http.ResponseWriter
	files   int // limited readers that directly wrap a file; the kernel can send these
	written int
}

func (c *readerFromCounter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *readerFromCounter) Write(p []byte) (int, error) {
	c.written += len(p)
	return c.ResponseWriter.Write(p)
}

func (c *readerFromCounter) ReadFrom(src io.Reader) (int64, error) {
	if limited, ok := src.(*io.LimitedReader); ok {
		if _, ok := limited.R.(*os.File); ok {
			c.files++
		}
	}
	return c.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
}

// stall is the stall timeout of the tests below.
const stall = 2 * time.Second

// inMemory answers with a body in one Write, and sends the error of the Write to ended.
func inMemory(body []byte, minRate int64) (handler http.Handler, ended chan error) {
	ended = make(chan error, 1)
	return limited(slowclient.Limits{Stall: stall, MinRate: minRate}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, err := w.Write(body)
		ended <- err
	}), ended
}

// TestSlowReaderGetsAll tests that a body in memory is sent completely and correctly to a slow
// client, across several deadlines.
func TestSlowReaderGetsAll(t *testing.T) {
	t.Parallel()
	body := make([]byte, 4<<20)
	for i := range body {
		body[i] = byte(i >> 12)
	}
	for name, known := range map[string]*conn{"known": {}, "unknown": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				handler, ended := inMemory(body, 1<<10)
				client := connect(t, known, handler)
				started := time.Now()
				response := ask(t, client)
				var got bytes.Buffer
				var err error
				for err == nil && got.Len() < len(body) {
					time.Sleep(stall / 4)
					_, err = io.CopyN(&got, response.Body, 1<<18)
				}
				if failed := <-ended; !bytes.Equal(got.Bytes(), body) || failed != nil {
					t.Errorf("received %d of %d bytes, or wrong ones: %v, %v", got.Len(), len(body), err, failed)
				}
				if took := time.Since(started); took < 2*stall {
					t.Errorf("it took %v, which is not longer than the limit", took)
				}
			})
		})
	}
}

// TestStalledReaderIsCutOff tests that a client that reads nothing is disconnected when its budget
// is used up, not at the first deadline.
func TestStalledReaderIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler, ended := inMemory(make([]byte, 1<<20), 1<<30)
		client := connect(t, &conn{}, handler)
		ask(t, client)
		started := time.Now()
		err := <-ended
		if took := time.Since(started); !errors.Is(err, os.ErrDeadlineExceeded) || took < stall*9/10 || took > stall*11/10 {
			t.Errorf("%v after %v", err, took)
		}
	})
}
