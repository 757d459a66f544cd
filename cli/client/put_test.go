package client

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"labshelf/blobs"
	"labshelf/cli/client/reference"
	"labshelf/cli/exit"
	"labshelf/client"
)

// tree writes files, by their paths with "/", to a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// holds compares the names and contents in a set with want.
func (s *service) holds(t *testing.T, set string, want map[string]string) {
	t.Helper()
	got := map[string]blobs.Digest{}
	for _, r := range s.active(t, set) {
		if _, twice := got[r.Name]; twice {
			t.Errorf("%q is stored twice", r.Name)
		}
		got[r.Name] = r.SHA256
	}
	sums := map[string]blobs.Digest{}
	for name, text := range want {
		sums[name] = sha256.Sum256([]byte(text))
	}
	if !maps.Equal(got, sums) {
		t.Errorf("the set has %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(sums)))
	}
}

// requests counts the requests to a service by method, and uploads by name.
type requests struct {
	mu      sync.Mutex
	methods map[string]int
}

func (s *service) counted() *requests {
	c := &requests{methods: map[string]int{}}
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.methods[r.Method]++
		c.mu.Unlock()
		on(w, r)
	})
	return c
}

// of returns the number of requests with a method.
func (c *requests) of(method string) int { return c.all()[method] }

// all returns the number of requests by method.
func (c *requests) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.methods)
}

// odd returns files whose names cause problems for some systems, alphabets or programs.
func odd() map[string]string {
	files := map[string]string{
		"plain.txt": "text", "two words.txt": "spaces", " leading and trailing ": "spaces", ".hidden": "dot", "...": "dots", "a/.b/..c": "dots",
		"Gr\u00fc\u00dfe.txt": "composed", "Gru\u0308\u00dfe.txt": "combining", "\u65e5\u672c\u8a9e/\u30c7\u30fc\u30bf.csv": "kana", "\U0001f52c.bin": "emoji", "e\u0301\u0323\u0308/x": "marks",
		"empty": "", "also/empty": "", "same/1": "same", "same/2": "same", "same/3": "same", "'quoted'": "quotes", "50%25.txt": "percent",
		"a&b=c;d+e,f": "signs", "-rf": "option", "~": "home", "$HOME": "variable", "#1": "hash", "[x]{y}": "brackets",
		strings.Repeat("n", 250) + ".txt": "long", strings.Repeat("folder with a name/", 40) + "x": "deep", "plain.txt.d/plain.txt": "folder",
	}
	if filepath.Separator == '/' {
		files[`back\slash`], files[`q"uote`], files["a:b|c?d*e<f>"] = "backslash", "quote", "not for Windows"
	}
	return files
}

