package client

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/client"
)

// TestHarvestMetadata: the records of a mirror contain their descriptive metadata and follow their
// changes. The files are not fetched again.
func TestHarvestMetadata(t *testing.T) {
	t.Parallel()
	s, dir := start(t), t.TempDir()
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a.csv", "text")
	describe := func(patch client.Metadata) {
		must[client.Resource](t)(s.client.Resources.Edit(t.Context(), r.ID, client.ResourceEdit{Metadata: patch}))
	}
	describe(`{"tags":["first"]}`)
	for _, what := range []string{"runs", "all"} {
		to := filepath.Join(dir, what)
		harvest := func(want string) {
			t.Helper()
			if got := s.run(t, "", "harvest", what, to); got.error != nil {
				t.Fatal(got)
			}
			lines := strings.Split(strings.TrimSpace(string(must[[]byte](t)(os.ReadFile(filepath.Join(to, "metadata.jsonl"))))), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, want) {
				t.Errorf("%s: the last line is %s", what, last)
			}
		}
		harvest(`"metadata":{"tags":["first"]}`)
		describe(`{"tags":["second"]}`)
		var fetched atomic.Int32
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/data") {
				fetched.Add(1)
			}
			on(w, r)
		})
		harvest(`"metadata":{"tags":["second"]}`)
		if fetched.Load() != 0 {
			t.Errorf("%s: %d files were fetched again", what, fetched.Load())
		}
		describe(`{"tags":["first"]}`)
	}
}

// TestHarvestOlderService: a service that cannot list metadata is mirrored without metadata.
func TestHarvestOlderService(t *testing.T) {
	t.Parallel()
	s, dir := start(t), t.TempDir()
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "a.csv", "text")
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("fields") {
			on(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"about:blank","title":"Bad Request","status":400,"detail":"unknown","code":"invalid_parameter","field":"fields","requestId":"x"}`)
	})
	for _, what := range []string{"runs", "lab", "all"} {
		to := filepath.Join(dir, what)
		for _, args := range [][]string{{"harvest", what, to}, {"harvest", what, to, "--from-start"}, {"harvest", what, to}} {
			if got := s.run(t, "", args...); got.error != nil {
				t.Errorf("%q: %v", args, got)
			}
		}
		if text := must[[]byte](t)(os.ReadFile(filepath.Join(to, "metadata.jsonl"))); !strings.Contains(string(text), `"name":"a.csv"`) {
			t.Errorf("%s: %s", what, text)
		}
	}
}
