package handlers_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"labshelf/blobs/blobstest"
	"labshelf/handlers"
	"labshelf/handlers/internal/pipetest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// bubble is a service in memory in a bubble of testing/synctest, where waiting takes no real time.
type bubble struct {
	*pipetest.Listener
	t   *testing.T
	log *journal
	key string
	set string
}

// slowMetadata delays each change.
type slowMetadata struct {
	metadata.Store
	delay time.Duration
}

func (s *slowMetadata) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.delay):
		return s.Store.Update(ctx, fn)
	}
}

// newBubble starts a service with a set, and metadata that the test can slow down.
func newBubble(t *testing.T, config handlers.Config) (*bubble, *slowMetadata) {
	t.Helper()
	meta := &slowMetadata{Store: metadatatest.NewMemory(time.Now)}
	repo := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100})
	t.Cleanup(repo.Close)
	b := &bubble{t: t, log: &journal{}}
	config.Log = zerolog.New(b.log)
	b.Listener = pipetest.Serve(t, &http.Server{Handler: handlers.New(repo, config)})
	var err error
	if b.key, err = repo.Users.Bootstrap(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	dataspace := b.send("POST", "/dataspaces", raw{"application/json", []byte(`{"name": "lab"}`)}).want(http.StatusCreated).object().text("id")
	b.set = b.send("POST", "/sets", raw{"application/json", fmt.Appendf(nil, `{"name": "runs", "dataspaceId": %q}`, dataspace)}).want(http.StatusCreated).object().text("id")
	return b, meta
}

// head returns the head of a request to the HTTP API or the drive, without the headers of the body.
func (b *bubble) head(method, path string) string {
	if !strings.HasPrefix(path, "/dav/") {
		path = "/v1" + path
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n", method, path, b.key)
}

// send sends a request over a new connection.
func (b *bubble) send(method, path string, body raw) *answer {
	b.t.Helper()
	return b.drip(method, path, body, len(body.body), 0)
}

// drip is like send, for a body in chunks with a pause before each.
func (b *bubble) drip(method, path string, body raw, chunk int, pause time.Duration) *answer {
	b.t.Helper()
	conn := b.Dial(b.t)
	go func() {
		_, err := io.WriteString(conn, b.head(method, path)+fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n\r\n", body.contentType, len(body.body)))
		for rest := body.body; err == nil && len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
			time.Sleep(pause)
			_, err = conn.Write(rest[:min(chunk, len(rest))])
		}
	}()
	return b.read(method+" "+path, bufio.NewReader(conn))
}

// upload creates a resource with this content.
func (b *bubble) upload(content string) (id string) {
	b.t.Helper()
	return b.send("POST", "/resources", form(text("setId", b.set), file("a", content))).want(http.StatusCreated).object().text("id")
}

// read reads a complete answer.
func (b *bubble) read(what string, reader *bufio.Reader) *answer {
	b.t.Helper()
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return &answer{t: b.t, what: what, status: response.StatusCode, header: response.Header, body: body}
}

// slowLines returns the log lines about slow requests.
func (b *bubble) slowLines() (slow []string) {
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, `"slow request"`) {
			slow = append(slow, line)
		}
	}
	return slow
}
