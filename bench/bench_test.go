package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/e2e"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// program builds labshelf once for all tests.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "labshelf-bench")
	if err != nil {
		return "", err
	}
	return e2e.Build(context.Background(), folder)
})

func build(t *testing.T) (path string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMeasurements takes each measurement in its smallest size. What it says of the speed means nothing; but the rows must be
// there, with a figure for each round, and a service that keeps an upload in memory is found out in this size too.
func TestMeasurements(t *testing.T) {
	t.Parallel()
	path := build(t)
	want := map[string]int{"upload": 2, "memory": 2, "pages": 6}
	if runtime.GOOS != "linux" {
		want["memory"] = 1
	}
	for _, m := range measurements() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{plan: quick(), program: path, folder: t.TempDir(), progress: io.Discard}
			rows, err := m.run(b, t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != want[m.name] {
				t.Errorf("%d rows, want %d", len(rows), want[m.name])
			}
			for _, r := range rows {
				if len(r.ours) != b.rounds || len(r.theirs) != b.rounds || min(r.ours[0], r.theirs[0]) <= 0 {
					t.Errorf("%s: %v beside %v", r.what, r.ours, r.theirs)
				}
				if r.difference && r.missed() {
					t.Errorf("%s: %v above %v, which is over the limit", r.what, r.ours, r.theirs)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows := []row{
		{what: "uploads", unit: "1/s", ours: []float64{1000, 900, 1100}, beside: "bare", theirs: []float64{2000, 2000, 2000}},
		{what: "memory", unit: "MiB", ours: []float64{30, 32.5}, beside: "idle", theirs: []float64{12, 12}, difference: true, limit: 20},
		{what: "page", unit: "µs", ours: []float64{130, 130, 900}, beside: "few", theirs: []float64{100, 100, 100}, limit: 1.3},
		{what: "page", unit: "µs", ours: []float64{1.311}, beside: "few", theirs: []float64{1}, limit: 1.3},
	}
	want := strings.Join([]string{
		"| what | unit | median | min | max | beside | median | min | max | ratio | limit |",
		"|---|---|--:|--:|--:|---|--:|--:|--:|--:|---|",
		"| uploads | 1/s | 1000 | 900 | 1100 | bare | 2000 | 2000 | 2000 | 0.50 |  |",
		"| memory | MiB | 31.2 | 30.0 | 32.5 | idle | 12.0 | 12.0 | 12.0 | +20.5 | +20.0 MISSED |",
		"| page | µs | 130 | 130 | 900 | few | 100 | 100 | 100 | 1.30 | 1.30 kept |",
		"| page | µs | 1.31 | 1.31 | 1.31 | few | 1.00 | 1.00 | 1.00 | 1.31 | 1.30 MISSED |",
		"",
	}, "\n")
	if diff := cmp.Diff(want, table(rows)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// TestRun runs the command as people do.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args         []string
		code         int
		stdout, said string
	}{
		{args: []string{"speed"}, code: 2, said: `no measurement "speed": there are all, upload, memory, pages`},
		{args: []string{"-fast"}, code: 2, said: "-quick"},
		{args: []string{"-quick", "-dir", filepath.Join(t.TempDir(), "none"), "upload"}, code: 1, said: "none"},
		{args: []string{"-quick", "-dir", t.TempDir(), "-program", build(t), "upload"}, stdout: "| uploads of 4 KiB, clients: 16 | 1/s |", said: "upload, round 1"},
	} {
		t.Run(c.said, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(t.Context(), c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, &stderr)
			}
			if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.said) {
				t.Errorf("want %q and %q, printed:\n%s\n%s", c.stdout, c.said, &stdout, &stderr)
			}
		})
	}
}

// TestRunCleansUp sees that nothing is left on the disk, also of a run that is ended early.
func TestRunCleansUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	stderr := writerFunc(func(text []byte) (int, error) {
		cancel() // while the service runs
		return len(text), nil
	})
	if code := run(ctx, []string{"-quick", "-dir", dir, "-program", build(t), "upload"}, io.Discard, stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }
