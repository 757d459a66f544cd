// Package drive tests the drive of the real program with the clients that people use. It contains
// only tests.
package drive

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"labshelf/internal/servers"
	"labshelf/internal/testhome"
	"labshelf/verify/e2e"
)

var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		defer func() { _ = testhome.Remove() }()
		folder, err := os.MkdirTemp("", "labshelf-drive")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if program, err = e2e.Build(context.Background(), folder); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// drive is a service with a set, and its address on the drive.
type drive struct {
	*e2e.Service
	t   *testing.T
	set string // its id
	log string // path of the log
	url string // URL of the set on the drive, without a trailing slash
}

func serve(t *testing.T, flags ...string) *drive {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	service, err := e2e.Start(context.Background(), program, data, flags...) // t.Context() would end earlier
	check(t, err)
	t.Cleanup(func() {
		if err := service.Stop(); err != nil {
			t.Error(err)
		}
	})
	d := &drive{Service: service, t: t, log: data + ".log"}
	_, d.set, err = d.MakeSet(t.Context(), "files")
	check(t, err)
	d.url = "http://" + d.Address() + "/dav/files-space/files"
	return d
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// need skips the test if a program is missing; in CI it fails the test.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			servers.Missing(t, err)
		}
	}
}

// run runs a program, which must succeed, and returns its output.
func run(t *testing.T, stdin string, environment []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout())
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &out
	cmd.Env, cmd.Dir = append(os.Environ(), environment...), t.TempDir()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, tail(out.String()))
	}
	return out.String()
}

// timeout returns the maximum duration of a program, which is longer for the larger trees of
// DRIVE_FILES.
func timeout() time.Duration {
	if os.Getenv("DRIVE_FILES") != "" {
		return time.Hour
	}
	return 5 * time.Minute
}

func tail(text string) string { return text[max(0, len(text)-4000):] }

// request sends a request to the drive and returns the answer.
func (d *drive) request(method, url, body string, headers ...string) (a e2e.Answer) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, url, strings.NewReader(body))
	check(d.t, err)
	request.SetBasicAuth("anybody", d.Key())
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	check(d.t, err)
	defer func() { _ = response.Body.Close() }()
	var all bytes.Buffer
	_, err = all.ReadFrom(response.Body)
	check(d.t, err)
	return e2e.Answer{Status: response.StatusCode, Header: response.Header, Body: all.Bytes()}
}

// names are file names that some client, script or format interprets in another way.
var names = []string{
	"plain.txt", "with space.txt", "ünï©ødé.txt", "e\u0301 of two.txt", "a%20b.txt", "100%.csv", "q?mark.txt", "hash#tag.txt", "semi;colon", "amp&amp;.xml", "<angle>.txt",
	`"quote".txt`, "apos'.txt", "plus+plus", "tilde~", ".hidden", ".hidden.tar.gz", "UPPER.TXT", "upper.txt", "🧪.dat", "colon:name", "star*", "pipe|x", "[brackets]",
	"{brace}", "$dollar", "comma,name", "eq=ual", "@at", "no_ext", strings.Repeat("n", 200) + ".txt", "a (01HZ0000000000000000000000).txt", "-dash", "%2F.txt", "..dots", "...",
}

// files returns the number of files of a tree, which DRIVE_FILES can increase.
func files(t *testing.T, usual int) int {
	t.Helper()
	if asked := os.Getenv("DRIVE_FILES"); asked != "" {
		n, err := strconv.Atoi(asked)
		check(t, err)
		return n
	}
	if testing.Short() {
		return len(names)
	}
	return usual
}

// makeTree writes a tree of n files with the unusual names. It replaces the strings of without in
// all names.
func makeTree(t *testing.T, n int, without ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	folders := []string{"", "sub", "sub/deep dir", "ünter", "%41", "sub/+"}
	for i := range n {
		folder, name := folders[i/len(names)%len(folders)], names[i%len(names)]
		for _, text := range without {
			folder, name = strings.ReplaceAll(folder, text, "x"), strings.ReplaceAll(name, text, "x")
		}
		if round := i / len(names) / len(folders); round > 0 {
			folder = filepath.Join(folder, strconv.Itoa(round))
		}
		check(t, os.MkdirAll(filepath.Join(root, folder), 0o700))
		size := []int{0, 1, 100, 10_000, 300_000}[i%5]
		check(t, os.WriteFile(filepath.Join(root, folder, name), bytes.Repeat([]byte{byte(i)}, size), 0o600))
	}
	return root
}

// edit changes, adds, renames and deletes files of a tree.
func edit(t *testing.T, root string) {
	t.Helper()
	for i, name := range names {
		path := filepath.Join(root, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		switch i % 4 {
		case 0:
			check(t, os.WriteFile(path, bytes.Repeat([]byte(name), 7), 0o600))
		case 1:
			check(t, os.Rename(path, filepath.Join(root, "renamed "+name[:min(len(name), 100)])))
		case 2:
			check(t, os.Remove(path))
		}
	}
	check(t, os.MkdirAll(filepath.Join(root, "new/deeper"), 0o700))
	check(t, os.WriteFile(filepath.Join(root, "new/deeper/file"), []byte("new"), 0o600))
}

// same checks that two trees are equal.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "diff", "-r", a, b).CombinedOutput(); err != nil {
		t.Errorf("%s: the trees differ: %v\n%s", what, err, tail(string(out)))
	}
}

// eventually repeats try until it succeeds, and fails the test after a timeout.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(timeout() / 10); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// rows returns an error unless the set has the given number of files.
func (d *drive) rows(want int) error {
	n := 0
	_, err := d.Walk(d.t.Context(), "/sets/"+d.set+"/resources?limit=1000", func(p e2e.Page) error {
		n += len(p.Data)
		return nil
	})
	if err == nil && n != want {
		err = fmt.Errorf("the set has %d files, want %d", n, want)
	}
	return err
}
