package handlers_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

// stall is the stall timeout of these tests.
const stall = 2 * time.Second

// temporary lists the folder of unfinished uploads.
func (g *gateway) temporary(t *testing.T) []os.DirEntry {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(g.dir, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// eventually waits for a condition after the client has disconnected.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s: not within 20 s", what)
			return
		}
	}
}

// TestSlowClientsAreServed tests that a request may take longer than the limit while its client
// makes progress.
func TestSlowClientsAreServed(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 100_000)
	t.Run("slow upload", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBubble(t, handlers.Config{Stall: stall})
			started, body := time.Now(), form(text("setId", b.set), file("a", content))
			made := b.drip("POST", "/resources", body, len(body.body)/16+1, stall/2).want(http.StatusCreated)
			same(t, "sha256", made.object().text("sha256"), sha256Hex(content))
			same(t, "the upload took longer than the limit", time.Since(started) > 7*stall, true)
		})
	})
	t.Run("slow download", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBubble(t, handlers.Config{Stall: stall})
			conn := b.Dial(t)
			_, err := io.WriteString(conn, b.head("GET", "/resources/"+b.upload(content)+"/data")+"\r\n")
			same(t, "the request", err, nil)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			for got := 0; got < len(content); {
				time.Sleep(stall / 2)
				n, err := io.ReadFull(response.Body, make([]byte, min(len(content)/16, len(content)-got)))
				if got += n; err != nil {
					t.Fatalf("after %d of %d bytes: %v", got, len(content), err)
				}
			}
			same(t, "the download took longer than the limit", time.Since(started) > 7*stall, true)
		})
	})
	t.Run("after a pause", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, testPause)
	})
}

// testPause sends an upload that waits for 100 Continue on a connection that has been idle for
// longer than the limit.
func testPause(t *testing.T) {
	b, _ := newBubble(t, handlers.Config{Stall: stall})
	conn, body := b.Dial(t), form(text("setId", b.set), file("a", "content"))
	reader := bufio.NewReader(conn)
	send := func(what, text string, status int) {
		t.Helper()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		b.read(what, reader).want(status)
	}
	send("first request", b.head("GET", "/status")+"\r\n", http.StatusOK)
	time.Sleep(2 * stall)
	send("the go-ahead", b.head("POST", "/resources")+fmt.Sprintf("Expect: 100-continue\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		body.contentType, len(body.body)), http.StatusContinue)
	send("the upload", string(body.body), http.StatusCreated)
	time.Sleep(2 * stall)
	send("an answer without a body", b.head("OPTIONS", "/resources")+"\r\n", http.StatusNoContent)
}

// TestStalledUploadLeavesNothing tests that a client that stops sending is disconnected, and leaves
// nothing.
func TestStalledUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{Stall: stall})
	s := c.newSpace(nil)
	set := s.newSet()
	before := c.dump()
	t.Run("all", func(t *testing.T) {
		for _, tc := range []struct{ method, path, contentType, body string }{
			{"POST", "/resources", "multipart/form-data; boundary=" + boundary, string(form(text("setId", set), file("a", strings.Repeat("x", 100_000))).body[:50_000])},
			{"POST", "/resources", "multipart/form-data; boundary=" + boundary, "--" + boundary + "\r\nContent-Dispo"},
			{"POST", "/resources", "multipart/form-data; boundary=" + boundary, "--" + boundary + "\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx"},
			{"POST", "/sets", "application/json", `{"name": "`},
			{"PUT", "/sets/" + set, "application/json", `{"title": "`},
		} {
			t.Run(tc.method+tc.path, func(t *testing.T) {
				t.Parallel()
				testStall(c.on(t), tc.method, tc.path, "Content-Type: "+tc.contentType+"\r\nContent-Length: 200000\r\n\r\n"+tc.body)
			})
		}
	})
	eventually(t, "no temporary file", func() bool { return len(c.temporary(t)) == 0 })
	same(t, "the records", c.dump(), before)
}

func testStall(c *client, method, path, rest string) {
	_, reader := c.dial("%s /v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n%s", method, path, c.key, rest)
	started := time.Now()
	a := c.readRaw(reader, method, path).problem(http.StatusRequestTimeout, "request_timeout", "")
	if took := time.Since(started); took < stall/2 || took > 5*stall {
		c.t.Errorf("%s: cut off after %v", a.what, took)
	}
	if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) && !errors.As(err, new(*net.OpError)) {
		c.t.Errorf("%s: the connection stays open: %v", a.what, err)
	}
}

// TestStalledDownloadIsCutOff tests that a client that stops reading is disconnected.
func TestStalledDownloadIsCutOff(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	shortStall := s.configured(handlers.Config{Stall: stall})
	path := "/resources/" + s.upload(s.newSet(), "big", strings.Repeat("x", 16<<20)).text("id") + "/data"
	conn, _ := shortStall.dial("GET /v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", path, s.key)
	started := time.Now()
	eventually(t, "the end of the request in the log", func() bool { return strings.Contains(shortStall.log.String(), `"status":200`) })
	if took := time.Since(started); took < stall/2 {
		t.Errorf("cut off after %v", took)
	}
	got, err := io.Copy(io.Discard, conn)
	if got >= 16<<20 {
		t.Errorf("received all %d bytes, %v", got, err)
	}
}

// TestBrokenUploadLeavesNothing closes the connection in the middle of a body.
func TestBrokenUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	whole := form(text("setId", s.newSet()), file("a", strings.Repeat("x", 300_000)))
	path := "/resources/" + s.newResource()
	before, disk := c.dump(), c.disk(t)
	for _, cut := range []int{10, 100, 200, 1000, 100_000, len(whole.body) - 30, len(whole.body) - 6} {
		for _, to := range []string{"POST /resources", "PUT " + path} {
			method, path, _ := strings.Cut(to, " ")
			body := whole.body[:cut]
			conn, reader := c.dial("%s /v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
				method, path, c.key, whole.contentType, len(whole.body), body)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			c.readRaw(reader, method, path).problem(http.StatusBadRequest, "invalid_body", "")
			conn, _ = c.dial("%s /v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s",
				method, path, c.key, whole.contentType, len(whole.body), body)
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ended := func() int {
		return strings.Count(c.log.String(), `"status":400`) + strings.Count(c.log.String(), `"status":503`)
	}
	eventually(t, "every request has ended", func() bool { return ended() == 28 })
	same(t, "temporary files", len(c.temporary(t)), 0)
	same(t, "the records", c.dump(), before)
	same(t, "the blobs", slices.Equal(c.disk(t), disk), true)
	c.get("/status").want(http.StatusOK)
}

// readRaw reads the answer on a raw connection, and checks it like any other.
func (c *client) readRaw(reader *bufio.Reader, method, path string) *answer {
	c.t.Helper()
	request := c.request(method, path, nil, nil)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	if err := suite.check(exchange{request, nil, false, response, body}); err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
	}
	return &answer{t: c.t, what: method + " " + path, status: response.StatusCode, header: response.Header, body: body}
}
