package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// dialed connects to a server that sends these bytes, split into texts.
func dialed(t *testing.T, texts ...string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w, err := dial(t.Context(), peer{address: listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, text := range texts {
			_, _ = io.WriteString(conn, text) // the other side may have closed
		}
		_ = conn.Close()
	}()
	t.Cleanup(func() {
		w.close()
		_ = listener.Close()
	})
	return w
}

func TestWire(t *testing.T) {
	t.Parallel()
	w := dialed(t, "HTTP/1.1 200 OK\r\nContent-Le", "ngth: 5\r\nDate: now\r\n\r", "\nhel", "loHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n",
		"Content-Length: 1000000\r\n\r\n", strings.Repeat("x", 1_000_000))
	for _, want := range []struct{ status, length int }{{200, 5}, {204, 0}, {200, 1_000_000}} {
		body, err := w.answer(want.status)
		if err != nil || len(body) != want.length {
			t.Errorf("%d bytes, %v; want %d", len(body), err, want.length)
		}
	}
	if _, err := w.answer(200); err == nil {
		t.Error("the end of the connection was parsed as an answer")
	}
}

func TestWireRefuses(t *testing.T) {
	t.Parallel()
	for answer, says := range map[string]string{
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull": "status 503 instead of 200: full",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":    "an answer without a length",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nless":                 "unexpected EOF",
		"nothing at all that is HTTP\r\n\r\n":                               "not HTTP",
		"no\r\n\r\n":                                                        "not HTTP",
	} {
		if _, err := dialed(t, answer).answer(200); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want %q", answer, err, says)
		}
	}
}

// TestUploader uploads to a server of Go's library, which must parse the sent parts.
func TestUploader(t *testing.T) {
	t.Parallel()
	const set, size = "01M8002HWVX08KPGK23GSVDRHY", 5000
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, body(size, 7)) || header.Filename != filenameOf(7) || r.FormValue("setId") != set {
			t.Errorf("%d bytes named %q for %q, %v", len(got), header.Filename, r.FormValue("setId"), err)
		}
		if r.URL.Path != "/v1/resources" || r.Header.Get("Authorization") != "secret" {
			t.Errorf("%s with the key %q", r.URL, r.Header.Get("Authorization"))
		}
		answer := "{\n  \"id\": \"one\",\n  \"sha256\": \"0000\"\n}\n"
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	at := peerAt(server.URL+"/v1", "secret")
	w, err := dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	u := newUploader(w, at, set, size, func() uint64 { return 7 })
	if err := u.upload(); err != nil {
		t.Fatal(err)
	}
	if err := u.verify(); err == nil {
		t.Error("verify accepts a wrong digest")
	}
	sum := sha256.Sum256(body(size, 7))
	u.receipts[0].digest = hex.EncodeToString(sum[:])
	if err := u.verify(); err != nil {
		t.Error(err)
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	const size = 3 * blockSize
	var whole bytes.Buffer
	if err := newLarge(size).send(&whole); err != nil || whole.Len() != size {
		t.Fatalf("%d bytes, %v", whole.Len(), err)
	}
	in := func(text []byte, step int) error {
		check := newLarge(size)
		for len(text) > 0 {
			n := min(step, len(text))
			if err := check.check(text[:n]); err != nil {
				return err
			}
			text = text[n:]
		}
		return nil
	}
	for _, step := range []int{1000, blockSize, blockSize + 1, size} {
		if err := in(whole.Bytes(), step); err != nil {
			t.Errorf("in steps of %d: %v", step, err)
		}
		swapped := bytes.Clone(whole.Bytes())
		copy(swapped, whole.Bytes()[blockSize:2*blockSize])
		if in(swapped, step) == nil {
			t.Errorf("in steps of %d: check accepts a block at the position of another one", step)
		}
		if in(append(bytes.Clone(whole.Bytes()), 0), step) == nil {
			t.Errorf("in steps of %d: check accepts an additional byte", step)
		}
	}
}
