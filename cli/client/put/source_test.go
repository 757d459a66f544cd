package put

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"labshelf/cli/meter"
	_ "labshelf/internal/testhome"
)

// TestSourceSum: the digest of a file is computed once. The file is then sent with this digest, and
// the meter counts its bytes once.
func TestSourceSum(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m := meter.New(io.Discard, "put")
	f, err := openSource(t.Context(), path, m)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 2 {
		if digest, err := f.sum(t.Context()); err != nil || digest != sha256.Sum256(bytes.Repeat([]byte("x"), 1<<20)) {
			t.Errorf("%s, %v", digest, err)
		}
	}
	if text, err := io.ReadAll(f); err != nil || len(text) != 1<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if n := m.Counts().Done; n != 1<<20 {
		t.Errorf("the meter shows %d", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other, err := openSource(t.Context(), path, m)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if _, err := other.sum(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestSkippedIsNotTransferred: if a file is sent from an offset, the bytes before the offset count
// as done, but not as transferred.
func TestSkippedIsNotTransferred(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m := meter.New(io.Discard, "put")
	s, err := openSource(t.Context(), path, m)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	part := make([]byte, 64<<10)
	for _, at := range []int64{900 << 10, 960 << 10, 500 << 10} {
		if n, err := (readerAt{s, 0}).ReadAt(part, at); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
		if m.Counts().Done != at+64<<10 {
			t.Errorf("from %d, %d bytes are done", at, m.Counts().Done)
		}
	}
	// to compute the digest of the bytes that an earlier run sent
	if n, err := (readerAt{s, 1 << 20}).ReadAt(part, 0); n != len(part) || err != nil {
		t.Fatal(n, err)
	}
	if moved := m.Counts().Moved; moved != 3*64<<10 {
		t.Errorf("%d bytes count as transferred", moved)
	}
}

// TestCopyOfChangingFile: copying fails if the file changes during the copy.
func TestCopyOfChangingFile(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"grown": 20, "shrunk": 3} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, make([]byte, 10), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if !s.hasItsSize() {
			t.Errorf("%s: the file has another size", name)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if s.hasItsSize() {
			t.Errorf("%s: the change is not detected", name)
		}
		if copied, err := s.copy(t.Context()); !errors.Is(err, errChanged) {
			t.Errorf("%s: copied as %v, %v", name, copied, err)
		}
	}
}
