package handlers_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

// ways are the methods for sending a chunk and for terminating an upload, directly and with POST
// only.
type ways struct {
	chunk, end func(c *client, at string, headers ...string) *answer
}

func bothWays() map[string]ways {
	of := func(method string, override bool) func(c *client, at string, headers ...string) *answer {
		return func(c *client, at string, headers ...string) *answer {
			c.t.Helper()
			body := raw{}
			if method == http.MethodPatch {
				body = raw{"application/offset+octet-stream", []byte("con")}
			}
			if override {
				return c.bad(http.MethodPost, at, body, append(headers, "X-HTTP-Method-Override: "+method)...)
			}
			return c.bad(method, at, body, headers...)
		}
	}
	return map[string]ways{
		"as they are":  {of(http.MethodPatch, false), of(http.MethodDelete, false)},
		"all as POSTs": {of(http.MethodPatch, true), of(http.MethodDelete, true)},
	}
}

// TestTusStatuses tests the status of each refusal, with each method, and that the answers have the
// version of the protocol.
func TestTusStatuses(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, editor := s.newSet(), s.newMember("editor")
	const offset = "Upload-Offset: 0"
	at := editor.begin(3, "setId", set, "filename", "a")
	for name, way := range bothWays() {
		t.Run(name, func(t *testing.T) {
			s, editor := &space{s.on(t), s.dataspace}, editor.on(t)
			refused := func(a *answer, status int, code errs.Code, field string) {
				t.Helper()
				a.problem(status, code, field)
				same(t, "Tus-Resumable", a.header.Get("Tus-Resumable"), "1.0.0")
			}
			at := s.begin(7, "setId", set, "filename", "a")
			refused(way.chunk(s.client, at, offset), http.StatusPreconditionFailed, "unsupported_tus_version", "Tus-Resumable")
			refused(way.chunk(s.client, at, offset, "Tus-Resumable: 0.2.2"), http.StatusPreconditionFailed, "unsupported_tus_version", "Tus-Resumable")
			refused(way.end(s.client, at), http.StatusPreconditionFailed, "unsupported_tus_version", "Tus-Resumable")
			refused(way.chunk(s.client, at, inTus), http.StatusBadRequest, "missing_field", "Upload-Offset")
			refused(way.chunk(s.client, at, inTus, "Upload-Offset: 1"), http.StatusConflict, "offset_mismatch", "Upload-Offset")
			refused(way.chunk(s.client, at, inTus, offset, "Upload-Checksum: sha1 AAAA"), 460, "checksum_mismatch", "Upload-Checksum")
			refused(way.chunk(s.withKey("").on(t), at, inTus, offset), http.StatusUnauthorized, "unauthenticated", "")
			refused(way.end(s.withKey("").on(t), at, inTus), http.StatusUnauthorized, "unauthenticated", "")
			refused(way.chunk(editor, at, inTus, offset), http.StatusNotFound, "upload_not_found", "")
			same(t, "Upload-Offset", way.chunk(s.client, at, inTus, offset).want(http.StatusNoContent).header.Get("Upload-Offset"), "3")
			way.end(s.client, at, inTus).want(http.StatusNoContent)
			refused(way.end(s.client, at, inTus), http.StatusNotFound, "upload_not_found", "")
		})
	}
	for _, tc := range []struct {
		method, path, contentType string
		headers                   []string
	}{
		{"POST", "/uploads", "text/plain", []string{"Upload-Length: 3", uploadMetadata("setId", set, "filename", "a")}},
		{"POST", "/uploads", "application/json", []string{"Upload-Length: 3", uploadMetadata("setId", set, "filename", "a")}},
		{"PATCH", at, "application/octet-stream", []string{offset}},
		{"POST", at, "application/octet-stream", []string{offset, "X-HTTP-Method-Override: PATCH"}},
	} {
		body := raw{tc.contentType, []byte("con")}
		editor.bad(tc.method, tc.path, body, append(tc.headers, inTus)...).problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "")
	}
	for _, method := range []string{"", "GET", "PUT", "patch"} {
		editor.bad("POST", at, nil, inTus, "X-HTTP-Method-Override: "+method).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
	}
}

// TestTusStatusesAtTheEnd tests that errors of a complete file are reported as such, for each way
// of sending the last chunk.
func TestTusStatusesAtTheEnd(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, set := s.newMember("editor"), s.newSet()
	at := editor.begin(3, "setId", set, "filename", "a")
	s.send("DELETE", "/privileges/"+editor.get("/privileges?userId=me").data()[0].text("id"), nil).want(http.StatusNoContent)
	body := raw{"application/offset+octet-stream", []byte("con")}
	override := "X-HTTP-Method-Override: PATCH"
	editor.send("POST", at, body, inTus, "Upload-Offset: 0", override).problem(http.StatusForbidden, "forbidden", "")
	editor.send("POST", at, nil, inTus, "X-HTTP-Method-Override: HEAD").problem(http.StatusForbidden, "forbidden", "")
	first := s.send("POST", "/uploads", body, inTus, "Upload-Length: 7", uploadMetadata("setId", set, "filename", "b"), "Upload-Checksum: md5 AAAA")
	first.problem(460, "checksum_mismatch", "Upload-Checksum")
	at = first.header.Get("Location")
	s.stands(at, 0, 7)
	shown := s.send("POST", at, nil, inTus, "X-HTTP-Method-Override: HEAD").want(http.StatusOK).object()
	same(t, "the upload, by a POST", fmt.Sprint(shown["url"], shown["offset"], shown["length"], shown["resourceUrl"]), fmt.Sprint(at, 0, 7, nil))
}

