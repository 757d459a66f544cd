package client_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"labshelf/blobs"
	"labshelf/client"
	"labshelf/e2e"
)

// TestCutUploads: a file arrives over a line that breaks again and again, and nothing is sent twice but what was under way.
func TestCutUploads(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	const size, most = 8 << 20, 1 << 20
	proxy := must[*e2e.Proxy](t)(e2e.StartProxy(s.server.Listener.Addr().String(), func(int) e2e.Limit {
		return e2e.Limit{Bytes: 1 + rand.Int64N(most), How: []e2e.Ending{e2e.Close, e2e.Reset}[rand.IntN(2)]}
	}))
	t.Cleanup(func() { check(t, proxy.Close()) })
	direct := client.New("http://"+proxy.Addr()+"/v1", s.key)
	t.Cleanup(direct.Close)
	c, _ := hasty(direct, client.Retries{})
	text := noise(size)
	u := must[client.Upload](t)(c.BeginUpload(t.Context(), client.NewResource{SetID: s.set.ID, Name: "large", Digest: sha256.Sum256(text)}, size, ""))
	r := must[client.Resource](t)(c.ContinueUpload(t.Context(), u.ID, bytes.NewReader(text), size))
	same(t, r.SHA256, blobs.Digest(sha256.Sum256(text)))
	same(t, len(s.names(t)), 1)
	if _, cuts := proxy.Connections(); cuts < size/most {
		t.Errorf("%d cuts: too few to mean anything", cuts)
	}
	again := must[client.Resource](t)(c.ContinueUpload(t.Context(), u.ID, bytes.NewReader(text), size))
	same(t, again.ID, r.ID)
}

// TestUploadCalls: what there is to do with an upload, beside sending it.
func TestUploadCalls(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx := t.Context()
	old := must[client.Resource](t)(s.c.CreateResource(ctx, client.NewResource{SetID: s.set.ID, Name: "old"}, strings.NewReader("old"), 3))
	u := must[client.Upload](t)(s.c.BeginUpload(ctx, client.NewResource{Name: "new", Filename: "n.csv", Mimetype: "text/x-own", Format: "F", Description: "d"}, 3, old.ID, client.IfMatch(old.ETag)))
	same(t, must[client.Upload](t)(s.c.Upload(ctx, u.ID)), client.Upload{ID: u.ID, Length: 3})
	r := must[client.Resource](t)(s.c.ContinueUpload(ctx, u.ID, strings.NewReader("new"), 3))
	same(t, []string{r.ID, r.Name, r.Filename, r.Mimetype, r.Format, r.Description}, []string{old.ID, "new", "n.csv", "text/x-own", "F", "d"})
	same(t, must[client.Upload](t)(s.c.Upload(ctx, u.ID)), client.Upload{ID: u.ID, Offset: 3, Length: 3, ResourceID: old.ID})
	check(t, s.c.EndUpload(ctx, u.ID))
	_, err := s.c.Upload(ctx, u.ID)
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Code != "upload_not_found" {
		t.Error(err)
	}
	empty := must[client.Upload](t)(s.c.BeginUpload(ctx, client.NewResource{SetID: s.set.ID, Name: "empty"}, 0, ""))
	same(t, must[client.Resource](t)(s.c.ContinueUpload(ctx, empty.ID, strings.NewReader(""), 0)).ID, empty.ResourceID)
	u = must[client.Upload](t)(s.c.BeginUpload(ctx, client.NewResource{SetID: s.set.ID, Name: "wrong", Digest: blobs.Digest{1}}, 3, ""))
	for range 2 {
		if _, err := s.c.ContinueUpload(ctx, u.ID, strings.NewReader("new"), 3); !errors.As(err, &problem) || problem.Code != "digest_mismatch" {
			t.Errorf("another digest: %v", err)
		}
	}
	u = must[client.Upload](t)(s.c.BeginUpload(ctx, client.NewResource{SetID: s.set.ID, Name: "short"}, 5, ""))
	if _, err := s.c.ContinueUpload(ctx, u.ID, strings.NewReader("new"), 5); err == nil || !strings.Contains(err.Error(), "2 bytes less") {
		t.Errorf("a file that has shrunk: %v", err)
	}
	same(t, must[client.Upload](t)(s.c.Upload(ctx, u.ID)).Offset, int64(3))
	if _, err := s.c.BeginUpload(ctx, client.NewResource{SetID: s.set.ID, Name: "unknown"}, -1, ""); err == nil {
		t.Error("a file of unknown length is begun")
	}
}
