package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/cli/client/fetch"
	"labshelf/cli/exit"
	"labshelf/client"
)

// cutting sends a limited number of bytes of a response, and then breaks the connection.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// turning changes one byte of a response.
type turning struct {
	http.ResponseWriter
	at int
}

func (c *turning) Write(p []byte) (int, error) {
	if c.at >= 0 && c.at < len(p) {
		p = append([]byte{}, p...)
		p[c.at] ^= 1
	}
	c.at -= len(p)
	return c.ResponseWriter.Write(p)
}

// raw returns the original writer of the connection.
func raw(w http.ResponseWriter) http.ResponseWriter { return w.(intercepted).ResponseWriter }

// through lets the service answer through another writer.
func through(w http.ResponseWriter, r *http.Request, by http.ResponseWriter) {
	w.(intercepted).service.ServeHTTP(by, r)
}

func isData(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/data") }

// large returns a string that is long enough to be kept as a partial file. No two parts of it are
// equal.
func large(seed int) string {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "%d %d\n", seed, i)
	}
	return text.String()
}

// cut interrupts the next downloads after bytes bytes each, the first ones later than the others.
// It returns a function that lists the requested ranges.
func (s *service) cut(bytes, times int) (ranges func() []string) {
	var mu sync.Mutex
	var asked []string
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !isData(r) {
			on(w, r)
			return
		}
		mu.Lock()
		asked = append(asked, r.Header.Get("Range"))
		late := len(asked) > times
		mu.Unlock()
		if late {
			panic(http.ErrAbortHandler)
		}
		through(w, r, &cutting{raw(w), bytes})
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

// partialName returns the name of the partial file of a resource.
func partialName(r client.Resource) string {
	return ".labshelf-" + r.ID + "-" + r.SHA256.String() + ".part"
}

// TestGetResumes: a file whose connection breaks repeatedly arrives in one run. An unfinished file
// of one run arrives in the next run.
func TestGetResumes(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	text := large(1)
	r := s.put(t, set.ID, "large", text)
	dir := t.TempDir()
	s.cut(1<<20+5000, 1)
	if got := s.run(t, "", "get", r.ID, dir); got.error == nil || !strings.Contains(got.error.Error(), "the same command resumes from here") {
		t.Fatalf("%+v", got)
	}
	names := must[[]string](t)(filepath.Glob(filepath.Join(dir, "*")))
	if len(names) != 1 || names[0] != filepath.Join(dir, partialName(r)) {
		t.Fatalf("the folder has %v", names)
	}
	left := must[os.FileInfo](t)(os.Stat(names[0])).Size()
	if left < 1<<20 || left >= int64(len(text)) {
		t.Fatalf("%d bytes remain", left)
	}
	asked := s.cut(1<<20+5000, 1000)
	if got := s.run(t, "", "get", r.ID, dir); got.error != nil {
		t.Fatalf("%+v", got)
	}
	if ranges := asked(); ranges[0] != fmt.Sprintf("bytes=%d-", left-1) || len(ranges) < 2 {
		t.Errorf("it requested %v, with %d bytes stored locally", asked(), left)
	}
	if tree := treeOf(t, dir); len(tree) != 1 || tree["large"] != r.SHA256.String() {
		t.Errorf("%v", tree)
	}
}

// TestGetDiscardsWrongPartial: get does not resume a partial file that belongs to another file or
// is damaged.
func TestGetDiscardsWrongPartial(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	text := large(1)
	r := s.put(t, set.ID, "large", text)
	for what, left := range map[string]string{"damaged": "x" + text[1:1<<20], "too long": text + "x", "whole": text, "whole and damaged": "x" + text[1:], "empty": ""} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, partialName(r)), []byte(left), 0o600),
			os.WriteFile(filepath.Join(dir, ".labshelf-"+r.ID+"-"+strings.Repeat("0", 64)+".part"), []byte("an older version"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := s.run(t, "", "get", r.ID, dir); got.error != nil {
			t.Errorf("%s: %+v", what, got)
		}
		if tree := treeOf(t, dir); len(tree) != 1 || tree["large"] != r.SHA256.String() {
			t.Errorf("%s: %v", what, tree)
		}
	}
}

