package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// upload is a request that has arrived completely.
type upload struct {
	name string
	body []byte
}

var namePart = regexp.MustCompile(`name="name"\r\n\r\n([^\r]*)\r\n`)

// receive reads an upload to its end. The request can still be forwarded.
func receive(r *http.Request) (upload, error) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	u := upload{body: body}
	if name := namePart.FindSubmatch(body); name != nil {
		u.name = string(name[1])
	}
	return u, err
}

// lose lets the service handle a request, and cuts the connection instead of sending the response.
func lose(w http.ResponseWriter, r *http.Request) {
	w.(intercepted).service.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	panic(http.ErrAbortHandler)
}

func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/resources") || r.Method == http.MethodPut || r.Method == http.MethodPatch
}

// TestPutLostAnswersNoDuplicates: uploads whose response was lost create no second resource, and
// their bytes are not sent again.
func TestPutLostAnswersNoDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{"new-1": "1", "new-2": "1", "empty": "", "old": "3", "same": "4"}
	s.put(t, set.ID, "old", "two")
	s.put(t, set.ID, "same", "4")
	root := tree(t, files)
	var posts atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !isUpload(r) {
			on(w, r)
			return
		}
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		lose(w, r)
	})
	got := s.run(t, "", "put", root, "runs")
	if want := "sent           3 files, 2 B\nreplaced       1 file, 1 B\nalready there  1 file, 1 B\n"; got.error != nil || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	s.holds(t, set.ID, files)
	if n := posts.Load(); n != 3 {
		t.Errorf("%d uploads of 3 new files", n)
	}
}

// TestPutBrokenUploads: an upload that is interrupted, or that a proxy does not forward, is
// repeated.
func TestPutBrokenUploads(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "old", "two")
	files := map[string]string{"new": strings.Repeat("x", 1<<20), "old": "3"}
	root := tree(t, files)
	var mu sync.Mutex
	tries := map[string]int{}
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !isUpload(r) {
			on(w, r)
			return
		}
		mu.Lock()
		tries[r.Method]++
		try := tries[r.Method]
		mu.Unlock()
		switch try {
		case 1:
			_, _ = io.CopyN(io.Discard, r.Body, 100)
			panic(http.ErrAbortHandler)
		case 2:
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusBadGateway)
		default:
			on(w, r)
		}
	})
	if got := s.run(t, "", "put", root, "runs"); got.error != nil || got.err != "" {
		t.Errorf("got %+v", got)
	}
	s.holds(t, set.ID, files)
	if tries["POST"] != 3 || tries["PUT"] != 3 {
		t.Errorf("it took %v", tries)
	}
}

// TestPutGivesUp: if the uploads of one file never succeed, only this file fails.
func TestPutGivesUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	var tries atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) {
			u, err := receive(r)
			if err != nil || u.name == "a" {
				tries.Add(1)
				panic(http.ErrAbortHandler)
			}
		}
		on(w, r)
	})
	got := s.run(t, "", "put", root, "runs")
	if !errors.Is(got.error, exit.ErrPartly) || !strings.Contains(got.err, "a: ") || !strings.Contains(got.err, "does not answer") {
		t.Errorf("got %+v", got)
	}
	if n := tries.Load(); n != 5 {
		t.Errorf("it was sent %d times", n)
	}
	s.holds(t, set.ID, map[string]string{"b": "2"})
}

// TestPutLateStoreNoDuplicates: the service stores an upload only after put has looked for it and
// sent it again. At the end, the file exists once.
func TestPutLateStoreNoDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"}
	root := tree(t, files)
	var late atomic.Pointer[http.Request]
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if !isUpload(r) {
			on(w, r)
			return
		}
		u, err := receive(r)
		if err != nil || u.name != "c" {
			on(w, r)
			return
		}
		if late.Load() == nil {
			late.Store(r.Clone(context.WithoutCancel(r.Context())))
			panic(http.ErrAbortHandler)
		}
		w.(intercepted).service.ServeHTTP(httptest.NewRecorder(), late.Load())
		on(w, r)
	})
	got := s.run(t, "", "put", root, "runs")
	if want := "sent           5 files, 5 B\nalready there  1 file, 1 B\n"; got.error != nil || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	s.holds(t, set.ID, files)
}

