package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"labshelf/internal/servers"
	"labshelf/internal/testhome"
	"labshelf/verify/e2e"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	_ = testhome.Remove()
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

// withNginx reports whether rows that compare with nginx are measured.
func withNginx() bool {
	return installed("nginx") || installed("/usr/sbin/nginx")
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// TestMeasurements runs each measurement in its smallest size. The measured speed has no meaning,
// but each row must have a result for each round. This size also detects a program that keeps its
// data in memory, and a harvest with unnecessary requests.
func TestMeasurements(t *testing.T) {
	t.Parallel()
	path := build(t)
	want := map[string]struct{ always, onLinux, nginx, curl, rclone, restServer int }{ // number of rows: always, and in addition on Linux or with the named tool
		"uploads":      {always: 5},
		"cluster":      {always: 9},
		"replacements": {always: 2},
		"large":        {always: 2, onLinux: 1, nginx: 1},
		"downloads":    {always: 2},
		"listings":     {always: 7, nginx: 1},
		"startup":      {always: 2, onLinux: 1},
		"delete":       {always: 1},
		"put":          {onLinux: 1, curl: 2},
		"drive":        {rclone: 3},
		"harvest":      {always: 1},
		"search":       {always: 3},
		"peers":        {restServer: 10},
	}
	for _, m := range measurements() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{plan: quick(), program: path, folder: t.TempDir(), progress: io.Discard}
			rows, err := m.run(b, t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m.name == "cluster" && len(rows) == 0 {
				servers.Missing(t, servers.ErrMissing)
			}
			w := want[m.name]
			count := w.always
			if installed("curl") {
				count += w.curl
			}
			if installed("rclone") {
				count += w.rclone
			}
			if onLinux {
				count += w.onLinux
			}
			if withNginx() {
				count += w.nginx
			}
			if _, err := findRestServer(); err == nil && w.restServer > 0 {
				count += w.restServer
				if onLinux {
					count += 2 // the two rows for the peak memory
				}
			}
			if len(rows) != count {
				t.Errorf("%d rows, want %d", len(rows), count)
			}
			for _, r := range rows {
				checkRow(t, r)
			}
		})
	}
}

func checkRow(t *testing.T, r row) {
	t.Helper()
	if len(r.ours) != 1 || len(r.theirs) != 1 || r.ours[0] <= 0 || r.reference != "" && r.theirs[0] <= 0 {
		t.Errorf("%s: got %v, compared with %v", r.what, r.ours, r.theirs)
	}
	if (strings.HasSuffix(r.what, "peak memory") || strings.HasSuffix(r.what, "requests")) && r.missed() {
		t.Errorf("%s: %v exceeds the target, compared with %v", r.what, r.ours, r.theirs)
	}
}

// TestVersus compares a program with itself.
func TestVersus(t *testing.T) {
	t.Parallel()
	path := build(t)
	measurements, err := versusOf([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{plan: quick(), program: path, folder: t.TempDir(), progress: io.Discard}
	rows, err := measurements[0].run(b, t.Context())
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, want 5: %v", len(rows), err)
	}
	for _, r := range rows {
		checkRow(t, r)
	}
}

// TestFilledIsSound tests that fill and fillVersions create a repository without damage. If a
// service found damage during a measurement, its records would change.
func TestFilledIsSound(t *testing.T) {
	t.Parallel()
	b := &bench{plan: quick(), program: build(t), folder: t.TempDir(), progress: io.Discard}
	var open closers
	s, err := b.filledSet(t.Context(), &open, "filled", 200, 3)
	if err == nil {
		_, _, err = b.replaced(t.Context(), &open)
	}
	if open.close(&err); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{s.data, filepath.Join(b.folder, "replaced")} {
		if o, err := e2e.Run(t.Context(), b.program, "check", "--data", data); err != nil || o.Code != 0 {
			t.Errorf("%s: %v, %v", data, o, err)
		}
	}
}

// TestRun tests the command line.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args         []string
		code         int
		stdout, said string
	}{
		{args: []string{"speed"}, code: 2, said: `no measurement "speed": there are all, uploads, replacements, large, downloads, listings, startup, delete`},
		{args: []string{"-fast"}, code: 2, said: "-quick"},
		{args: []string{"versus"}, code: 2, said: "versus takes the file of another labshelf"},
		{args: []string{"-quick", "-dir", t.TempDir(), "-program", build(t), "versus", build(t)}, stdout: "| 4 KiB uploads, clients: 16 | 1/s |", said: "clients: 1, round 1"},
		{args: []string{"-quick", "-dir", filepath.Join(t.TempDir(), "none"), "startup"}, code: 1, said: "none"},
		{args: []string{"-quick", "-dir", t.TempDir(), "-program", build(t), "startup"}, stdout: "| start to first answer | ms |", said: "starts, round 1"},
	} {
		t.Run(c.said, func(t *testing.T) {
			t.Parallel()
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

// TestRunCleansUp tests that an interrupted run leaves no files on the disk.
func TestRunCleansUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	stderr := writerFunc(func(text []byte) (int, error) {
		cancel() // while the service runs
		return len(text), nil
	})
	if code := run(ctx, []string{"-quick", "-dir", dir, "-program", build(t), "uploads"}, io.Discard, stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

func TestClosers(t *testing.T) {
	t.Parallel()
	var open closers
	var order []int
	for i := range 3 {
		open.later(func() error { order = append(order, i); return os.ErrClosed })
	}
	err := error(io.ErrUnexpectedEOF)
	open.close(&err)
	if len(order) != 3 || order[0] != 2 || !errors.Is(err, os.ErrClosed) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("closed in the order %v, with the error %v", order, err)
	}
}
