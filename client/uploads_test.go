package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/client"
)

// shelf is a set to upload into.
type shelf struct {
	*service
	c   *client.Client
	set client.Set
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	s, c := start(t)
	d := must[client.Dataspace](t)(c.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "lab"}))
	return shelf{s, c, must[client.Set](t)(c.Sets.Create(t.Context(), client.NewSet{Name: "set", DataspaceID: d.ID}))}
}

// names lists the resources of the set.
func (s shelf) names(t *testing.T) (names []string) {
	t.Helper()
	for _, r := range collect(t, s.c.Sets.Resources(t.Context(), s.set.ID, client.ListOptions{State: client.All, Order: "name"})) {
		names = append(names, r.Name)
	}
	return names
}

// content downloads a file.
func content(t *testing.T, c *client.Client, id string) []byte {
	t.Helper()
	f := must[*client.File](t)(c.Resources.Data(t.Context(), id, 0, ""))
	text := must[[]byte](t)(io.ReadAll(f))
	check(t, f.Close())
	return text
}

// noise returns random bytes that differ in each call.
func noise(n int) []byte {
	source := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	text := make([]byte, n)
	_, _ = source.Read(text) // never fails
	return text
}

// TestUploadsAreStoredAsSent: the stored file equals the sent one, whatever its names and length,
// with and without a known digest.
func TestUploadsAreStoredAsSent(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i, name := range []string{"plain.txt", "größe 测试.csv", `quo"ted;x=y`, "100%25.bin", "a\u00a0b", "-rf", ".hidden", "a/b/c.d"} {
		for _, n := range []int{0, 1, 300_000} {
			for _, known := range []bool{true, false} {
				text := noise(n)
				r := client.NewResource{SetID: s.set.ID, Name: fmt.Sprint(i, "/", name), Filename: name, Description: "lines\n--and = more"}
				size := int64(-1)
				if known {
					r.Digest, size = sha256.Sum256(text), int64(n)
				}
				got, err := s.c.Resources.Create(t.Context(), r, bytes.NewReader(text), size)
				if err != nil {
					t.Errorf("%s of %d: %v", name, n, err)
					continue
				}
				wantFile := name[strings.LastIndex(name, "/")+1:]
				if got.Name != r.Name || got.Filename != wantFile || got.Description != r.Description || got.SHA256 != sha256.Sum256(text) || got.ETag == "" {
					t.Errorf("%s is stored as %+v", name, got)
				}
				if !bytes.Equal(content(t, s.c, got.ID), text) {
					t.Errorf("%s of %d bytes has changed", name, n)
				}
			}
		}
	}
	same(t, must[client.Resource](t)(s.c.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Filename: "only.tsv"}, strings.NewReader("x"), 1)).Name, "only.tsv")
}

// TestRefusedUploadsLeaveNothing: an invalid upload leaves no data, and the error has the reason.
func TestRefusedUploadsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	broken := errors.New("the disk is gone")
	tests := []struct {
		name string
		r    client.NewResource
		body io.Reader
		size int64
		want string
	}{
		{"shorter", client.NewResource{Name: "n"}, strings.NewReader("four"), 5, "1 bytes less than 5"},
		{"longer", client.NewResource{Name: "n"}, strings.NewReader("four"), 3, "more than 3 bytes"},
		{"not empty", client.NewResource{Name: "n"}, strings.NewReader("four"), 0, "more than 0 bytes"},
		{"empty", client.NewResource{Name: "n"}, strings.NewReader(""), 1, "1 bytes less than 1"},
		{"unreadable", client.NewResource{Name: "n"}, io.MultiReader(bytes.NewReader(noise(1<<20)), iotest.ErrReader(broken)), -1, broken.Error()},
		{"unreadable at its end", client.NewResource{Name: "n"}, io.MultiReader(strings.NewReader("four"), iotest.ErrReader(broken)), 4, broken.Error()},
		{"another digest", client.NewResource{Name: "n", Digest: blobs.Digest{1}}, strings.NewReader("four"), 4, "digest_mismatch"},
		{"no name", client.NewResource{}, strings.NewReader("four"), 4, "name"},
		{"another header", client.NewResource{Name: "n", Mimetype: "text/x\r\nRepr-Digest: x"}, strings.NewReader("four"), 4, "control character"},
		{"no set", client.NewResource{SetID: "nowhere", Name: "n"}, strings.NewReader("four"), 4, "set_not_found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.r.SetID == "" {
				tt.r.SetID = s.set.ID
			}
			c, w := hasty(s.c, client.Retries{})
			_, err := c.Resources.Create(t.Context(), tt.r, tt.body, tt.size)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.want == broken.Error() && !errors.Is(err, broken) || len(w.all) > 0 {
				t.Errorf("%v, after waits %v", err, w.all)
			}
		})
	}
	if names := s.names(t); len(names) > 0 {
		t.Errorf("stored %q", names)
	}
}

// cutAfter breaks the connection after n bytes of a body.
func cutAfter(n int64) fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.CopyN(io.Discard, r.Body, n)
		panic(http.ErrAbortHandler)
	}
}