// TestConcurrentPutsNoDuplicates: two clients that upload the same files concurrently leave one of
// each.
func TestConcurrentPutsNoDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("run-%d", i)] = fmt.Sprint(i)
	}
	root := tree(t, files)
	listed := make(chan struct{}) // both have listed the empty set
	var lists atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) {
			<-listed
		}
		on(w, r)
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, set.ID+"/resources") && lists.Add(1) == 2 {
			close(listed)
		}
	})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if got := s.runAs(t.Context(), s.key, "", "put", root, "runs"); got.error != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
	both.Wait()
	s.holds(t, set.ID, files)
}

// TestPutEndsOnFatalError: an error that affects every file ends put, and put counts the files that
// were not tried.
func TestPutEndsOnFatalError(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprint(i)] = "x"
	}
	root := tree(t, files)
	var uploads atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) && uploads.Add(1) == 5 {
			if err := s.client.Sets.Delete(r.Context(), set.ID); err != nil {
				t.Error(err)
			}
		}
		on(w, r)
	})
	got := s.run(t, "", "put", root, "runs", "--parallel", "1")
	if got.error == nil || !strings.Contains(got.Error(), "409 parent_deleted") || !strings.Contains(got.Error(), "the same command resumes from here") {
		t.Errorf("got %+v", got)
	}
	if want := "sent       4 files, 4 B\nfailed     1 file\nnot tried  25 files\n"; got.out != want || uploads.Load() != 5 {
		t.Errorf("got %q, want %q; %d uploads", got.out, want, uploads.Load())
	}
	s.server.CloseClientConnections()
	s.intercept(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if got := s.run(t, "", "put", root, "runs"); got.error == nil || !strings.Contains(got.Error(), "does not answer") {
		t.Errorf("without a service: %+v", got)
	}
}

// TestPutOnFullDisk: if the disk of the service is full, put ends with the same error, whether some
// files were stored or not. It reports each file that it tried.
func TestPutOnFullDisk(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprint(i)] = "x"
	}
	root := tree(t, files)
	for _, room := range []int64{0, 7} {
		var uploads, refused atomic.Int64
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if isUpload(r) && uploads.Add(1) > room {
				refused.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusInsufficientStorage)
				_, _ = io.WriteString(w, `{"status":507,"code":"no_space","detail":"no space is left; nothing was changed"}`)
				return
			}
			on(w, r)
		})
		got := s.run(t, "", "put", root, "runs")
		var problem *client.Problem
		if !errors.As(got.error, &problem) || problem.Status != http.StatusInsufficientStorage || errors.Is(got.error, exit.ErrPartly) {
			t.Errorf("got %+v", got)
		}
		tried := strings.Count(got.err, "507 no_space")
		if int64(tried) != refused.Load() || tried == 0 || !strings.Contains(got.out, fmt.Sprintf("failed     %s\n", display.Files(tried))) ||
			!strings.Contains(got.out, fmt.Sprintf("not tried  %d files\n", 30-tried-int(room))) {
			t.Errorf("%d uploads were refused: %+v", refused.Load(), got)
		}
	}
}

// TestPutInterrupted: a signal leaves only complete resources, and the same command resumes.
func TestPutInterrupted(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{"large": strings.Repeat("x", 8<<20)}
	for i := range 20 {
		files[fmt.Sprint(i)] = fmt.Sprint(i)
	}
	root := tree(t, files)
	ctx, signal := context.WithCancel(t.Context())
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) && r.ContentLength > 8<<20 {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
			signal()
		}
		on(w, r)
	})
	got := s.runAs(ctx, s.key, "", "put", root, "runs", "--parallel", "2")
	if !errors.Is(got.error, exit.ErrInterrupted) || !strings.Contains(got.Error(), "run the same command again to resume") || !strings.Contains(got.out, "not tried") {
		t.Errorf("got %+v", got)
	}
	for _, r := range s.active(t, set.ID) {
		if want, there := files[r.Name]; !there || r.Bytes != int64(len(want)) || r.Name == "large" {
			t.Errorf("stored %+v", r)
		}
	}
	s.intercept(nil)
	if got := s.run(t, "", "put", root, "runs"); got.error != nil {
		t.Errorf("the second time: %+v", got)
	}
	s.holds(t, set.ID, files)
}
