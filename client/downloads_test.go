package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/client"
)

// upload uploads a file to the set.
func (s shelf) upload(t *testing.T, name string, text []byte) client.Resource {
	t.Helper()
	return must[client.Resource](t)(s.c.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Name: name}, bytes.NewReader(text), int64(len(text))))
}

// TestDataFromAnyByte: a download can begin at any byte, if the file is still the requested one.
func TestDataFromAnyByte(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, text := range [][]byte{{}, []byte("x"), noise(100_000)} {
		r := s.upload(t, "file", text)
		whole := must[*client.File](t)(s.c.Resources.Data(t.Context(), r.ID, 0, ""))
		check(t, whole.Close())
		for _, from := range []int64{0, 1, int64(len(text)) / 2, int64(len(text)) - 1, int64(len(text))} {
			if from < 0 || from > int64(len(text)) {
				continue
			}
			f, err := s.c.Resources.Data(t.Context(), r.ID, from, whole.ETag)
			if err != nil {
				t.Fatalf("from %d of %d: %v", from, len(text), err)
			}
			rest := must[[]byte](t)(io.ReadAll(f))
			check(t, f.Close())
			if !bytes.Equal(rest, text[from:]) || f.From != from || f.Bytes != int64(len(rest)) || f.Total != int64(len(text)) || f.Digest != r.SHA256 || f.ETag != whole.ETag {
				t.Errorf("from %d: %d bytes, %+v", from, len(rest), f)
			}
		}
		wantStatus(t, http.StatusRequestedRangeNotSatisfiable)(s.c.Resources.Data(t.Context(), r.ID, int64(len(text))+2, ""))
		wantStatus(t, http.StatusPreconditionFailed)(s.c.Resources.Data(t.Context(), r.ID, 0, `"another"`))
		if _, err := s.c.Resources.Data(t.Context(), r.ID, -1, ""); err == nil {
			t.Error("from a negative offset")
		}
	}
}

func wantStatus(t *testing.T, want int) func(*client.File, error) {
	return func(f *client.File, err error) {
		t.Helper()
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != want || f != nil {
			t.Errorf("%+v, %v; want %d", f, err, want)
		}
	}
}

// cutBody breaks the connection after a number of bytes of a response.
type cutBody struct {
	http.ResponseWriter
	left int
}

func (c *cutBody) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// cuts breaks every response with a file after n bytes, and records the requested ranges.
func cuts(n int, ranges *[]string, then func()) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		mu.Lock()
		*ranges = append(*ranges, r.Header.Get("Range"))
		mu.Unlock()
		defer then()
		service.ServeHTTP(&cutBody{w, n}, r)
	}
}

// TestDownloadResumes: a download resumes after a broken connection, as long as each attempt makes
// progress.
func TestDownloadResumes(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	text := noise(1000)
	r := s.upload(t, "file", text)
	var ranges []string
	c, w := hasty(s.behind(t, cuts(301, &ranges, func() {})), client.Retries{Tries: 2})
	f := must[*client.File](t)(c.Resources.Data(t.Context(), r.ID, 0, ""))
	got, err := io.ReadAll(f)
	check(t, f.Close())
	// The request includes the byte before the missing ones, so each response adds 300 bytes.
	if err != nil || !bytes.Equal(got, text) || fmt.Sprint(ranges) != "[ bytes=300- bytes=600- bytes=900-]" || len(w.all) != 3 {
		t.Errorf("%d bytes, %v, by %q", len(got), err, ranges)
	}
}

