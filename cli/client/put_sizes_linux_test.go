package client

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPutReadsToTheEnd: a file is stored completely even if its file system reports another size.
// procfs reports 0 bytes, sysfs a page.
func TestPutReadsToTheEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for name, path := range map[string]string{"version": "/proc/version", "filesystems": "/proc/filesystems", "fscaps": "/sys/kernel/fscaps"} {
		text, err := os.ReadFile(path)
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip("this system has no such file system: ", err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == int64(len(text)) {
			t.Fatalf("%s has the size that it reports: %v", path, err)
		}
		files[name] = string(text)
	}
	args := []string{"put", "/proc/version", "/proc/filesystems", "/sys/kernel/fscaps", "runs"}
	bytes := strconv.Itoa(len(files["fscaps"]))
	for _, try := range []struct{ name, out string }{{"--dry-run", "\nwould send  3 files, "}, {"--parallel=2", "\nsent  3 files, "}, {"--parallel=1", "\nalready there  3 files, "}} {
		got := s.run(t, "", append(args, try.name)...)
		if got.error != nil || !strings.Contains("\n"+got.out, try.out) {
			t.Errorf("%s: got %+v", try.name, got)
		}
	}
	s.holds(t, set.ID, files)
	if got := s.run(t, "", "put", "/sys/kernel/fscaps", "runs", "--name", "version", "--json"); got.error != nil || !strings.Contains(got.out, `"bytes":`+bytes) {
		t.Errorf("replaced: got %+v", got)
	}
	files["version"] = files["fscaps"]
	if got := s.run(t, "", "put", "/sys/kernel", "runs", "--under", "kernel", "--exclude", "[^f]*", "--exclude", "f[^s]*"); got.error != nil {
		t.Errorf("a folder: got %+v", got)
	}
	files["kernel/fscaps"] = files["fscaps"]
	s.holds(t, set.ID, files)
}
