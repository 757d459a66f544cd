package client

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/cli/exit"
)

// TestPutSkips: put skips entries that are not files, entries that match a pattern, and files of
// operating systems.
func TestPutSkips(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{
		"a.txt": "1", "b.tmp": "2", "x/c.tmp": "3", "x/c.txt": "4", "raw/d.txt": "5", "x/raw/e.txt": "6", ".git/config": "7", ".DS_Store": "8", "x/Thumbs.db": "9",
	})
	for _, link := range []string{"link", "x/folder"} {
		if err := os.Symlink(root, filepath.Join(root, link)); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("CI needs symbolic links for this test: ", err)
			}
			t.Skip("this system has no symbolic links: ", err)
		}
	}
	got := s.run(t, "", "put", root, "runs", "--exclude", "*.tmp", "--exclude", "x/raw", "--exclude=.git/", "--under", "/in/side/")
	if got.error != nil || strings.Count(got.err, "left out, since it is a symbolic link") != 2 || got.out != "sent      3 files, 3 B\nleft out  2 symbolic links\n" {
		t.Errorf("got %+v", got)
	}
	s.holds(t, set.ID, map[string]string{"in/side/a.txt": "1", "in/side/x/c.txt": "4", "in/side/raw/d.txt": "5"})
	// Entries that are arguments are not skipped.
	got = s.run(t, "", "put", filepath.Join(root, ".DS_Store"), filepath.Join(root, "link", "b.tmp"), "runs", "--exclude", "*.tmp")
	if got.error != nil || got.out != "sent  2 files, 2 B\n" {
		t.Errorf("got %+v", got)
	}
}

// TestPutReportsFailures: each failure is reported, and the other files are stored.
func TestPutReportsFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a": "1", "goes": "2", "bad\u200ename": "3", "d/a": "4"})
	want := []string{"missing: cannot be read", "goes: cannot be read", "bad\ufffdname: the service answered 400 invalid_field: the file name must not have",
		filepath.Join("d", "a") + ": " + filepath.Join(root, "a") + " would have the same name"}
	if filepath.Separator == '/' {
		write(t, filepath.Join(root, "l\xe4ufe", "x"), "5")
		write(t, filepath.Join(root, "gr\xfcn"), "6")
		want = append(want, "l\ufffdufe: its name is not UTF-8", "gr\ufffdn: its name is not UTF-8")
	}
	if os.Geteuid() > 0 {
		if err := os.Mkdir(filepath.Join(root, "locked"), 0); err != nil {
			t.Fatal(err)
		}
		want = append(want, "locked: cannot be read")
	}
	var once sync.Once
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/resources") {
			once.Do(func() { _ = os.Remove(filepath.Join(root, "goes")) })
		}
		on(w, r)
	})
	got := s.run(t, "", "put", filepath.Join(root, "missing"), root, filepath.Join(root, "d", "a"), "runs")
	if !errors.Is(got.error, exit.ErrPartly) || strings.Count(got.err, "\n") != len(want) {
		t.Errorf("got %+v", got)
	}
	for _, text := range want {
		if !strings.Contains(got.err, text) {
			t.Errorf("it does not report %q:\n%s", text, got.err)
		}
	}
	s.holds(t, set.ID, map[string]string{"a": "1", "d/a": "4"})
	if got := s.run(t, "", "put", filepath.Join(root, "missing"), "runs"); got.error == nil || errors.Is(got.error, exit.ErrPartly) {
		t.Errorf("the other files were not stored: %+v", got)
	}
}

// TestPutChangedFile: a file that changes while it is sent, or compared, is reported and not
// stored.
func TestPutChangedFile(t *testing.T) {
	t.Parallel()
	const size = 24 << 20 // more than the buffers of both programs
	changes := map[string]func(path string) error{
		"grows": func(path string) error {
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			_, err2 := io.WriteString(file, "more")
			return errors.Join(err, err2, file.Close())
		},
		"shrinks": func(path string) error { return os.Truncate(path, size-1) },
		"rewritten": func(path string) error {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			_, err2 := file.WriteAt([]byte("x"), size-2)
			return errors.Join(err, err2, file.Close(), os.Chtimes(path, time.Now(), time.Now().Add(time.Second)))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			set := s.newSet(t, "lab", "runs")
			root := tree(t, map[string]string{"a": strings.Repeat("1", size), "b": "2"})
			s.intercept(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					if err := change(filepath.Join(root, "a")); err != nil {
						t.Error(err)
					}
				}
				on(w, r)
			})
			got := s.run(t, "", "put", root, "runs")
			if !errors.Is(got.error, exit.ErrPartly) || !strings.Contains(got.err, "the file changed while it was read") {
				t.Errorf("got %+v", got)
			}
			s.holds(t, set.ID, map[string]string{"b": "2"})
			s.intercept(nil)
			if got := s.run(t, "", "put", root, "runs"); got.error != nil || !strings.HasPrefix(got.out, "sent           1 file, ") {
				t.Errorf("the second time: %+v", got)
			}
		})
	}
}

// TestPutRefusedNames: the service rejects invalid names, for each file.
func TestPutRefusedNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a": "1", "b\u200e": "2", "x/b\u200e1": "3", "x/b\u200e2": "4", "x/b\u200e3": "5", "x/b\u200e4": "6", "x/b\u200e5": "7"})
	for _, source := range []string{"b\u200e", "x"} {
		got := s.run(t, "", "put", filepath.Join(root, source), "runs")
		if got.error == nil || !strings.Contains(got.err, "400 invalid_field: the file name must not have") {
			t.Errorf("%s: %+v", source, got)
		}
	}
	if got := s.run(t, "", "put", filepath.Join(root, "a"), filepath.Join(root, "b\u200e"), "runs"); !errors.Is(got.error, exit.ErrPartly) {
		t.Errorf("got %+v", got)
	}
	s.holds(t, set.ID, map[string]string{"a": "1"})
}