// TestUploadRetries: an interrupted upload is sent again from its beginning if the
// service cannot have stored it, or if storing it again has no effect. It is never sent from the
// middle, and never stored twice.
func TestUploadRetries(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	old := must[client.Resource](t)(s.c.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Name: "old"}, strings.NewReader("old"), 3))
	large, small := noise(16<<20), noise(100_000) // large exceeds all buffers on the path
	begun := func(text []byte) io.ReadSeeker {    // positioned at its second byte
		body := bytes.NewReader(append([]byte("x"), text...))
		_, _ = body.ReadByte()
		return body
	}
	tests := []struct {
		name    string
		fault   fault
		text    []byte
		stream  bool
		replace bool
		tries   int64
		ok      bool
		kept    bool // whether a failed create stored the file
	}{
		{"created, broken in the middle", cutAfter(1 << 20), large, false, false, 3, true, false},
		{"created, broken in the middle, of a stream", cutAfter(1 << 20), large, true, false, 1, false, false},
		{"created, not answered", lost, small, false, false, 1, false, true},
		{"created, refused for now", answers(503, "unavailable", ""), small, false, false, 3, true, false},
		{"replaced, broken in the middle", cutAfter(10_000), small, false, true, 3, true, false},
		{"replaced, not answered", lost, small, false, true, 3, true, false},
		{"replaced, not answered, of a stream", lost, small, true, true, 1, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			c, _ := hasty(s.behind(t, tt.fault.at(2, &tries)), client.Retries{})
			r := client.NewResource{SetID: s.set.ID, Name: tt.name}
			var body io.Reader = begun(tt.text)
			if tt.stream {
				body = io.MultiReader(body)
			}
			var got client.Resource
			var err error
			if tt.replace {
				got, err = c.Resources.Replace(t.Context(), old.ID, r, body, int64(len(tt.text)))
			} else {
				got, err = c.Resources.Create(t.Context(), r, body, int64(len(tt.text)))
			}
			if tries.Load() != tt.tries || (err == nil) != tt.ok || tt.ok && got.SHA256 != sha256.Sum256(tt.text) {
				t.Errorf("%d tries: %+v, %v", tries.Load(), got, err)
			}
			found := len(collect(t, s.c.Sets.Resources(t.Context(), s.set.ID, client.ListOptions{Name: tt.name})))
			if want := tt.ok || tt.kept; !tt.replace && (found == 1) != want {
				t.Errorf("%d files are stored", found)
			}
		})
	}
}

// TestRefusedBeforeTheFileIsSent: a caller who may not upload is refused before the file is sent.
func TestRefusedBeforeTheFileIsSent(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	mary := must[client.User](t)(s.c.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	key := must[client.CreatedKey](t)(s.c.Keys.Create(t.Context(), mary.ID, client.NewKey{}))
	her := client.New(s.base, key.Secret)
	defer her.Close()
	body := &endless{}
	_, err := her.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Name: "n"}, io.LimitReader(body, 1<<30), 1<<30)
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code != errs.CodeForbidden {
		t.Errorf("%v", err)
	}
	if n := body.read.Load(); n > 64<<20 {
		t.Errorf("%d bytes were sent", n)
	}
}

// endless is a body of zeros.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// TestUploadsNeedBoundedMemory: no file is ever in memory as a whole.
func TestUploadsNeedBoundedMemory(t *testing.T) {
	s := newShelf(t)
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// Service and client share this memory. Each copies through chunks of some 100 KiB, and the
	// service uses 4 MiB for a file.
	got, err := s.c.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Name: "n"}, io.LimitReader(&endless{}, size), size)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err != nil || got.Bytes != size || made > 16<<20 {
		t.Errorf("%+v, %v, %d bytes allocated", got, err, made)
	}
}

// blocked is a body whose Read blocks until it is released.
type blocked struct{ free chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	<-b.free
	return 0, io.EOF
}

// TestUploadEndsWithItsContext: a call ends with its context, even if its body blocks.
func TestUploadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	body := blocked{make(chan struct{})}
	defer close(body.free)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.c.Resources.Create(ctx, client.NewResource{SetID: s.set.ID, Name: "n"}, body, -1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// watched detects a Read after the call, when its owner may have closed it.
type watched struct {
	io.Reader
	over atomic.Bool
	late atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	time.Sleep(time.Millisecond)
	if w.over.Load() {
		w.late.Store(true)
	}
	return n, err
}

// TestBodyIsNotReadAfterTheCall: after a call has returned, its body is no longer used.
func TestBodyIsNotReadAfterTheCall(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	refusing := s.behind(t, answers(403, "forbidden", ""))
	for range 20 {
		body := &watched{Reader: &endless{}}
		if _, err := refusing.Resources.Create(t.Context(), client.NewResource{SetID: s.set.ID, Name: "n"}, body, 1<<40); err == nil {
			t.Error("no error")
		}
		body.over.Store(true)
		time.Sleep(5 * time.Millisecond)
		if body.late.Load() {
			t.Fatal("the body was read after the call")
		}
	}
}
