package s3_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/s3"
	"labshelf/internal/servers"
)

func clock(context.Context) (time.Time, error) { return time.Now(), nil }

func options(server *servers.S3) s3.Options {
	return s3.Options{Endpoint: server.Endpoint(), Region: server.Region, KeyID: server.AccessKey, Secret: server.SecretKey, Clock: clock}
}

// open returns an empty store and its server.
func open(t testing.TB) (*s3.Store, *servers.S3) {
	t.Helper()
	server := servers.StartS3(t)
	return openAt(t, "s3://"+server.Bucket(t)+"/some/prefix", options(server)), server
}

func openAt(t testing.TB, address string, o s3.Options) *s3.Store {
	t.Helper()
	store, err := s3.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// content returns random bytes, from a pool that costs no time.
func content(size int) []byte {
	from := mathrand.IntN(len(pool) - size)
	return slices.Clone(pool[from : from+size])
}

var pool = func() []byte {
	all := make([]byte, 64<<20)
	_, _ = rand.Read(all) // never fails
	return all
}()

func objects(t testing.TB, store *s3.Store) (all []blobs.Object) {
	t.Helper()
	err := store.WalkObjects(t.Context(), func(o blobs.Object) error {
		all = append(all, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func names(all []blobs.Object) (names []string) {
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

// plainReader hides the other methods of a reader.
type plainReader struct{ io.Reader }

// TestSizes stores bodies in each possible way, and reads them back.
func TestSizes(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	const part = 16 << 20
	var want []string
	for _, size := range []int{0, 1, 100 << 10, 256<<10 + 1, part, part + 1, 2*part + 5} {
		for _, announced := range []bool{false, true} {
			body := content(size)
			r := io.Reader(plainReader{bytes.NewReader(body)})
			if announced {
				r = blobs.WithLength(iotest.DataErrReader(r), int64(size))
			}
			staged, err := store.Stage(t.Context(), r, int64(size))
			if err != nil {
				t.Fatalf("%d bytes, announced %t: %v", size, announced, err)
			}
			if before := staged.Content(); !before.Put.IsZero() || before.Begun.IsZero() || before.Digest != sha256.Sum256(body) ||
				before.Size != int64(size) || !bytes.Equal(before.Head, body[:min(size, blobs.HeadSize)]) {
				t.Errorf("%d bytes, announced %t: the content is %+v", size, announced, before.Blob)
			}
			done, err := staged.Commit(t.Context())
			if err != nil || done.Put.IsZero() {
				t.Fatalf("%d bytes, announced %t: %v", size, announced, err)
			}
			wantBody(t, store, done.Blob, body)
			want = append(want, done.Object)
			if err := staged.Discard(); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(want)
	if got := names(objects(t, store)); !slices.Equal(got, want) {
		t.Errorf("the objects are %q, want %q", got, want)
	}
}

// wantBody reads a blob from its beginning to its end, and from two offsets.
func wantBody(t *testing.T, store *s3.Store, b blobs.Blob, want []byte) {
	t.Helper()
	if size, err := store.Stat(t.Context(), b); err != nil || size != b.Size {
		t.Errorf("Stat: %d, %v", size, err)
	}
	file, err := store.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %[2]d of %[1]d bytes: %[3]v", len(want), len(got), err)
	}
	for _, from := range []int64{b.Size / 3, b.Size} {
		at, err := file.Seek(from-b.Size, io.SeekEnd)
		if err != nil || at != from {
			t.Errorf("Seek to %d of %d: %d, %v", from, b.Size, at, err)
		}
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want[from:]) {
			t.Errorf("from %d on, of %d bytes, %d were read: %v", from, len(want), len(got), err)
		}
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// TestWrongLengths tests that a body with another length than announced leaves nothing, unless it
// fits into memory.
func TestWrongLengths(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	const part = 16 << 20
	for _, test := range []struct {
		size, announced int64
		want            error
	}{
		{part + 10, part + 9, io.ErrUnexpectedEOF}, {part + 10, part + 11, io.ErrUnexpectedEOF}, {5, part + 11, io.ErrUnexpectedEOF},
		{100, 99, nil}, {100, 101, nil}, {part + 10, 3, nil},
	} {
		staged, err := store.Stage(t.Context(), blobs.WithLength(bytes.NewReader(content(int(test.size))), test.announced), 0)
		if !errors.Is(err, test.want) {
			t.Errorf("%d bytes, announced as %d: %v", test.size, test.announced, err)
		}
		if staged != nil {
			if err := errors.Join(staged.Discard(), staged.Discard()); err != nil {
				t.Error(err)
			}
		}
	}
	for _, limit := range []int64{-1, part} {
		for _, r := range []io.Reader{blobs.WithLength(strings.NewReader("x"), part+1), bytes.NewReader(content(part + 1))} {
			if _, err := store.Stage(t.Context(), r, limit); !errors.Is(err, blobs.ErrTooLarge) {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	}
	if left := objects(t, store); len(left) != 0 {
		t.Errorf("remaining objects: %+v", left)
	}
}

// TestExamine examines a good server, and servers with one fault each.
func TestExamine(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	address := "s3://" + server.Bucket(t) + "/prefix"
	want := []string{"bucket", "put", "refuse a wrong checksum", "put a stream", "head", "range", "list", "multipart", "delete"}
	examine := func(address string, o s3.Options) (checks []string, err error) {
		err = s3.Examine(t.Context(), address, o, func(check string, err error, took time.Duration) {
			if err == nil && took > 0 {
				checks = append(checks, check)
			}
		})
		return checks, err
	}
	if checks, err := examine(address, options(server)); err != nil || !slices.Equal(checks, want) {
		t.Errorf("it passes %q: %v", checks, err)
	}
	if left := objects(t, openAt(t, address, options(server))); len(left) != 0 {
		t.Errorf("remaining objects: %+v", left)
	}
	wrong := options(server)
	wrong.Secret = "wrong"
	if checks, err := examine(address, wrong); err == nil || len(checks) != 0 {
		t.Errorf("with a wrong secret, the check %q passes: %v", checks, err)
	}
	if checks, err := examine("s3://no-such-bucket", options(server)); err == nil || len(checks) != 0 {
		t.Errorf("without a bucket, the check %q passes: %v", checks, err)
	}
}
