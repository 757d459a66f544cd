package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"labshelf/internal/servers"
)

// counted counts the requests to an S3 server by their method.
type counted struct {
	mu       sync.Mutex
	requests map[string]int
}

// since returns the requests since its last call, for example GET:1 PUT:2.
func (c *counted) since() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer clear(c.requests)
	return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(c.requests), "map["), "]")
}

// TestRequestsToS3 tests that detecting the type of an uploaded file requires no request. A preview
// takes one GET for each part that the page reads, and an inline view takes another one for the
// type. The search index reads the text once.
func TestRequestsToS3(t *testing.T) {
	t.Parallel()
	executable, err := program()
	check(t, err)
	store := servers.StartS3(t)
	proxy := servers.StartFaults(t, store)
	c := &counted{requests: map[string]int{}}
	proxy.Rule(func(r *http.Request) servers.Fault {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests[r.Method]++
		return servers.Fault{}
	})
	folder := t.TempDir()
	settings, err := servers.Settings("bolt", store, folder)
	check(t, err)
	_, settings, _ = strings.Cut(settings, "\n") // without the line of the metadata
	data := filepath.Join(folder, "node")
	check(t, os.Mkdir(data, 0o700))
	check(t, os.WriteFile(filepath.Join(data, "config.toml"), []byte(strings.ReplaceAll(settings, store.Endpoint(), proxy.Endpoint())), 0o600))
	s, err := Start(context.WithoutCancel(t.Context()), executable, data, "--scrub-period", "0")
	check(t, err)
	t.Cleanup(func() { check(t, s.Stop()) })
	_, set, err := s.MakeSet(t.Context(), "runs")
	check(t, err)
	content := strings.Repeat("These are the notes of a run.\n", 20_000) // 600 kB, not inline
	c.since()
	r, err := s.Upload(t.Context(), http.MethodPost, "/resources",
		File{SetID: set, Filename: "notes.dat", Type: "application/vnd.ms-excel", Body: strings.NewReader(content), Size: int64(len(content))})
	check(t, err)
	var status struct{ State, Texts string }
	waitUntil(t, func() bool {
		check(t, s.Get(t.Context(), "/admin/index", &status))
		return status.State == "current" && status.Texts == "current"
	})
	seen := map[string]string{"upload and index": c.since()}
	for what, header := range map[string]string{"head of a preview": "bytes=0-65535", "a part": "bytes=100000-165535", "whole": ""} {
		fields := http.Header{}
		if header != "" {
			fields.Set("Range", header)
		}
		a, err := s.Exchange(t.Context(), http.MethodGet, "/resources/"+r.ID+"/data", fields, nil)
		check(t, err)
		if a.Status/100 != 2 {
			t.Errorf("%s: %v", what, a.Problem())
		}
		seen[what] = c.since()
	}
	check(t, s.Download(t.Context(), "/resources/"+r.ID+"/data?disposition=inline", io.Discard))
	seen["shown in place"] = c.since()
	t.Log(seen)
	// An upload is put and verified, and the index reads the text. Opening a file requests its
	// size. An inline view of a file with a generic type reads its first bytes separately.
	want := map[string]string{
		"upload and index": "GET:1 HEAD:2 PUT:1", "head of a preview": "GET:1 HEAD:1", "a part": "GET:1 HEAD:1", "whole": "GET:1 HEAD:1",
		"shown in place": "GET:2 HEAD:1",
	}
	if !maps.Equal(seen, want) {
		t.Errorf("the requests are %v, want %v", seen, want)
	}
}
