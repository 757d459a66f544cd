package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/cli/client/resumption"
	"labshelf/cli/exit"
	"labshelf/client"
)

// passing forwards a body, counts its bytes, and calls a function after a number of bytes.
type passing struct {
	io.ReadCloser
	count *atomic.Int64
	after int64
	act   func()
}

func (p *passing) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.count.Add(int64(n)) >= p.after && p.act != nil {
		p.act()
		p.act = nil
	}
	return n, err
}

// TestPutResumes: another run resumes the upload of a large file, also for a replacement. If the
// file has changed in the meantime, the upload starts again.
func TestPutResumes(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	const size = 40 << 20
	var came atomic.Int64
	put := func(path string, stopAfter int64) int64 {
		t.Helper()
		ctx, signal := context.WithCancel(t.Context())
		defer signal()
		came.Store(0)
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				p := &passing{r.Body, &came, stopAfter, nil}
				if stopAfter > 0 {
					p.act = signal
				}
				r.Body = p
			}
			on(w, r)
		})
		got := s.runAs(ctx, s.key, "", "put", path, "runs")
		if interrupted := errors.Is(got.error, exit.ErrInterrupted); interrupted != (stopAfter > 0) {
			t.Errorf("stopped after %d: %+v", stopAfter, got)
		}
		return came.Load()
	}
	path := filepath.Join(t.TempDir(), "large.bin")
	for round, content := range []string{strings.Repeat("first 0123456789", size/16), strings.Repeat("other 0123456789", size/16)} {
		write(t, path, content)
		first := put(path, 10<<20)
		for _, r := range s.active(t, set.ID) {
			if round == 0 || r.SHA256 == sha256.Sum256([]byte(content)) {
				t.Errorf("round %d: half a file is stored as %+v", round, r)
			}
		}
		second := put(path, 0)
		if total := first + second; second >= size || total > size+4<<20 {
			t.Errorf("round %d: sent %d bytes, then %d, for a file of %d", round, first, second, size)
		}
		s.holds(t, set.ID, map[string]string{"large.bin": content})
	}
}

// largeFile creates a file that is just long enough to be sent in chunks.
func largeFile(t *testing.T) (path, content string) {
	t.Helper()
	content = strings.Repeat("0123456789abcdef", 16<<20/16+1)
	path = filepath.Join(t.TempDir(), "large.bin")
	write(t, path, content)
	return path, content
}

// placeOf returns the stored entry for the upload of a file as large.bin.
func placeOf(t *testing.T, s *service, set client.Set, path string) resumption.Entry {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return resumption.Stored().Of(s.base(), client.NewResource{SetID: set.ID, Name: "large.bin", Filename: "large.bin"}, "", []client.Condition(nil),
		fmt.Sprintf("%q %d %d", path, info.Size(), info.ModTime().UnixNano()))
}

// TestPutKilledAtEnd: a run was killed before it received the response for its last chunk. The next
// run uses the resource only if the resource still exists under its name.
func TestPutKilledAtEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path, content := largeFile(t)
	for _, meanwhile := range [][]string{{"rm"}, {"mv", "other.bin"}} {
		ctx, kill := context.WithCancel(t.Context())
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Labshelf-SHA256") != "" { // the last chunk
				defer kill()
				lose(w, r)
			}
			on(w, r)
		})
		if got := s.runAs(ctx, s.key, "", "put", path, "runs"); !errors.Is(got.error, exit.ErrInterrupted) {
			t.Errorf("killed: %+v", got)
		}
		s.intercept(nil)
		args := append([]string{meanwhile[0], "runs:large.bin"}, meanwhile[1:]...)
		for _, args := range [][]string{args, {"put", path, "runs"}} {
			if got := s.run(t, "", args...); got.error != nil {
				t.Errorf("%q: %+v", args, got)
			}
		}
		want := map[string]string{"large.bin": content}
		if meanwhile[0] == "mv" {
			want["other.bin"] = content
		}
		s.holds(t, set.ID, want)
		if got := s.run(t, "", "rm", "runs:large.bin"); got.error != nil {
			t.Error(got)
		}
	}
}

