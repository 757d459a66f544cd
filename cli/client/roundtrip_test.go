package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/client"
	"labshelf/formats/archive"
)

// oddPaths are paths that cause problems for some systems, alphabets or programs. Some systems
// cannot distinguish all of them.
func oddPaths() []string {
	deep := strings.Repeat("deeper/", 40)
	return []string{
		"plain.txt", "PLAIN.TXT", "Plain.txt", "Day/x", "day/x", "DAY/X", // equal except for case
		"\u00e9t\u00e9.csv", "e\u0301te\u0301.csv", "\u1e69", "s\u0323\u0307", "s\u0307\u0323", "\uac00.txt", "\u1100\u1161.txt", "\u212b", "\u00c5", // NFC, NFD, neither
		"\U0001f9ea.txt", "\U0001f469\u200d\U0001f52c/notes.md", "\U0001f1e8\U0001f1ed", "\u65e5\u672c\u8a9e/\u30c7\u30fc\u30bf.csv", "\u0645\u0644\u0641", "\u00a0", "a\u00adb", "\u200b",
		"two  words", " leading", "trailing ", " / /x", "~", "$HOME", "`id`", "$(id)", "'", "#", "%", "100%25", "a&b;c", "*.[ch]", "!", "{a,b}",
		"-", "-rf", "--help", "--", "--x/-y", ".hidden", "...", "..a", "..../...", "a..", "trailing.", ".x/.y", ".labshelf-x.part", "metadata.jsonl", "files/state.json",
		strings.Repeat("n", 251) + ".txt", strings.Repeat("\u00e4", 127) + "x", strings.Repeat("\U0001f9ea", 63) + ".md", strings.Repeat("f", 255) + "/" + strings.Repeat("g", 255),
		deep + "file", deep + "other", deep + "deeper/file", strings.Repeat("a folder with quite a long name/", 30) + "file",
		"CON", "con.txt", "_CON", "aux/nul", "COM1", "com\u00b9.log", "LPT9.tar.gz", "PRN ", "CONIN$", "C:", "a:b", "a_b", "a?b", "a|b", "<a>", `"`, `back\slash`, `..\up`,
		"empty", "also/empty", "a", "b", "same/1", "same/2", "file", "file.d/file", "file (1)", "Thumbs.db.txt", "manifest.json", "SHA256SUMS",
	}
}

// unfit are paths that a file system accepts but the service rejects.
var unfit = []string{"new\nline", "tab\there", "esc\x1b[2J", "right\u202eleft", "\u0085", "del\x7f", "not UTF-8 \xff", "bad\xfe/file"}

