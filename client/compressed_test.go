package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"labshelf/client"
)

// TestCompressedPages: the client requests compressed listings, and reads compressed and
// uncompressed ones. A truncated or invalid compressed page is an error.
func TestCompressedPages(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	want := s.upload(t, "file", []byte("content")).ID
	var spoil atomic.Pointer[func([]byte) []byte]
	var compressed atomic.Int64
	c, _ := hasty(s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			service.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		service.ServeHTTP(answer, r)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(answer.Body.Bytes()) // writes to memory
		_ = z.Close()
		body := packed.Bytes()
		if change := spoil.Load(); change != nil {
			body = (*change)(body)
		}
		compressed.Add(1)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}), client.Retries{Tries: 1})
	got := collect(t, c.Sets.Resources(t.Context(), s.set.ID, client.ListOptions{}))
	if len(got) != 1 || got[0].ID != want || compressed.Load() == 0 {
		t.Errorf("%d resources, %d compressed pages", len(got), compressed.Load())
	}
	file := must[*client.File](t)(c.Resources.Data(t.Context(), want, 0, ""))
	check(t, file.Close())
	pages := compressed.Load()
	must[client.Resource](t)(c.Resources.Get(t.Context(), want))
	same(t, compressed.Load(), pages) // the client does not request compressed files and records
	for what, change := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"nothing": func([]byte) []byte { return nil },
		"spoilt":  func(b []byte) []byte { b[len(b)-6] ^= 1; return b },
	} {
		spoil.Store(&change)
		if _, err := client.FetchPage[client.Resource](t.Context(), c, s.set.Resources); !errors.Is(err, client.ErrIncomplete) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