// TestPutIgnoresBrokenResumption: put ignores damaged entries of uploads, and removes abandoned
// ones.
func TestPutIgnoresBrokenResumption(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path, content := largeFile(t)
	place := placeOf(t, s, set, path)
	long, recent := resumption.Stored().Of(s.base(), "long ago"), resumption.Stored().Of(s.base(), "recently")
	for _, r := range []resumption.Entry{long, recent} {
		r.Save("01M81DEBP8F5TDPQKMMPKZ1SSS")
	}
	for r, age := range map[resumption.Entry]time.Duration{long: 91 * 24 * time.Hour, recent: 89 * 24 * time.Hour} {
		if err := os.Chtimes(string(r), time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for _, broken := range []string{"..", "", "01M81DEBP8F5TD", strings.Repeat("A", 2<<20), "01M81DEBP8F5TDPQKMMPKZ1SSS"} {
		write(t, string(place), broken)
		var came atomic.Int64
		s.intercept(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/uploads") {
				came.Add(1)
			}
			on(w, r)
		})
		if got := s.run(t, "", "put", path, "runs"); got.error != nil || came.Load() != 1 {
			t.Errorf("%.40q is stored: %+v, and %d uploads begun", broken, got, came.Load())
		}
		if left := place.ID(); left != "" {
			t.Errorf("%.40q is still remembered", left)
		}
		s.holds(t, set.ID, map[string]string{"large.bin": content})
		if got := s.run(t, "", "rm", "runs:large.bin"); got.error != nil {
			t.Error(got)
		}
	}
	if long.ID() != "" || recent.ID() == "" {
		t.Errorf("old entries: %q, recent entries: %q", long.ID(), recent.ID())
	}
}

// TestPutChangedLargeFile: a large file that changes while it is sent leaves nothing, neither
// locally nor on the service.
func TestPutChangedLargeFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path, content := largeFile(t)
	place := placeOf(t, s, set, path)
	var at, remembered atomic.Pointer[string]
	var came atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			at.Store(&r.URL.Path)
			remembered.Store(new(place.ID()))
			r.Body = &passing{r.Body, &came, 1 << 20, func() { write(t, path, content+"more") }}
		}
		on(w, r)
	})
	if got := s.run(t, "", "put", path, "runs"); got.error == nil || !strings.Contains(got.err, "the file changed while it was read") {
		t.Errorf("changed: %+v", got)
	}
	if at.Load() == nil || remembered.Load() == nil || *remembered.Load() == "" {
		t.Fatal("no bytes were sent, or no entry was stored")
	}
	_, err := s.client.Uploads.Get(t.Context(), (*at.Load())[strings.LastIndex(*at.Load(), "/")+1:])
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Status != http.StatusNotFound || place.ID() != "" {
		t.Errorf("the upload still exists (%v), or its entry %q", err, place.ID())
	}
	s.intercept(nil)
	if got := s.run(t, "", "put", path, "runs"); got.error != nil {
		t.Errorf("again: %+v", got)
	}
	s.holds(t, set.ID, map[string]string{"large.bin": content + "more"})
}

// TestPutWithoutReading tests that put sends a large file once with a key that may only add files,
// also after a power failure has left the last line of its list incomplete.
func TestPutWithoutReading(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	made, err := s.client.Keys.Create(t.Context(), client.Me, client.NewKey{KeyLimits: client.KeyLimits{Scope: "add", SetID: set.ID}})
	if err != nil {
		t.Fatal(err)
	}
	path, content := largeFile(t)
	other := filepath.Join(filepath.Dir(path), "other.txt")
	for run, want := range []string{"sent  1 file, ", "already there  1 file, "} {
		if got := s.runAs(t.Context(), made.Secret, "", "put", path, set.ID); got.error != nil || !strings.HasPrefix(got.out, want) {
			t.Errorf("run %d: %+v, want %q", run, got, want)
		}
	}
	lists, err := filepath.Glob(filepath.Join(must[string](t)(os.UserConfigDir()), "labshelf", "sent", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists { // of other tests, too; an incomplete line harms none
		f := must[*os.File](t)(os.OpenFile(list, os.O_APPEND|os.O_WRONLY, 0))
		if _, err := f.WriteString(`{"name":"other.txt","by`); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	write(t, other, "other")
	for run, want := range []string{"sent           1 file, 5 B\nalready there  1 file, ", "already there  2 files, "} {
		got := s.runAs(t.Context(), made.Secret, "", "put", path, other, set.ID)
		if got.error != nil || !strings.Contains(got.out, want) {
			t.Errorf("run %d after the power failure: %+v, want %q", run, got, want)
		}
	}
	s.holds(t, set.ID, map[string]string{"large.bin": content, "other.txt": "other"})
}
