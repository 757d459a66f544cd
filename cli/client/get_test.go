package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/cli/client/fetch"
	"labshelf/cli/client/filenames"
	"labshelf/cli/exit"
	"labshelf/client"
	"labshelf/formats/archive"
)

// oddNames are unusual names.
var oddNames = []string{
	"a.txt", "a.txt", "A.TXT", "run 1/raw data.csv", "run 1/größe/日本語.txt", "../../etc/passwd", "/abs", `C:\x\y`, "CON", "con/aux.txt",
	"a", "a/b", "é", "e\u0301", "x:y*?", "trailing. ", "..", "/", "manifest.json", "SHA256SUMS", ".hidden", "-dash", "tab\there",
	strings.Repeat("ä", 300) + ".dat", strings.Repeat("deep/", 60) + "file", "emoji 🧪.txt", "a (2).txt", ".labshelf-x.part", "new\nline",
}

// fill stores resources with unusual names. Some are empty, and some have the same content.
func (s *service) fill(t *testing.T, set string, n int) {
	t.Helper()
	for i := range n {
		text := strings.Repeat(fmt.Sprint(i%5, " "), i%7*i)
		name := oddNames[i%len(oddNames)]
		if i >= len(oddNames) {
			name = fmt.Sprintf("more/%d/%s", i, name)
		}
		s.putRaw(t, set, name, text)
	}
}

// putRaw stores a resource with any name that the service accepts, or without a name.
func (s *service) putRaw(t *testing.T, set, name, text string) {
	t.Helper()
	_, err := s.client.Resources.Create(t.Context(), client.NewResource{SetID: set, Name: name}, strings.NewReader(text), int64(len(text)))
	var problem *client.Problem
	if err != nil && !(errors.As(err, &problem) && problem.Status == http.StatusBadRequest) {
		t.Fatal(err)
	}
}

// treeOf returns the digests of the files below a folder.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	root := must[*os.Root](t)(os.OpenRoot(dir))
	defer func() { _ = root.Close() }()
	tree := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != filenames.Name {
			var digest blobs.Digest
			digest, err = fetch.Digest(t.Context(), root, name)
			tree[name] = digest.String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestGetSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.fill(t, set.ID, 80)
	dir := filepath.Join(t.TempDir(), "a", "b")
	check := func() {
		t.Helper()
		want, paths := map[string]string{}, archive.NewPaths()
		// nothing has changed since, so the order is the order of creation
		for r, err := range s.client.Sets.Resources(t.Context(), set.ID, client.ListOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			path := paths.Give(r.ID, r.Name)
			want[path] = r.SHA256.String()
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || !info.ModTime().Equal(r.Modified.Time) {
				t.Errorf("%s: %v, %v, want the time %v", path, info, err, r.Modified)
			}
		}
		if diff := cmp.Diff(want, treeOf(t, dir)); diff != "" {
			t.Errorf("the files differ (-want +got):\n%s", diff)
		}
	}
	if got := s.run(t, "", "get", "lab/runs", dir); got.error != nil || got.out != "" || !strings.Contains(got.err, "\nfetched  ") {
		t.Fatalf("%+v", got)
	}
	check()
	var data atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) {
			data.Add(1)
		}
		on(w, r)
	})
	s.put(t, set.ID, "later", "later")
	got := s.run(t, "", "get", set.ID, dir, "--json")
	if got.error != nil || data.Load() != 1 || strings.Count(got.out, `"outcome":"there"`) != len(s.active(t, set.ID))-1 {
		t.Errorf("%+v after %d downloads", got, data.Load())
	}
	check()
}

func TestGetOne(t *testing.T) {
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "2026/run: 1.csv", "second,volt\n")
	t.Chdir(t.TempDir())
	for _, ref := range []string{r.ID, r.URL, "runs:2026/run: 1.csv", set.URL + ":2026/run: 1.csv"} {
		for i, want := range []string{"fetched  2026/run_ 1.csv, 12 B\n", "already there  2026/run_ 1.csv, 12 B\n"} {
			if got := s.run(t, "", "get", ref); got.error != nil || got.out != "" || !strings.HasSuffix(got.err, want) {
				t.Errorf("%s, run %d: %+v", ref, i, got)
			}
		}
		if got := s.run(t, "", "get", ref, "-"); got.error != nil || got.out != "second,volt\n" {
			t.Errorf("%s to stdout: %+v", ref, got)
		}
		if err := os.RemoveAll("2026"); err != nil {
			t.Fatal(err)
		}
	}
	got := s.run(t, "", "get", r.ID, "below"+string(filepath.Separator), "--json")
	var line struct {
		File, Outcome, ID, SHA256 string
		Bytes                     int
	}
	first, end, _ := strings.Cut(got.out, "\n")
	if !strings.Contains(end, `"fetched":{"files":1,"bytes":12}`) {
		t.Errorf("it ends with %s", end)
	}
	if err := json.Unmarshal([]byte(first), &line); err != nil || line.File != filepath.Join("below", "2026", "run_ 1.csv") || line.Outcome != "fetched" ||
		line.ID != r.ID || line.SHA256 != r.SHA256.String() || line.Bytes != 12 {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestGetKeepsOtherFiles: get does not touch a file with other content without --force, and
// downloads the others.
func TestGetKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, name := range []string{"mine", "folder", "under/it", "good"} {
		s.put(t, set.ID, name, "theirs")
	}
	dir, outside := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "mine"), []byte("my own"), 0o600), os.Mkdir(filepath.Join(dir, "folder"), 0o700),
		os.Symlink(outside, filepath.Join(dir, "under"))); err != nil {
		t.Fatal(err)
	}
	got := s.run(t, "", "get", "runs", dir)
	if !errors.Is(got.error, exit.ErrPartly) || strings.Count(got.err, "\n") != 5 || !strings.Contains(got.err, "--force") {
		t.Errorf("%+v", got)
	}
	text := func(name string) string { return string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, name)))) }
	if text("mine") != "my own" || text("good") != "theirs" {
		t.Errorf("%q, %q", text("mine"), text("good"))
	}
	got = s.run(t, "", "get", "runs", dir, "--force")
	if !errors.Is(got.error, exit.ErrPartly) || text("mine") != "theirs" || strings.Count(got.err, "\n") != 5 {
		t.Errorf("%+v", got)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("%v, %v was written outside", list, err)
	}
}

func TestGetRefuses(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a", "a")
	dir := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args  []string
		usage bool
		words string
	}{
		{[]string{"runs", "-"}, true, "name a folder"},
		{[]string{r.ID, "-", "--json"}, true, "--json"},
		{[]string{"nothing", dir}, false, `no set or resource "nothing"`},
		{[]string{s.base() + "/dataspaces/" + set.DataspaceID, dir}, true, "not the address"},
		{[]string{"runs:b", dir}, false, `no resource "b"`},
	} {
		got := s.run(t, "", append([]string{"get"}, c.args...)...)
		if got.error == nil || errors.Is(got.error, exit.ErrUsage) != c.usage || !strings.Contains(got.error.Error(), c.words) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	if err := s.client.Resources.Delete(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.run(t, "", "get", r.ID, dir); got.error == nil || !strings.Contains(got.error.Error(), "labshelf restore "+r.ID) {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
}