// TestPut: the files of a tree are stored under their names. The second run only lists the set, and
// sends nothing.
func TestPut(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := odd()
	root := tree(t, files)
	got := s.run(t, "", "put", root, "runs")
	if want := fmt.Sprintf("sent  %d files, ", len(files)); got.error != nil || got.err != "" || !strings.HasPrefix(got.out, want) || strings.Count(got.out, "\n") != 1 {
		t.Errorf("got %+v, want %q", got, want)
	}
	s.holds(t, set.ID, files)
	for _, r := range s.active(t, set.ID) {
		if r.Filename != filepath.Base(r.Name) && !strings.Contains(r.Name, `\`) {
			t.Errorf("%q has the file name %q", r.Name, r.Filename)
		}
	}
	c := s.counted()
	got = s.run(t, "", "put", root, "runs", "--parallel", "8")
	if want := fmt.Sprintf("already there  %d files, ", len(files)); got.error != nil || !strings.HasPrefix(got.out, want) || strings.Count(got.out, "\n") != 1 {
		t.Errorf("the second time: %+v", got)
	}
	if c.of("POST")+c.of("PUT") != 0 || c.of("GET") > 6 {
		t.Errorf("the second run sent the requests %v", c.all())
	}
}

// TestPutSendsOnlyNew: put sends added files. It replaces changed files, which keep their metadata.
// Files that were removed locally are kept.
func TestPutSendsOnlyNew(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a.csv": "1", "b.csv": "2", "c.csv": "3", "gone.csv": "4"})
	if got := s.run(t, "", "put", root, "lab/runs", "--description", "first", "--format", "LOG"); got.error != nil {
		t.Fatal(got)
	}
	write(t, filepath.Join(root, "b.csv"), "5") // with the same length as before
	write(t, filepath.Join(root, "c.csv"), "33")
	write(t, filepath.Join(root, "d.csv"), "6")
	if err := os.Remove(filepath.Join(root, "gone.csv")); err != nil {
		t.Fatal(err)
	}
	before := s.active(t, set.ID)
	got := s.run(t, "", "put", root, set.ID)
	if want := "sent           1 file, 1 B\nreplaced       2 files, 3 B\nalready there  1 file, 1 B\n"; got.error != nil || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	s.holds(t, set.ID, map[string]string{"a.csv": "1", "b.csv": "5", "c.csv": "33", "d.csv": "6", "gone.csv": "4"})
	after := s.active(t, set.ID)
	if r := after[1]; r.ID != before[1].ID || r.Description != "first" || r.Format != "LOG" {
		t.Errorf("after the replacement: %+v", r)
	}
	if r := after[3]; r.Description != "" || r.Format != "CSV" {
		t.Errorf("the replaced resource is %+v", r)
	}
	if got := s.run(t, "", "put", filepath.Join(root, "d.csv"), set.ID, "--name", "c.csv", "--description", "second"); got.error != nil {
		t.Error(got)
	}
	if r := s.active(t, set.ID)[2]; r.Description != "second" || r.Filename != "d.csv" || r.Bytes != 1 {
		t.Errorf("the replacement is %+v", r)
	}
}

// TestPutSeveral: if several resources have the name, put reports an error, unless one of them has
// the same bytes.
func TestPutSeveral(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, text := range []string{"1", "2", "2"} {
		s.put(t, set.ID, "a", text)
	}
	root := tree(t, map[string]string{"a": "3", "b": "4"})
	got := s.run(t, "", "put", root, "runs")
	if !errors.Is(got.error, exit.ErrPartly) || !strings.Contains(got.err, "has 3 resources of this name") || got.out != "sent    1 file, 1 B\nfailed  1 file\n" {
		t.Errorf("got %+v", got)
	}
	write(t, filepath.Join(root, "a"), "2")
	if got := s.run(t, "", "put", root, "runs"); got.error != nil || got.out != "already there  2 files, 2 B\n" {
		t.Errorf("got %+v", got)
	}
	if n := len(s.active(t, set.ID)); n != 4 {
		t.Errorf("%d resources exist", n)
	}
}

// TestPutConflict: a change by another client between the listing and the replacement is kept, at
// both points where it can happen.
func TestPutConflict(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"GET", "PUT"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			set := s.newSet(t, "lab", "runs")
			r := s.put(t, set.ID, "a", "1")
			root := tree(t, map[string]string{"a": "mine"})
			var once sync.Once
			s.intercept(func(w http.ResponseWriter, q *http.Request) {
				if q.Method == at && strings.HasSuffix(q.URL.Path, r.ID) {
					once.Do(func() {
						s.intercept(nil)
						must[client.Resource](t)(s.client.Resources.Replace(t.Context(), r.ID, client.NewResource{Name: "a"}, strings.NewReader("theirs"), 6))
					})
				}
				on(w, q)
			})
			got := s.run(t, "", "put", root, "runs")
			if got.error == nil || errors.Is(got.error, exit.ErrPartly) || !strings.Contains(got.err, "conflict: the resource ") {
				t.Errorf("got %+v", got)
			}
			s.holds(t, set.ID, map[string]string{"a": "theirs"})
			if got := s.run(t, "", "put", root, "runs"); got.error != nil || !strings.HasPrefix(got.out, "replaced  1 file") {
				t.Errorf("the second time: %+v", got)
			}
		})
	}
}

// TestPutJSON: put --json prints a line for each file, and the totals.
func TestPutJSON(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	same := s.put(t, set.ID, "a", "1")
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	got := s.run(t, "", "put", root, filepath.Join(root, "none"), "runs", "--json")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if !errors.Is(got.error, exit.ErrPartly) || len(lines) != 4 {
		t.Fatalf("got %+v", got)
	}
	byName := map[string]map[string]any{}
	for _, text := range lines {
		var l map[string]any
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		name, _ := l["name"].(string)
		if l["outcome"] == "failed" {
			name = "none"
		}
		byName[name] = l
	}
	if l := byName["a"]; l["outcome"] != "there" || l["id"] != same.ID || l["sha256"] != same.SHA256.String() || l["bytes"] != 1.0 || l["file"] != filepath.Join(root, "a") {
		t.Errorf("got %v", l)
	}
	if l := byName["b"]; l["outcome"] != "sent" || l["id"] != s.active(t, set.ID)[1].ID {
		t.Errorf("got %v", l)
	}
	if l := byName["none"]; l["why"] == nil || l["bytes"] != nil {
		t.Errorf("got %v", l)
	}
	end, _ := byName[""]["end"].(map[string]any)
	if fmt.Sprint(end["sent"], end["there"], end["failed"], end["left"]) != "map[bytes:1 files:1] map[bytes:1 files:1] map[bytes:0 files:1] 0" {
		t.Errorf("got %v", byName[""])
	}
}

// TestPutDryRun: put --dry-run reports what it would send, and changes nothing.
func TestPutDryRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "a", "1")
	s.put(t, set.ID, "b", "2")
	root := tree(t, map[string]string{"a": "1", "b": "3", "c": "4"})
	c := s.counted()
	got := s.run(t, "", "put", root, "runs", "--dry-run", "--parallel", "1")
	if want := "replace  b\nsend     c\nwould send     1 file, 1 B\nwould replace  1 file, 1 B\nalready there  1 file, 1 B\n"; got.error != nil || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	if got := s.run(t, "", "put", root, "lab/new", "--new-set", "--dry-run"); got.error != nil || !strings.Contains(got.out, "would send  3 files") {
		t.Errorf("got %+v", got)
	}
	if c.of("POST")+c.of("PUT") != 0 {
		t.Errorf("it sent the requests %v", c.all())
	}
}

// TestPutNewSet: put creates the set once, and finds it afterwards.
func TestPutNewSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a": "1"})
	for _, want := range []string{"sent  1 file, 1 B\n", "already there  1 file, 1 B\n"} {
		if got := s.run(t, "", "put", root, "lab/fresh", "--new-set"); got.error != nil || got.out != want {
			t.Errorf("got %+v", got)
		}
	}
	fresh := must[client.Set](t)(reference.FindSet(t.Context(), s.client, "lab/fresh", client.Active))
	s.holds(t, fresh.ID, map[string]string{"a": "1"})
	if got := s.run(t, "", "put", root, "nowhere/fresh", "--new-set"); got.error == nil || !strings.Contains(got.Error(), `there is no dataspace "nowhere"`) {
		t.Errorf("got %+v", got)
	}
	if got := s.run(t, "", "put", root, "lab/No Name", "--new-set"); got.error == nil || !strings.Contains(got.Error(), "400 invalid_field") {
		t.Errorf("got %+v", got)
	}
	if err := s.client.Sets.Delete(t.Context(), fresh.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.run(t, "", "put", root, "lab/fresh", "--new-set"); got.error == nil || !strings.Contains(got.Error(), "is deleted; restore it first") {
		t.Errorf("got %+v", got)
	}
}

// TestPutStandardInput: put compares and sends standard input like a file, and leaves no temporary
// file.
func TestPutStandardInput(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, step := range [][2]string{{"1", "sent  1 file, 1 B\n"}, {"1", "already there  1 file, 1 B\n"}, {"22", "replaced  1 file, 2 B\n"}, {"", "replaced  1 file, 0 B\n"}} {
		if got := s.run(t, step[0], "put", "-", "runs", "--name", "x/in.csv", "--under", "u"); got.error != nil || got.out != step[1] {
			t.Errorf("got %+v, want %q", got, step[1])
		}
	}
	if list := s.active(t, set.ID); len(list) != 1 || list[0].Name != "u/x/in.csv" || list[0].Filename != "in.csv" || list[0].Format != "CSV" {
		t.Errorf("got %+v", list)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, "begun")
		cancel()
	}()
	if got := s.runFrom(ctx, s.key, in, "put", "-", "runs", "--name", "y"); !errors.Is(got.error, exit.ErrInterrupted) {
		t.Errorf("without an end: %+v", got)
	}
	if err := out.Close(); err != nil { // this also ends the reader
		t.Error(err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) != 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

// TestPutUsage: wrong arguments are reported before any change.
func TestPutUsage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{a, "-", "runs"}, "- is standard input, and must be the only source"},
		{[]string{"-", "runs"}, "set one with --name"},
		{[]string{root, "runs", "--name", "x"}, "--name is for a single file"},
		{[]string{a, b, "runs", "--name", "x"}, "--name is for a single file"},
		{[]string{a, "runs", "--parallel", "0"}, "--parallel must be 1 to 16, not 0"},
		{[]string{a, "runs", "--exclude", "[a"}, `--exclude: "[a" is not a pattern`},
		{[]string{a, "runs", "--new-set"}, "SET must be DATASPACE/NAME"},
	} {
		if got := s.run(t, "", append([]string{"put"}, test.args...)...); !errors.Is(got.error, exit.ErrUsage) || !strings.Contains(got.Error(), test.want) {
			t.Errorf("%q: got %+v", test.args, got)
		}
	}
	if got := s.run(t, "", "put", a, "none"); got.error == nil || !strings.Contains(got.Error(), `there is no set "none"`) {
		t.Errorf("got %+v", got)
	}
	if got := s.run(t, "", "put", t.TempDir(), "runs"); got.error != nil || got.out != "there is no file to put\n" {
		t.Errorf("got %+v", got)
	}
}
