package directory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

func verify(t *testing.T, store blobs.Store, content []byte) error {
	t.Helper()
	return blobs.Verify(t.Context(), store, blobOf(content))
}

// TestVerifyFlips changes each byte of a short blob, and the first, a middle and the last byte of
// longer ones.
func TestVerifyFlips(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	const chunk = 256 << 10
	for _, size := range []int{0, 1, 1000, chunk - 1, chunk, chunk + 1, 3*chunk + 7} {
		content := blobstest.Content(size)
		if err := put(dir, content); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, dir, content); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		step := 1
		if size > 1000 {
			step = size/2 - 1
		}
		for at := 0; at < size; at += step {
			flip(t, blobPath(data, content), content, at, byte(1<<(at%8)))
			if err := verify(t, dir, content); !errors.Is(err, blobs.ErrDamaged) || !strings.Contains(err.Error(), "has the SHA-256") {
				t.Errorf("%d bytes, byte %d: got %v, want ErrDamaged", size, at, err)
			}
			flip(t, blobPath(data, content), content, at, 0)
		}
		if err := verify(t, dir, content); err != nil {
			t.Errorf("%d bytes, repaired: %v", size, err)
		}
	}
}

// flip writes a changed byte of content to the file at path.
func flip(t *testing.T, path string, content []byte, at int, bits byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{content[at] ^ bits}, int64(at))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyDamage damages a blob in other ways than by changing a byte.
func TestVerifyDamage(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(1000)
	tests := []struct {
		name  string
		spoil func(path string) error
		want  error
		says  string
	}{
		{"missing", os.Remove, blobs.ErrNotFound, ""},
		{"empty", func(path string) error { return os.Truncate(path, 0) }, blobs.ErrDamaged, "0 bytes, not 1000"},
		{"shorter", func(path string) error { return os.Truncate(path, 999) }, blobs.ErrDamaged, "999 bytes, not 1000"},
		{"longer", func(path string) error { return os.Truncate(path, 1001) }, blobs.ErrDamaged, "1001 bytes, not 1000"},
		{"swapped", func(path string) error { return os.WriteFile(path, make([]byte, 1000), 0o600) }, blobs.ErrDamaged, "has the SHA-256"},
		{"a directory", func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, blobs.ErrDamaged, "not a regular file"},
	}
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	for _, test := range tests {
		path := blobPath(data, content)
		if err := errors.Join(os.RemoveAll(path), put(dir, content), test.spoil(path)); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, dir, content); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// unreadableStore returns an error from Open, or from the reader.
type unreadableStore struct {
	blobs.Store
	opening, reading, closing error
}

type failingFile struct {
	io.ReadSeekCloser
	io.Reader
	closing error
}

func (f failingFile) Read(b []byte) (int, error) { return f.Reader.Read(b) }
func (f failingFile) Close() error               { return errors.Join(f.ReadSeekCloser.Close(), f.closing) }

func (s unreadableStore) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	f, err := s.Store.Open(ctx, b)
	if err := errors.Join(err, s.opening); err != nil {
		return nil, err
	}
	var r io.Reader = f
	if s.reading != nil {
		r = io.MultiReader(io.LimitReader(f, 10), iotest.ErrReader(s.reading))
	}
	return failingFile{f, r, s.closing}, nil
}

