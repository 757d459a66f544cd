package client_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/client"
	"labshelf/internal/cutproxy"
)

// TestUploadContinuesAfterCuts: a file arrives over a connection that breaks repeatedly, and only
// bytes in flight are sent twice.
func TestUploadContinuesAfterCuts(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	const size, most = 8 << 20, 1 << 20
	proxy := must[*cutproxy.Proxy](t)(cutproxy.Start(s.server.Listener.Addr().String(), func(int) cutproxy.Limit {
		return cutproxy.Limit{Bytes: 1 + rand.Int64N(most), How: []cutproxy.Ending{cutproxy.Close, cutproxy.Reset}[rand.IntN(2)]}
	}))
	t.Cleanup(func() { check(t, proxy.Close()) })
	direct := client.New("http://"+proxy.Addr()+"/v1", s.key)
	t.Cleanup(direct.Close)
	c, _ := hasty(direct, client.Retries{})
	text := noise(size)
	u := must[client.Upload](t)(c.Uploads.Begin(t.Context(), client.NewResource{SetID: s.set.ID, Name: "large", Digest: sha256.Sum256(text)}, size, ""))
	r := must[client.Resource](t)(c.Uploads.Continue(t.Context(), u.ID, bytes.NewReader(text), size))
	same(t, r.SHA256, blobs.Digest(sha256.Sum256(text)))
	same(t, len(s.names(t)), 1)
	if _, cuts := proxy.Connections(); cuts < size/most {
		t.Errorf("%d cuts are too few for this test", cuts)
	}
	again := must[client.Resource](t)(c.Uploads.Continue(t.Context(), u.ID, bytes.NewReader(text), size))
	same(t, again.ID, r.ID)
}

// TestUploadCalls tests the calls about an upload, except sending it.
func TestUploadCalls(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx := t.Context()
	old := must[client.Resource](t)(s.c.Resources.Create(ctx, client.NewResource{SetID: s.set.ID, Name: "old"}, strings.NewReader("old"), 3))
	u := must[client.Upload](t)(s.c.Uploads.Begin(ctx, client.NewResource{Name: "new", Filename: "n.csv", Mimetype: "text/x-own", Format: "F", Description: "d"}, 3, old.ID, client.IfMatch(old.ETag)))
	same(t, must[client.Upload](t)(s.c.Uploads.Get(ctx, u.ID)), client.Upload{ID: u.ID, Length: 3})
	r := must[client.Resource](t)(s.c.Uploads.Continue(ctx, u.ID, strings.NewReader("new"), 3))
	same(t, []string{r.ID, r.Name, r.Filename, r.Mimetype, r.Format, r.Description}, []string{old.ID, "new", "n.csv", "text/x-own", "F", "d"})
	same(t, must[client.Upload](t)(s.c.Uploads.Get(ctx, u.ID)), client.Upload{ID: u.ID, Offset: 3, Length: 3, ResourceID: old.ID})
	check(t, s.c.Uploads.End(ctx, u.ID))
	_, err := s.c.Uploads.Get(ctx, u.ID)
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Code != "upload_not_found" {
		t.Error(err)
	}
	empty := must[client.Upload](t)(s.c.Uploads.Begin(ctx, client.NewResource{SetID: s.set.ID, Name: "empty"}, 0, ""))
	same(t, must[client.Resource](t)(s.c.Uploads.Continue(ctx, empty.ID, strings.NewReader(""), 0)).ID, empty.ResourceID)
	u = must[client.Upload](t)(s.c.Uploads.Begin(ctx, client.NewResource{SetID: s.set.ID, Name: "wrong", Digest: blobs.Digest{1}}, 3, ""))
	for range 2 {
		if _, err := s.c.Uploads.Continue(ctx, u.ID, strings.NewReader("new"), 3); !errors.As(err, &problem) || problem.Code != "digest_mismatch" {
			t.Errorf("another digest: %v", err)
		}
	}
	const size = 5 + 64<<10 // the last 64 KiB are a separate chunk
	u = must[client.Upload](t)(s.c.Uploads.Begin(ctx, client.NewResource{SetID: s.set.ID, Name: "short"}, size, ""))
	for _, size := range []int64{0, 2} { // fewer bytes than the announced length
		short := must[client.Upload](t)(s.c.Uploads.Begin(ctx, client.NewResource{SetID: s.set.ID, Name: "short"}, size, ""))
		if r, err := s.c.Uploads.Continue(ctx, short.ID, strings.NewReader("new"), size); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d bytes", size)) {
			t.Errorf("the first %d bytes resulted in %+v, %v", size, r, err)
		}
	}
	if _, err := s.c.Uploads.Continue(ctx, u.ID, strings.NewReader("new"), size); err == nil || !strings.Contains(err.Error(), "2 bytes less than 5") {
		t.Errorf("a file that has become shorter: %v", err)
	}
	same(t, must[client.Upload](t)(s.c.Uploads.Get(ctx, u.ID)).ResourceID, "")
	if _, err := s.c.Uploads.Begin(ctx, client.NewResource{SetID: s.set.ID, Name: "unknown"}, -1, ""); err == nil {
		t.Error("an upload of unknown length has begun")
	}
}

