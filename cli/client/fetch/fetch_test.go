package fetch

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"

	"labshelf/cli/meter"
)

// TestResumedIsNotTransferred: bytes of an earlier run count as done, but not as transferred.
func TestResumedIsNotTransferred(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	got := meter.New(io.Discard, "get")
	file, err := root.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	p := &partial{Fetcher: Fetcher{Root: root, Meter: got}, file: file, File: File{Bytes: 2 << 20}, hash: sha256.New()}
	if err := p.rehash(t.Context()); err != nil || p.at != 1<<20 {
		t.Fatal(p.at, err)
	}
	if got.Counts().Done != 1<<20 || got.Counts().Moved != 0 {
		t.Errorf("%d bytes are done, %d of them count as transferred", got.Counts().Done, got.Counts().Moved)
	}
}