func TestVerifyUnreadable(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(1000)
	memory := blobstest.NewMemory()
	if err := put(memory, content); err != nil {
		t.Fatal(err)
	}
	unavailable := fmt.Errorf("%w: %w", blobs.ErrUnavailable, syscall.EIO)
	tests := []struct {
		name  string
		store unreadableStore
		want  error
		not   error
	}{
		{"at opening", unreadableStore{memory, syscall.EIO, nil, nil}, blobs.ErrDamaged, blobs.ErrUnavailable},
		{"at reading", unreadableStore{memory, nil, syscall.EIO, nil}, blobs.ErrDamaged, blobs.ErrUnavailable},
		{"at closing", unreadableStore{memory, nil, nil, syscall.EIO}, blobs.ErrDamaged, blobs.ErrUnavailable},
		{"no more files", unreadableStore{memory, unavailable, nil, nil}, blobs.ErrUnavailable, blobs.ErrDamaged},
	}
	for _, test := range tests {
		err := verify(t, test.store, content)
		if !errors.Is(err, test.want) || !errors.Is(err, syscall.EIO) || errors.Is(err, test.not) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
	if err := verify(t, unreadableStore{Store: memory}, content); err != nil {
		t.Errorf("without a fault: %v", err)
	}
}

// TestVerifyReader verifies streams that are too short, too long, or fail.
func TestVerifyReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, 256 << 10} {
		content := blobstest.Content(size)
		tests := []struct {
			name string
			r    io.Reader
			want error
		}{
			{"all", bytes.NewReader(content), nil},
			{"byte by byte", iotest.OneByteReader(bytes.NewReader(content)), nil},
			{"end with last data", iotest.DataErrReader(bytes.NewReader(content)), nil},
			{"too long", io.MultiReader(bytes.NewReader(content), strings.NewReader("x")), blobs.ErrDamaged},
			{"endless", io.MultiReader(bytes.NewReader(content), zeros{}), blobs.ErrDamaged},
			{"too short", bytes.NewReader(content[:max(0, size-1)]), blobs.ErrDamaged},
			{"other", bytes.NewReader(make([]byte, size)), blobs.ErrDamaged},
			{"broken", io.MultiReader(bytes.NewReader(content), iotest.ErrReader(syscall.EIO)), syscall.EIO},
		}
		for _, test := range tests {
			err := blobs.VerifyReader(t.Context(), test.r, digestOf(content), int64(size))
			if size == 0 && (test.name == "too short" || test.name == "other") {
				test.want = nil // an empty blob cannot be shorter or different
			}
			if !errors.Is(err, test.want) || test.want != nil && !errors.Is(err, blobs.ErrDamaged) {
				t.Errorf("%d bytes, %s: got %v, want %v", size, test.name, err, test.want)
			}
		}
	}
}

func TestVerifyCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	body := &endless{cancel: cancel}
	err := blobs.VerifyReader(ctx, body, blobs.Digest{}, 1<<40)
	if !errors.Is(err, context.Canceled) || errors.Is(err, blobs.ErrDamaged) || body.reads != 3 {
		t.Errorf("got %v after %d reads, want the error of the context after 3", err, body.reads)
	}
}

// endless never ends. It cancels the given context after some reads.
type endless struct {
	reads  int
	cancel func()
}

func (e *endless) Read(b []byte) (int, error) {
	if e.reads++; e.reads == 3 {
		e.cancel()
	}
	return len(b), nil
}

// flaky is a reader whose first reads have one wrong byte.
type flaky struct {
	blobs.Reader
	wrong int
	read  int
}

func (f *flaky) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	file, err := f.Reader.Open(ctx, b)
	if f.read++; f.read <= f.wrong {
		return flipped{file}, err
	}
	return file, err
}

type flipped struct{ io.ReadSeekCloser }

func (f flipped) Read(p []byte) (int, error) {
	n, err := f.ReadSeekCloser.Read(p)
	if n > 0 {
		p[n-1] ^= 1
	}
	return n, err
}

// TestVerifyReadsAgain tests that one wrong read does not prove damage. Two wrong reads do.
func TestVerifyReadsAgain(t *testing.T) {
	t.Parallel()
	dir := openDir(t, blobstest.DataDir(t), directory.OS{})
	content := blobstest.Content(300 << 10)
	if err := put(dir, content); err != nil {
		t.Fatal(err)
	}
	for wrong, want := range []error{nil, nil, blobs.ErrDamaged} {
		f := &flaky{Reader: dir, wrong: wrong}
		if err := blobs.Verify(t.Context(), f, blobOf(content)); !errors.Is(err, want) {
			t.Errorf("%d wrong reads: got %v, want %v", wrong, err, want)
		}
		if reads := min(wrong+1, 2); f.read != reads {
			t.Errorf("%d wrong reads: the blob was read %d times, want %d", wrong, f.read, reads)
		}
	}
}