// TestDownloadOfAnotherFileDoesNotResume: without progress, or if the file was replaced, the
// download ends with an error.
func TestDownloadOfAnotherFileDoesNotResume(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	text := noise(1000)
	t.Run("no bytes arrive", func(t *testing.T) {
		t.Parallel()
		r := s.upload(t, "dry", text)
		var asked atomic.Int64
		c, w := hasty(s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if asked.Add(1) > 1 {
				panic(http.ErrAbortHandler)
			}
			service.ServeHTTP(&cutBody{w, 100}, r)
		}), client.Retries{Tries: 3})
		got, err := readAll(t, c, r.ID)
		if !errors.Is(err, client.ErrIncomplete) || !bytes.Equal(got, text[:100]) || len(w.all) == 0 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("one byte without progress", func(t *testing.T) {
		t.Parallel()
		r := s.upload(t, "one", text)
		var ranges []string
		c, _ := hasty(s.behind(t, cuts(1, &ranges, func() {})), client.Retries{Tries: 3})
		got, err := readAll(t, c, r.ID)
		if !errors.Is(err, client.ErrIncomplete) || len(got) != 1 || len(ranges) != 3 {
			t.Errorf("%d bytes, %v, by %q", len(got), err, ranges)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		t.Parallel()
		r := s.upload(t, "replaced", text)
		var ranges []string
		replace := sync.OnceFunc(func() {
			must[client.Resource](t)(s.c.Resources.Replace(context.Background(), r.ID, client.NewResource{Name: "other"}, bytes.NewReader(noise(999)), -1))
		})
		c, _ := hasty(s.behind(t, cuts(400, &ranges, replace)), client.Retries{})
		got, err := readAll(t, c, r.ID)
		p, _ := errors.AsType[*client.Problem](err)
		if !errors.Is(err, client.ErrIncomplete) || p == nil || p.Status != http.StatusPreconditionFailed || !bytes.Equal(got, text[:400]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		r := s.upload(t, "once", text)
		var ranges []string
		c, _ := hasty(s.behind(t, cuts(400, &ranges, func() {})), client.Retries{Tries: 1})
		if got, err := readAll(t, c, r.ID); !errors.Is(err, client.ErrIncomplete) || len(got) != 400 || len(ranges) != 1 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		r := s.upload(t, "cancelled", text)
		ctx, cancel := context.WithCancel(t.Context())
		var ranges []string
		c := s.behind(t, cuts(400, &ranges, cancel)).WithRetries(client.Retries{Wait: func(context.Context, time.Duration) error { return nil }})
		f, err := c.Resources.Data(ctx, r.ID, 0, "")
		if err == nil {
			_, err = io.ReadAll(f)
			check(t, f.Close())
		}
		if !errors.Is(err, context.Canceled) || len(ranges) != 1 {
			t.Errorf("%v, by %q", err, ranges)
		}
	})
}

func readAll(t *testing.T, c *client.Client, id string) ([]byte, error) {
	t.Helper()
	f := must[*client.File](t)(c.Resources.Data(t.Context(), id, 0, ""))
	got, err := io.ReadAll(f)
	return got, errors.Join(err, f.Close())
}

// TestChangedBytesAreErrDigest: bytes that changed in transit cause ErrDigest.
func TestChangedBytesAreErrDigest(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	r := s.upload(t, "file", noise(1000))
	c := s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) { service.ServeHTTP(flipping{w}, r) })
	if got, err := readAll(t, c, r.ID); !errors.Is(err, client.ErrDigest) || len(got) != 1000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// flipping flips a bit.
type flipping struct{ http.ResponseWriter }

func (f flipping) Write(p []byte) (int, error) {
	p = bytes.Clone(p)
	p[len(p)/2] ^= 1
	return f.ResponseWriter.Write(p)
}

// TestBrokenArchiveIsIncomplete: a truncated archive is an error.
func TestBrokenArchiveIsIncomplete(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.upload(t, "file", noise(100_000))
	var ranges []string
	zip, err := s.behind(t, cuts(50_000, &ranges, func() {})).Sets.Archive(t.Context(), s.set.ID)
	if err := drain(zip, err); !errors.Is(err, client.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
	if _, err := s.c.Sets.Archive(t.Context(), s.set.ID, "nothing"); err == nil || !strings.Contains(err.Error(), "resource_not_found") {
		t.Errorf("got %v", err)
	}
}
