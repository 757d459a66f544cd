package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScale creates two repositories and compares one with the other. check finds no problem in
// them before and after.
func TestScale(t *testing.T) {
	t.Parallel()
	folder, program := t.TempDir(), build(t)
	check := func(data string) {
		t.Helper()
		if output, err := exec.CommandContext(t.Context(), program, "check", "--data", data).CombinedOutput(); err != nil {
			t.Errorf("check: %v\n%s", err, output)
		}
	}
	var datas []string
	for name, resources := range map[string]string{"small": "300", "large": "700"} {
		data := filepath.Join(folder, name)
		datas = append(datas, data)
		var stdout, stderr strings.Builder
		args := []string{"fill", "-resources", resources, "-sets", "10", "-dataspaces", "2", "-bodies", "50", data}
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 || !strings.Contains(stderr.String(), resources+" resources, ") {
			t.Fatalf("fill: exit code %d\n%s", code, &stderr)
		}
		check(data)
	}
	var stdout, stderr strings.Builder
	args := append([]string{"-quick", "-dir", folder, "-program", program, "scale"}, datas...)
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("scale: exit code %d\n%s", code, &stderr)
	}
	rows := 7
	if onLinux {
		rows++
	}
	if got := strings.Count(stdout.String(), " resources: "); got != rows {
		t.Errorf("%d rows, want %d:\n%s", got, rows, &stdout)
	}
	for _, data := range datas {
		check(data)
	}
}

// TestScaleUsage calls the two commands with invalid arguments.
func TestScaleUsage(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		code int
		said string
	}{
		"fill without a directory":   {[]string{"fill"}, 2, "fill takes one new data directory"},
		"fill without sets":          {[]string{"fill", "-sets", "0", filepath.Join(there, "new")}, 2, "at least one of everything"},
		"fill an existing directory": {[]string{"fill", there}, 1, "exists"},
		"fill, unknown flag":         {[]string{"fill", "-size", "1", there}, 2, "-size"},
		"scale of one":               {[]string{"scale", there}, 2, "scale takes a small data directory"},
	} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), tc.args, &stdout, &stderr); code != tc.code || !strings.Contains(stderr.String(), tc.said) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s", name, code, tc.code, tc.said, &stderr)
		}
	}
}
