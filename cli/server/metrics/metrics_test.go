package metrics

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/repository"
	"labshelf/repository/maintenance"
)

// scrape returns the metrics that are served now.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	got := httptest.NewRecorder()
	m.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	if got.Code != http.StatusOK || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d %v\n%s", got.Code, got.Header(), got.Body)
	}
	return got.Body.String()
}

// has fails the test unless the text contains each line.
func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("missing line %q", line)
		}
	}
	if t.Failed() {
		t.Log(ours(text))
	}
}

// ours returns the metrics without the Go runtime and the buckets.
func ours(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, namespace) && !strings.Contains(line, "_bucket") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// all returns metrics in which each value was observed once, over a real store.
func all(t *testing.T) *Metrics {
	t.Helper()
	m := New("1.2.3")
	dir := t.TempDir()
	store, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{Observe: m.Commits()})
	if err != nil {
		t.Fatal(err)
	}
	files, err := directory.Open(dir, m.Disk(directory.OS{}))
	if err != nil {
		t.Fatal(err)
	}
	service := repository.New(store, files, repository.Config{PageSize: 1, DirectoryPageSize: 1, Observer: m.Background()})
	t.Cleanup(func() {
		service.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	m.Add(Sources{Metadata: store.Stats, Condition: service.Monitor.Condition, Connections: func() int { return 7 }})
	if _, err := service.Users.Bootstrap(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	staged, err := files.Stage(context.Background(), strings.NewReader("body"), 0)
	if err == nil {
		_, err = staged.Commit(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Requests()(handlers.Observation{Method: "GET", Route: "/v1/sets/:id", Status: 404, Took: time.Second, Received: 3, Sent: 5})
	m.Requests()(handlers.Observation{Method: "GET", Route: "/v1/search", Status: 503, OverBudget: "requests"})
	w := m.Background()
	w.Purged(maintenance.PurgeResult{Resources: 1, ResourceBytes: 2, Versions: 11, VersionBytes: 12, Blobs: 3, BlobBytes: 4, Orphans: 5, OrphanBytes: 6, TrashFiles: 7, TrashBytes: 8},
		time.Minute, errors.New("a reason"))
	w.Scrubbed(10, true)
	w.Scrubbed(10, false)
	w.Flushed(metadata.BodyCount{Bodies: 2, Bytes: 9}, time.Second, nil)
	w.Flushed(metadata.BodyCount{Bodies: 50, Bytes: 50}, time.Second, errors.New("a reason"))
	return m
}

// TestNames checks the names of all metrics with the rules of promtool.
func TestNames(t *testing.T) {
	t.Parallel()
	problems, err := promlint.New(strings.NewReader(scrape(t, all(t)))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestValues: the values passed to the hooks are served.
func TestValues(t *testing.T) {
	t.Parallel()
	text := scrape(t, all(t))
	has(t, text,
		`labshelf_build_info{version="1.2.3"} 1`,
		`labshelf_http_request_duration_seconds_count{method="GET",route="/v1/sets/:id",status="4xx"} 1`,
		`labshelf_http_request_duration_seconds_bucket{method="GET",route="/v1/sets/:id",status="4xx",le="0.5"} 0`,
		`labshelf_http_request_duration_seconds_bucket{method="GET",route="/v1/sets/:id",status="4xx",le="1"} 1`,
		`labshelf_http_over_budget_total{method="GET",resource="requests",route="/v1/search"} 1`,
		`labshelf_http_received_bytes_total 3`, `labshelf_http_sent_bytes_total 5`, `labshelf_http_connections 7`,
		`labshelf_commit_operations_sum 1`, `labshelf_commit_operations_count 1`, `labshelf_commit_failures_total 0`,
		`labshelf_commit_wait_seconds_count 1`, `labshelf_commit_work_seconds_count 1`,
		`labshelf_commit_duration_seconds_count 1`, `labshelf_commit_sync_seconds_count 1`,
		`labshelf_blob_call_duration_seconds_count{call="create"} 1`, `labshelf_blob_call_duration_seconds_count{call="write"} 1`,
		`labshelf_blob_call_duration_seconds_count{call="sync"} 1`, `labshelf_blob_call_duration_seconds_count{call="rename"} 1`,
		`labshelf_purge_duration_seconds_sum 60`, `labshelf_purge_failures_total 1`,
		`labshelf_purge_removed_files_total{what="resource"} 1`, `labshelf_purge_removed_bytes_total{what="resource"} 2`,
		`labshelf_purge_removed_files_total{what="version"} 11`, `labshelf_purge_removed_bytes_total{what="version"} 12`,
		`labshelf_purge_removed_files_total{what="blob"} 3`, `labshelf_purge_removed_bytes_total{what="blob"} 4`,
		`labshelf_purge_removed_files_total{what="orphan"} 5`, `labshelf_purge_removed_bytes_total{what="orphan"} 6`,
		`labshelf_purge_removed_files_total{what="trash"} 7`, `labshelf_purge_removed_bytes_total{what="trash"} 8`,
		`labshelf_scrub_files_total 2`, `labshelf_scrub_bytes_total 20`, `labshelf_scrub_damaged_files_total 1`, `labshelf_scrub_passes_total 0`,
		`labshelf_moved_files_total 2`, `labshelf_moved_bytes_total 9`, `labshelf_move_failures_total 1`, `labshelf_move_duration_seconds_sum 2`,
		`labshelf_read_only 0`, `labshelf_failing 0`, `labshelf_damaged_files 0`, `labshelf_background_failures 0`,
	)
	positives := []string{"go_goroutines"}
	if runtime.GOOS == "linux" {
		positives = append(positives, "process_open_fds")
	}
	for _, of := range []string{"metadata_file_bytes", "metadata_free_pages", "metadata_free_bytes", "commit_sync_seconds_sum", "commit_work_seconds_sum"} {
		positives = append(positives, namespace+"_"+of)
	}
	for _, positive := range positives {
		if !regexp.MustCompile(`(?m)^` + positive + ` [0-9.e+-]*[1-9]`).MatchString(text) {
			t.Errorf("%s is not above 0", positive)
		}
	}
}

// TestErrorsInState: the state contains errors, and omits values that a database without statistics
// does not report.
func TestErrorsInState(t *testing.T) {
	t.Parallel()
	m := New("1.2.3")
	m.Add(Sources{
		Metadata:    func() (bolt.Stats, error) { return bolt.Stats{}, os.ErrClosed },
		Connections: func() int { return 0 },
		Condition: func(context.Context) maintenance.Condition {
			return maintenance.Condition{Status: maintenance.StatusFailing, Detail: maintenance.ConditionDetail{
				Failing: "/secret/path", ReadOnly: "/secret/path", ClockBehind: 1500 * time.Millisecond, Damaged: 3,
				Scrub: metadata.ScrubState{Passes: 4}, Inline: metadata.BodyCount{Bodies: 5, Bytes: 6}, Background: map[string]string{"a": "/secret/path", "b": "/secret/path"},
			}}
		},
	})
	text := scrape(t, m)
	has(t, text, "labshelf_read_only 1", "labshelf_failing 1", "labshelf_clock_behind_seconds 1.5", "labshelf_damaged_files 3",
		"labshelf_background_failures 2", "labshelf_scrub_passes_total 4", "labshelf_held_files 5", "labshelf_held_bytes 6")
	for _, absent := range []string{"secret", "metadata_"} {
		if strings.Contains(text, absent) {
			t.Errorf("%s is shown", absent)
		}
	}
}

// TestOff: nil metrics are valid, and measure nothing.
func TestOff(t *testing.T) {
	t.Parallel()
	var m *Metrics
	w := m.Background()
	if m.Handler() != nil || m.Requests() != nil || m.Commits() != nil || w.Purged != nil || w.Scrubbed != nil || w.Flushed != nil {
		t.Error("nil metrics return a hook")
	}
	if disk := m.Disk(directory.OS{}); disk != (directory.OS{}) {
		t.Errorf("the disk is a %T", disk)
	}
	m.Add(Sources{})
}

// TestDisk: a measured disk fulfills the contract of a disk, and hides no error.
func TestDisk(t *testing.T) {
	t.Parallel()
	disk, path := New("1.2.3").Disk(directory.OS{}), filepath.Join(t.TempDir(), "file")
	file, err := disk.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"a", "b"} {
		if n, err := file.Write([]byte(part)); n != 1 || err != nil {
			t.Error(n, err)
		}
	}
	if err := errors.Join(file.Sync(), file.Close(), disk.Rename(path, path+"2"), disk.SyncDir(filepath.Dir(path))); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path + "2"); err != nil || !bytes.Equal(got, []byte("ab")) {
		t.Errorf("%q, %v", got, err)
	}
	if err := disk.Remove(path + "2"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"rename": disk.Rename(path, path+"2"), "remove": disk.Remove(path), "sync_folder": disk.SyncDir(path), "sync": file.Sync(),
	} {
		if err == nil {
			t.Errorf("%s of a missing file succeeded", what)
		}
	}
	if _, err := disk.Create(filepath.Join(path, "below")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file in a missing folder: %v", err)
	}
}

// BenchmarkHooks measures the cost of the hooks for the request, the commit and the file of an
// upload.
func BenchmarkHooks(b *testing.B) {
	m := New("1.2.3")
	request, commit := m.Requests(), m.Commits()
	b.ReportAllocs()
	for b.Loop() {
		request(handlers.Observation{Method: "POST", Route: "/v1/resources", Status: 201, Took: time.Millisecond, Received: 4096, Sent: 900})
		commit(groupcommit.Commit{Operations: 3, Waited: time.Millisecond, Work: time.Millisecond, Took: time.Millisecond, Synced: time.Millisecond})
	}
}
