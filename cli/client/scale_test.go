package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/auth"
	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/repository/files"
)

// TestPutKilled: after many kills, put has sent each file once, and once more for each kill during
// its upload. The service counts the uploads.
func TestPutKilled(t *testing.T) {
	t.Parallel()
	const parallel, kills, each, size = 4, 10, 14, 10_000
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range (kills + 2) * each {
		files[fmt.Sprintf("%d/%d.bin", i%7, i)] = strings.Repeat(fmt.Sprint(i%10), size)
	}
	root := tree(t, files)
	var mu sync.Mutex
	uploads, underWay, allowed := map[string]int{}, map[string]bool{}, map[string]int{}
	shots, since, dying := 0, 0, false
	var moved atomic.Int64
	var process atomic.Pointer[os.Process]
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !isUpload(r) {
			on(w, r)
			return
		}
		r.Body = &counting{ReadCloser: r.Body, bytes: &moved}
		name := begins(r)
		mu.Lock()
		uploads[name]++
		underWay[name] = true
		if dying { // sent before the process ended
			allowed[name]++
		}
		if since++; since >= each && shots < kills {
			shots, since, dying = shots+1, 0, true
			_ = process.Load().Kill()
			for name := range underWay {
				allowed[name]++
			}
		}
		mu.Unlock()
		on(w, r)
		mu.Lock()
		delete(underWay, name)
		mu.Unlock()
	})
	killed := 0
	for range 2 * kills {
		// each process has its own server, so that a late request cannot reach the next one
		server := httptest.NewServer(s.server.Config.Handler)
		cmd := s.process(t, "put", root, "runs", fmt.Sprintf("--parallel=%d", parallel))
		cmd.Env = append(cmd.Env, childBase+"="+server.URL+"/v1")
		var errors bytes.Buffer
		cmd.Stderr = &errors
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		process.Store(cmd.Process)
		err := cmd.Wait()
		server.CloseClientConnections()
		server.Close() // returns when each request has been stored or has failed
		mu.Lock()
		dying = false
		mu.Unlock()
		if err == nil {
			break
		}
		if killed++; errors.Len() > 0 {
			t.Fatalf("it failed: %s", errors.String())
		}
	}
	if killed != kills {
		t.Errorf("it was killed %d times", killed)
	}
	s.holds(t, set.ID, files)
	for name, n := range uploads {
		most := 1 + allowed[name]
		if files[name] == "" { // the process ended before the name arrived
			most = allowed[""]
		}
		if n > most {
			t.Errorf("%q was sent %d times, and was being sent at %d kills", name, n, allowed[name])
		}
	}
	again := 0
	for _, n := range uploads {
		again += n
	}
	again -= len(files)
	t.Logf("%d files in %d uploads and %d bytes, %d kills", len(files), len(files)+again, moved.Load(), killed)
	const around = 1200 // bytes of a multipart body in addition to the file
	if n, most := moved.Load(), int64(len(files)+again)*(size+around); again > kills*parallel || n > most || n < int64(len(files)*size) {
		t.Errorf("%d bytes, and %d files sent again", n, again)
	}
}

// begins reads the beginning of an upload, and returns its name. The request can still be
// forwarded.
func begins(r *http.Request) string {
	whole := r.Body
	head := bufio.NewReaderSize(whole, 1024)
	for n := 1; ; n++ { // only the bytes that have arrived, because the rest may never arrive
		text, err := head.Peek(n)
		name := namePart.FindSubmatch(text)
		if name != nil || err != nil {
			r.Body = struct {
				io.Reader
				io.Closer
			}{head, whole}
			if name == nil {
				return ""
			}
			return string(name[1])
		}
		n = max(n, head.Buffered())
	}
}

// counting counts the bytes of a body.
type counting struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestPutMany: put sends many files and a large one. The second run sends nothing, and neither run
// needs much memory. PUT_FILES sets the number of files, such as 20000, and makes the large file 4
// GiB long.
func TestPutMany(t *testing.T) {
	t.Parallel()
	n, large := 500, int64(64<<20)
	if testing.Short() {
		n = 100
	}
	if asked := os.Getenv("PUT_FILES"); asked != "" {
		n, large = must[int](t)(strconv.Atoi(asked)), 4<<30
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("d%d/Gr\u00fc\u00dfe %d/\u0301%d.csv", i%13, i%101, i)
		files[name] = strings.Repeat("x", i%3*100) // a third of the files is empty, and others have the same content
	}
	root := tree(t, files)
	put := func(want string) {
		t.Helper()
		memory := filepath.Join(t.TempDir(), "memory")
		cmd := s.process(t, "put", root, "runs", "--parallel=8")
		cmd.Env = append(cmd.Env, childMemory+"="+memory)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
		taken := must[int](t)(strconv.Atoi(string(must[[]byte](t)(os.ReadFile(memory)))))
		if most := 48<<20 + n*1000; taken > most {
			t.Errorf("it used %d bytes of memory, want at most %d", taken, most)
		}
	}
	put("sent  " + display.Files(n))
	s.holds(t, set.ID, files)
	path := filepath.Join(root, "large")
	write(t, path, "")
	if err := os.Truncate(path, large); err != nil {
		t.Fatal(err)
	}
	put("sent           1 file, ")
	c := s.counted()
	put("already there  " + display.Files(n+1))
	if c.of("POST")+c.of("PUT") != 0 || c.of("GET") > 6+n/reference.PageSize {
		t.Errorf("the second run sent the requests %v", c.all())
	}
}

// TestHarvestManyUnchanged: if nothing has changed, one request is enough, whatever the number of
// resources, and no records are read. HARVEST_RESOURCES sets the number, such as 100000.
func TestHarvestManyUnchanged(t *testing.T) {
	t.Parallel()
	n := reference.PageSize + 200 // more than one page
	if asked := os.Getenv("HARVEST_RESOURCES"); asked != "" {
		n = must[int](t)(strconv.Atoi(asked))
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	caller := must[auth.Principal](t)(s.repo.Credentials.Authenticate(t.Context(), s.key, auth.Origin{}))
	err := fetch.Each(t.Context(), 64, n, func(ctx context.Context, i int) (err error) { // concurrent writers share commits
		upload := s.repo.Uploads.NewUpload(caller)
		defer func() { err = errors.Join(err, upload.Discard()) }()
		if err := upload.Receive(ctx, strings.NewReader(fmt.Sprintf("%d\n", i))); err != nil {
			return err
		}
		_, err = upload.Create(ctx, files.UploadFields{SetID: &set.ID, Filename: fmt.Sprintf("run-%06d.csv", i)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	c := s.counted()
	s.measured(t, false, "harvest", "runs", dir, "--parallel=8")
	if files := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(dir, "files"))); len(files) != n {
		t.Errorf("%d of %d files exist", len(files), n)
	}
	for range 2 {
		before := c.of("GET")
		out := s.measured(t, false, "harvest", "runs", dir)
		if asked := c.of("GET") - before; asked != 1 || len(c.all()) != 1 || !strings.Contains(string(out), "nothing") {
			t.Errorf("%d requests; %v\n%s", asked, c.all(), out)
		}
	}
	s.put(t, set.ID, "one more", "more")
	before := c.of("GET")
	s.measured(t, false, "harvest", "runs", dir)
	if asked := c.of("GET") - before; asked != 3 { // the page with the change, its file, and the end
		t.Errorf("for one more file it sent %d requests", asked)
	}
}