// TestTusStatusOfExpired tests that an expired upload is reported as such, for as long as it is
// remembered.
func TestTusStatusOfExpired(t *testing.T) {
	t.Parallel()
	oneNode(t) // another node may have removed the upload by then
	c, pass := inTime(t)
	at := c.begin(3, "setId", c.newSpace(nil).newSet(), "filename", "a")
	pass(61 * time.Minute)
	for _, way := range bothWays() {
		way.chunk(c, at, inTus, "Upload-Offset: 0").problem(http.StatusGone, "upload_expired", "")
		way.end(c, at, inTus).problem(http.StatusGone, "upload_expired", "")
	}
	c.get(at).problem(http.StatusGone, "upload_expired", "")
}

// gate is a store in which a chunk waits until the gate is opened, before or after the chunk has
// been read.
type gate struct {
	*directory.Store
	begun, open chan struct{}
	after       bool
	once        *sync.Once
}

func newGate(after bool) *gate {
	return &gate{begun: make(chan struct{}), open: make(chan struct{}), after: after, once: &sync.Once{}}
}

func (g *gate) service(t *testing.T) *client {
	return gatewayOver(t, handlers.Config{}, repository.Config{}, func(store *directory.Store) blobs.Folder {
		g.Store = store
		return g
	})
}

func (g *gate) wait() {
	g.once.Do(func() { close(g.begun) })
	<-g.open
}

func (g *gate) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
	if !g.after {
		g.wait()
	}
	mark, err := g.Store.AppendPartial(ctx, p, r, most)
	if g.after {
		g.wait()
	}
	return mark, err
}

// TestTusSecondRequestIsLocked tests that other requests get 423 while a chunk cannot be stopped.
// The chunk that they tried to stop also gets 423, and none of its bytes count.
func TestTusSecondRequestIsLocked(t *testing.T) {
	oneNode(t) // another node would continue while this one is stuck
	t.Parallel()
	g := newGate(false)
	c := g.service(t)
	at := c.begin(7, "setId", c.newSpace(nil).newSet(), "filename", "a")
	var stuck, others sync.WaitGroup
	stuck.Go(func() { c.chunk(at, 0, "content").problem(http.StatusLocked, "locked", "") })
	<-g.begun
	for _, way := range bothWays() {
		others.Go(func() { way.chunk(c, at, inTus, "Upload-Offset: 0").problem(http.StatusLocked, "locked", "") })
		others.Go(func() { way.end(c, at, inTus).problem(http.StatusLocked, "locked", "") })
	}
	others.Go(func() {
		a := c.get(at, inTus)
		a.problem(http.StatusLocked, "locked", "")
		same(t, "Retry-After", a.header.Get("Retry-After"), "1")
	})
	others.Wait()
	close(g.open)
	stuck.Wait()
	c.stands(at, 0, 7)
	made := c.chunk(at, 0, "content").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	same(t, "the file", string(c.get(made+"/data").want(http.StatusOK).body), "content")
}

// TestTusLateStopIsHarmless stops a chunk that has arrived completely while the disk is slow. This
// affects neither the chunk nor the next request of its client on the same connection.
func TestTusLateStopIsHarmless(t *testing.T) {
	t.Parallel()
	g := newGate(true)
	c := g.service(t)
	at := c.begin(7, "setId", c.newSpace(nil).newSet(), "filename", "a")
	var slow sync.WaitGroup
	var made string
	slow.Go(func() {
		made = c.chunk(at, 0, "content").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	})
	<-g.begun
	c.get(at, inTus).problem(http.StatusLocked, "locked", "")
	close(g.open)
	slow.Wait()
	for range 3 {
		same(t, "the resource", c.stands(at, 7, 7), made)
	}
}

// TestTusLongestStrings tests that an upload accepts the same strings as a form.
func TestTusLongestStrings(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	of := func(n int) string { return strings.Repeat("t", n) }
	pairs := []string{"setId", s.newSet(), "filename", of(4096), "name", of(4096), "format", of(100), "description", of(16 << 10), "sha256", sha256Hex("content")}
	at := s.begin(7, pairs...)
	same(t, "Upload-Metadata", "Upload-Metadata: "+s.head(at).header.Get("Upload-Metadata"), uploadMetadata(pairs...))
	made := s.get(s.chunk(at, 0, "content").want(http.StatusNoContent).header.Get("Labshelf-Resource")).object()
	same(t, "description", made.text("description"), of(16<<10))
}