// sendFirst sends the first bytes of an upload, like another client.
func (s shelf) sendFirst(t *testing.T, id string, b []byte) {
	t.Helper()
	request := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPatch, s.server.URL+"/v1/uploads/"+id, bytes.NewReader(b)))
	for name, value := range map[string]string{
		"Authorization": s.key, "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream",
	} {
		request.Header.Set(name, value)
	}
	response := must[*http.Response](t)(http.DefaultClient.Do(request))
	same(t, response.StatusCode, http.StatusNoContent)
	check(t, response.Body.Close())
}

// TestResumedUploadOfChangedFile: bytes sent by an earlier process and by this one together are the
// present file, or the upload fails.
func TestResumedUploadOfChangedFile(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	now := noise(300 << 10)
	for name, tc := range map[string]struct {
		sent []byte // sent by the earlier process
		code errs.Code
	}{"the same": {now[:100<<10], ""}, "another": {noise(100 << 10), errs.CodeDigestMismatch}, "all of another": {noise(len(now)), ""}} {
		u := must[client.Upload](t)(s.c.Uploads.Begin(t.Context(), client.NewResource{SetID: s.set.ID, Name: name}, int64(len(now)), ""))
		s.sendFirst(t, u.ID, tc.sent)
		r, err := s.c.Uploads.Continue(t.Context(), u.ID, bytes.NewReader(now), int64(len(now)))
		var problem *client.Problem
		switch {
		case len(tc.sent) == len(now): // the upload was already complete
			same(t, r.SHA256, blobs.Digest(sha256.Sum256(tc.sent)))
		case tc.code == "":
			same(t, r.SHA256, blobs.Digest(sha256.Sum256(now)))
		case !errors.As(err, &problem) || problem.Code != tc.code:
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	same(t, s.names(t), []string{"all of another", "the same"})

	older := s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		r.Header.Del("Labshelf-SHA256")
		service.ServeHTTP(w, r)
	})
	u := must[client.Upload](t)(s.c.Uploads.Begin(t.Context(), client.NewResource{SetID: s.set.ID, Name: "older"}, int64(len(now)), ""))
	s.sendFirst(t, u.ID, noise(100<<10))
	if _, err := older.Uploads.Continue(t.Context(), u.ID, bytes.NewReader(now), int64(len(now))); !errors.Is(err, client.ErrAnotherFile) {
		t.Errorf("a service that does not compare the digest: %v", err)
	}
}

// TestEmptyUploadIsBegunOnce: an empty file is complete when its upload begins, and is not created
// again if the response is lost.
func TestEmptyUploadIsBegunOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	var count atomic.Int64
	c, _ := hasty(s.behind(t, fault(lost).at(1, &count)), client.Retries{})
	if u, err := c.Uploads.Begin(t.Context(), client.NewResource{SetID: s.set.ID, Name: "empty"}, 0, ""); err == nil {
		t.Errorf("it has begun: %+v", u)
	}
	same(t, s.names(t), []string{"empty"})
}

// TestChunksAreRetried tests the number of attempts for a chunk, and the waits between them.
func TestChunksAreRetried(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, tc := range []struct {
		what  string
		fault fault
		id    string // "" for the id of an upload
		tries int64
		waits []time.Duration // minimum waits
		words string
	}{
		{"a service that requests a wait", answers(503, "unavailable", "7"), "", 2, []time.Duration{7 * time.Second}, ""},
		{"a service that requests too long a wait", answers(503, "unavailable", "31"), "", 1, nil, "503"},
		{"one that has a fault", answers(500, "internal", ""), "", 2, []time.Duration{0}, ""},
		{"no id", nil, "..", 0, nil, "an id is empty"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			var count atomic.Int64
			c, waits := hasty(s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
				if r.Method == http.MethodPatch {
					tc.fault.at(1, &count)(w, r, service)
					return
				}
				service.ServeHTTP(w, r)
			}), client.Retries{})
			id := tc.id
			if id == "" {
				id = must[client.Upload](t)(c.Uploads.Begin(t.Context(), client.NewResource{SetID: s.set.ID, Name: tc.what}, 3, "")).ID
			}
			_, err := c.Uploads.Continue(t.Context(), id, strings.NewReader("new"), 3)
			if (err == nil) != (tc.words == "") || err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("got %v", err)
			}
			same(t, count.Load(), tc.tries)
			same(t, len(waits.all), len(tc.waits))
			for i, least := range tc.waits {
				if waits.all[i] < least {
					t.Errorf("it waited for %v, want at least %v", waits.all[i], least)
				}
			}
		})
	}
}