// plant creates a folder of about n files, in folders that each have every odd path. It returns the
// SHA-256 of the files that can be sent under their names, and the number of the others.
func plant(t *testing.T, n int) (root string, sums map[string]string, refused int) {
	t.Helper()
	root, sums = t.TempDir(), map[string]string{}
	odd := oddPaths()
	for i := 0; i < n; i++ {
		folder, kind := fmt.Sprintf("%04d", i/(len(odd)+len(unfit))), i%(len(odd)+len(unfit))
		text := ""
		switch i % 4 { // the others are empty
		case 0:
			text = "the same many times"
		case 1:
			text = fmt.Sprintf("file %d\n", i)
		case 2:
			text = strings.Repeat(fmt.Sprint(i, ","), i%3000) // some of them are longer than an inline body
		}
		name := folder + "/"
		if kind < len(odd) {
			name += odd[kind]
		} else {
			name += unfit[kind-len(odd)]
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		_ = os.MkdirAll(filepath.Dir(path), 0o700) // otherwise the file cannot be created
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) { // this system treats it as the name of an existing file
			continue
		}
		if err != nil && runtime.GOOS != "linux" { // Linux accepts every name
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString(text)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		if kind >= len(odd) {
			refused++
			continue
		}
		sums[name] = blobs.Digest(sha256.Sum256([]byte(text))).String()
	}
	return root, sums, refused
}

// TestTreeRoundTrip uploads a folder with every odd name, and downloads it with get and harvest.
// Each file has the same bytes, under a path that is reported. Names that a resource cannot have
// are reported, too. TREE_FILES sets the number of files, such as 20000.
func TestTreeRoundTrip(t *testing.T) {
	t.Parallel()
	n := 300
	if asked := os.Getenv("TREE_FILES"); asked != "" {
		n = must[int](t)(strconv.Atoi(asked))
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root, sums, refused := plant(t, n)
	got, mirror := filepath.Join(t.TempDir(), "got"), filepath.Join(t.TempDir(), "mirror")
	put := []string{"put", root, "runs", "--json", "--parallel=8"}
	get := []string{"get", "runs", got, "--json", "--parallel=8"}
	harvest := []string{"harvest", "runs", mirror, "--parallel=8"}
	t.Logf("%d files, and %d that cannot be sent under their names", len(sums), refused)

	ids, failures := map[string]string{}, 0
	for _, l := range linesOf(t, s.measured(t, refused > 0, put...)) {
		switch {
		case l.Outcome == "sent" && l.SHA256 == sums[l.Name] && ids[l.Name] == "":
			ids[l.Name] = l.ID
		case l.Outcome == "failed" && (strings.Contains(l.Why, "must not have control or text-direction") || strings.Contains(l.Why, "is not UTF-8")):
			failures++
		default:
			t.Errorf("%+v", l)
		}
	}
	stored := map[string]string{}
	for _, r := range s.active(t, set.ID) {
		stored[r.Name] = r.SHA256.String()
	}
	if diff := cmp.Diff(sums, stored); diff != "" || failures != refused || len(ids) != len(sums) {
		t.Fatalf("%d failed, want %d; the files differ (-want +got):\n%s", failures, refused, diff)
	}

	files := map[string]string{} // expected files below got
	for _, l := range linesOf(t, s.measured(t, false, get...)) {
		path := filepath.ToSlash(must[string](t)(filepath.Rel(got, l.File)))
		if l.Outcome != "fetched" || ids[l.Name] != l.ID || archive.Clean(path) != path {
			t.Errorf("%+v", l)
		}
		files[path] = sums[l.Name]
	}
	if diff := cmp.Diff(files, treeOf(t, got)); diff != "" || len(files) != len(sums) {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}

	s.measured(t, false, harvest...)
	equals(t, mirror, s.everything(t, s.client, client.ListOptions{SetID: set.ID}), flat)
	if diff := cmp.Diff(files, treeOf(t, filepath.Join(mirror, "files"))); diff != "" {
		t.Errorf("the mirror differs (-want +got):\n%s", diff)
	}
	_, paths := mirrored(t, mirror)
	for name, id := range ids {
		if path := strings.TrimPrefix(paths[id], "files/"); files[path] != sums[name] {
			t.Errorf("%q should be at %q", name, path)
		}
	}

	// The second run sends nothing.
	c := s.counted()
	for _, l := range append(linesOf(t, s.measured(t, refused > 0, put...)), linesOf(t, s.measured(t, false, get...))...) {
		if l.Outcome != "there" && l.Outcome != "failed" {
			t.Errorf("the second time: %+v", l)
		}
	}
	if c.of("POST") > refused || c.of("PUT") > 0 { // the service rejects those again
		t.Errorf("the second run sent the requests %v", c.all())
	}
	before := c.of("GET")
	if s.measured(t, false, harvest...); c.of("GET") != before+1 {
		t.Errorf("the second harvest sent %d requests", c.of("GET")-before)
	}
}

// outcome is the result that a command with --json reports for a file.
type outcome struct{ File, Name, Outcome, ID, SHA256, Why string }

// linesOf parses the output of a command with --json, except the totals.
func linesOf(t *testing.T, out []byte) (list []outcome) {
	t.Helper()
	for text := range bytes.Lines(out) {
		var l outcome
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if l.Outcome != "" {
			list = append(list, l)
		}
	}
	return list
}

// measured runs a command in its own process, and logs its time and memory. It returns its standard
// output.
func (s *service) measured(t *testing.T, fails bool, args ...string) []byte {
	t.Helper()
	memory := filepath.Join(t.TempDir(), "memory")
	cmd := s.process(t, args...)
	cmd.Env = append(cmd.Env, childMemory+"="+memory)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began).Round(time.Millisecond)
	if (err != nil) != fails {
		t.Fatalf("%v: %v\n%s", args, err, &problems)
	}
	t.Logf("%s took %v and %d MiB of memory", args[0], took, must[int](t)(strconv.Atoi(string(must[[]byte](t)(os.ReadFile(memory)))))>>20)
	return out
}
