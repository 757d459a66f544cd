package client

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"labshelf/cli/exit"
)

// breaking forwards 10 MiB of the first chunk, and then blocks a number of chunks. It counts the
// forwarded bytes and the begun uploads.
type breaking struct {
	until               int64
	begun, chunks, came atomic.Int64
}

func (b *breaking) intercept(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/uploads"):
		b.begun.Add(1)
	case r.Method == http.MethodPatch:
		r.Body = &passing{r.Body, &b.came, 0, nil}
		if n := b.chunks.Add(1); n == 1 {
			r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, 10<<20), iotest.ErrReader(io.ErrUnexpectedEOF)))
		} else if n <= b.until {
			panic(http.ErrAbortHandler)
		}
	}
	on(w, r)
}

// TestPutResumesAfterGivingUp: if the client gives up an upload, put tries again and resumes it.
func TestPutResumesAfterGivingUp(t *testing.T) {
	t.Parallel()
	for _, replaced := range []string{"", "old"} {
		s := start(t)
		set := s.newSet(t, "lab", "runs")
		if replaced != "" {
			s.put(t, set.ID, "large.bin", replaced)
		}
		path, content := largeFile(t)
		b := breaking{until: 6} // the client makes five attempts without progress
		s.intercept(b.intercept)
		if got := s.run(t, "", "put", path, "runs"); got.error != nil || b.begun.Load() != 1 || b.came.Load() > int64(len(content)) {
			t.Errorf("%+v, %d begun, %d of %d bytes sent", got, b.begun.Load(), b.came.Load(), len(content))
		}
		s.holds(t, set.ID, map[string]string{"large.bin": content})
	}
}

// TestPutResumesNoOtherFile: chunks of an earlier run never become part of another file, even
// if it has the same path, size and time.
func TestPutResumesNoOtherFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path, content := largeFile(t)
	other, old := strings.Replace(content, "0", "x", 1), time.Unix(1e9, 0)
	check := func(text string) {
		t.Helper()
		write(t, path, text)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	check(content)
	b := breaking{until: 1 << 30}
	s.intercept(b.intercept)
	if got := s.run(t, "", "put", path, "runs"); got.error == nil || errors.Is(got.error, exit.ErrInterrupted) {
		t.Errorf("broken off: %+v", got)
	}
	s.intercept(nil)
	check(other)
	if got := s.run(t, "", "put", path, "runs"); got.error != nil {
		t.Errorf("another file: %+v", got)
	}
	s.holds(t, set.ID, map[string]string{"large.bin": other})
}

// TestPutToOlderService: if the service does not compare the digest at the end, put compares it,
// and the next run replaces the file.
func TestPutToOlderService(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path, content := largeFile(t)
	var came atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Labshelf-SHA256")
		if r.Method == http.MethodPatch && came.Add(1) == 1 {
			rest := r.Body
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("x"), rest)) // the received bytes differ from the sent ones
			_, _ = rest.Read(make([]byte, 1))
		}
		on(w, r)
	})
	if got := s.run(t, "", "put", path, "runs"); got.error == nil || !strings.Contains(got.err, "the same command replaces it") {
		t.Errorf("damaged on the way: %+v", got)
	}
	if got := s.run(t, "", "put", path, "runs"); got.error != nil {
		t.Errorf("again: %+v", got)
	}
	s.holds(t, set.ID, map[string]string{"large.bin": content})
}
