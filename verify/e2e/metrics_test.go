package e2e

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// TestMetrics tests that the metrics of the real program match the requests, follow the rules of
// promtool, and contain no data of the repository.
func TestMetrics(t *testing.T) {
	t.Parallel()
	const canary = "canary4711"
	data := filepath.Join(t.TempDir(), "data")
	service := serve(t, data, "--metrics", "sysadmin", "--slow-request", "1ns")
	_, set, err := service.MakeSet(t.Context(), canary)
	check(t, err)
	before := figures(t, service)
	const files, size = 3, 200_000 // too large for the metadata
	var last Resource
	for range files {
		file := File{SetID: set, Filename: canary, Body: bytes.NewReader(bytes.Repeat([]byte("x"), size)), Size: size}
		last, err = service.Upload(t.Context(), http.MethodPost, "/resources", file)
		check(t, err)
	}
	small := File{SetID: set, Filename: canary, Body: bytes.NewReader([]byte("small")), Size: 5}
	_, err = service.Upload(t.Context(), http.MethodPost, "/resources", small)
	check(t, err)
	check(t, service.Download(t.Context(), last.DataURL, io.Discard))
	var refused *StatusError
	if err := service.Call(t.Context(), http.MethodGet, "/sets/"+canary, nil, nil); !errors.As(err, &refused) {
		t.Errorf("the set %s exists: %v", canary, err)
	}
	check(t, service.Call(t.Context(), http.MethodDelete, "/resources/"+last.ID, nil, nil))
	check(t, service.Call(t.Context(), http.MethodPost, "/admin/purge", map[string]any{"olderThan": "0s", "grace": "0s"}, nil))
	var after map[string]float64
	scrapes := 1. // since the first metrics
	done := func() bool {
		return after["labshelf_moved_files_total"] > 0 && after["labshelf_held_files"] == before["labshelf_held_files"]
	}
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		scrapes++
		if after = figures(t, service); time.Now().After(deadline) {
			t.Fatal("the small body was not flushed to a file")
		}
	}

	for _, f := range []struct {
		name        string
		least, most float64 // expected growth
	}{
		{`labshelf_http_request_duration_seconds_count{method="POST",route="/v1/resources",status="2xx"}`, files + 1, files + 1},
		{`labshelf_http_request_duration_seconds_count{method="GET",route="/v1/resources/:id/data",status="2xx"}`, 1, 1},
		{`labshelf_http_request_duration_seconds_count{method="GET",route="/v1/sets/:id",status="4xx"}`, 1, 1},
		{`labshelf_http_request_duration_seconds_sum{method="POST",route="/v1/resources",status="2xx"}`, 1e-6, 60},
		{"labshelf_http_received_bytes_total", files * size, files*size + 10_000},
		{"labshelf_http_sent_bytes_total", size, size + 50_000*scrapes},
		{"labshelf_commit_operations_count", files + 2, 100},
		{"labshelf_commit_sync_seconds_sum", 1e-9, 60},
		{`labshelf_blob_call_duration_seconds_count{call="sync"}`, files + 1, files + 1},
		{`labshelf_blob_call_duration_seconds_count{call="rename"}`, files + 1, files + 1},
		{`labshelf_blob_call_duration_seconds_count{call="sync_folder"}`, files, files + 10},
		{`labshelf_purge_removed_files_total{what="resource"}`, 1, 1},
		{"labshelf_purge_duration_seconds_count", 1, 1},
		{"labshelf_moved_bytes_total", 5, 5},
		{"labshelf_held_files", 0, 0},
		{"labshelf_commit_failures_total", 0, 0},
		{"labshelf_read_only", 0, 0},
	} {
		if grown := after[f.name] - before[f.name]; grown < f.least || grown > f.most {
			t.Errorf("%s has grown by %g, want %g to %g", f.name, grown, f.least, f.most)
		}
	}
	info, err := os.Stat(filepath.Join(data, "meta.db"))
	check(t, err)
	if got := after["labshelf_metadata_file_bytes"]; got != float64(info.Size()) {
		t.Errorf("the metric of the metadata file is %g bytes, but the file has %d", got, info.Size())
	}
	log, err := os.ReadFile(data + ".log")
	check(t, err)
	slow := 0
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte("slow request")) {
			if slow++; bytes.Contains(line, []byte(canary)) {
				t.Errorf("%s", line)
			}
		}
	}
	if slow < files+8 {
		t.Errorf("only %d requests were logged as slow", slow)
	}
}

// figures returns the metrics of the service, by name and labels.
func figures(t *testing.T, service *Service) map[string]float64 {
	t.Helper()
	var text bytes.Buffer
	check(t, service.Download(t.Context(), strings.TrimSuffix(service.Base(), "/v1")+"/metrics", &text))
	problems, err := promlint.New(bytes.NewReader(text.Bytes())).Lint()
	check(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if strings.Contains(text.String(), "canary4711") {
		t.Errorf("the metrics contain data of the repository:\n%s", &text)
	}
	found := map[string]float64{}
	for line := range strings.Lines(text.String()) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); ok && err == nil {
			found[name] = number
		}
	}
	return found
}