// TestGetReplacedDuringDownload: if a file is replaced while get fetches it, get fetches the new
// one from its beginning.
func TestGetReplacedDuringDownload(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "large", large(1))
	var want atomic.Pointer[client.Resource]
	var once atomic.Bool
	s.intercept(func(w http.ResponseWriter, q *http.Request) {
		if !isData(q) || once.Swap(true) {
			on(w, q)
			return
		}
		text := large(2)
		new := must[client.Resource](t)(s.client.Resources.Replace(context.Background(), r.ID, client.NewResource{Name: "large"}, strings.NewReader(text), int64(len(text))))
		want.Store(&new)
		through(w, q, &cutting{raw(w), 2 << 20})
	})
	dir := t.TempDir()
	if got := s.run(t, "", "get", r.ID, dir); got.error != nil {
		t.Fatalf("%+v", got)
	}
	if tree := treeOf(t, dir); len(tree) != 1 || tree["large"] != want.Load().SHA256.String() {
		t.Errorf("%v", tree)
	}
	once.Store(false) // now replace the file in the middle of the bytes
	s.intercept(func(w http.ResponseWriter, q *http.Request) {
		if !isData(q) || once.Swap(true) {
			on(w, q)
			return
		}
		defer func() {
			text := large(3)
			new := must[client.Resource](t)(s.client.Resources.Replace(context.Background(), r.ID, client.NewResource{Name: "large"}, strings.NewReader(text), int64(len(text))))
			want.Store(&new)
			panic(http.ErrAbortHandler)
		}()
		through(w, q, &cutting{raw(w), 2 << 20})
	})
	if got := s.run(t, "", "get", r.ID, dir, "--force"); got.error != nil {
		t.Fatalf("%+v", got)
	}
	if tree := treeOf(t, dir); len(tree) != 1 || tree["large"] != want.Load().SHA256.String() {
		t.Errorf("%v", tree)
	}
}

// TestGetRejectsWrongBytes: a file with wrong bytes never gets the name of the file.
func TestGetRejectsWrongBytes(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a", large(1))
	s.put(t, set.ID, "b", "small")
	var times atomic.Int32
	damage := func(most int32) {
		times.Store(0)
		s.intercept(func(w http.ResponseWriter, q *http.Request) {
			if isData(q) && strings.Contains(q.URL.Path, r.ID) && times.Add(1) <= most {
				through(w, q, &turning{raw(w), 1 << 20})
				return
			}
			on(w, q)
		})
	}
	dir := t.TempDir()
	damage(100)
	got := s.run(t, "", "get", "runs", dir)
	if tree := treeOf(t, dir); !errors.Is(got.error, exit.ErrPartly) || len(tree) != 1 || tree["b"] == "" || !strings.Contains(got.err, "SHA-256") {
		t.Errorf("%v, %+v", tree, got)
	}
	if got := s.run(t, "", "get", r.ID, "-"); !errors.Is(got.error, client.ErrDigest) || !strings.Contains(got.error.Error(), "do not use the written part") {
		t.Errorf("%v", got.error)
	}
	damage(1)
	if got := s.run(t, "", "get", "runs", dir); got.error != nil || treeOf(t, dir)["a"] != r.SHA256.String() {
		t.Errorf("%+v", got)
	}
}

// TestGetInterruptedKeepsPartial: after a signal, get keeps a partial file if it is large enough.
// The message says that get can resume it.
func TestGetInterruptedKeepsPartial(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, size := range []int{1 << 10, 1<<20 + 100<<10} { // bytes before the signal
		r, dir := s.put(t, set.ID, fmt.Sprint(size), large(size)), t.TempDir()
		ctx, signal := context.WithCancel(t.Context())
		s.intercept(func(w http.ResponseWriter, q *http.Request) {
			if !isData(q) {
				on(w, q)
				return
			}
			defer func() {
				_ = recover()
				<-q.Context().Done() // until the client closes the connection
			}()
			go func() { // when the bytes have arrived
				for ctx.Err() == nil {
					if info, err := os.Stat(filepath.Join(dir, partialName(r))); err == nil && info.Size() >= int64(size) {
						signal()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			through(w, q, &cutting{raw(w), size})
		})
		got := s.runAs(ctx, s.key, "", "get", r.ID, dir)
		signal()
		if !errors.Is(got.error, exit.ErrInterrupted) || !strings.Contains(got.error.Error(), "run the same command again") {
			t.Errorf("%+v", got)
		}
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != map[bool]int{false: 0, true: 1}[size >= 1<<20] {
			t.Errorf("after %d bytes, the folder has %v, %v", size, names, err)
		}
	}
}

// TestGetSkipsLockedFile: get does not touch a file that another process downloads.
func TestGetSkipsLockedFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a", "alpha")
	s.put(t, set.ID, "b", "beta")
	dir := t.TempDir()
	file := must[*os.File](t)(os.Create(filepath.Join(dir, partialName(r))))
	if err := fetch.Lock(file); err != nil {
		t.Fatal(err)
	}
	if got := s.run(t, "", "get", "runs", dir); !errors.Is(got.error, exit.ErrPartly) || !strings.Contains(got.err, "wait for it") {
		t.Errorf("%+v", got)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.run(t, "", "get", "runs", dir); got.error != nil || len(treeOf(t, dir)) != 2 {
		t.Errorf("%+v", got)
	}
}
