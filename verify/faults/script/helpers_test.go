package script

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scriptRun runs the script up to its first files. It returns the directory and its state.
func scriptRun(t *testing.T) (dir string, state State) {
	t.Helper()
	w := &stores{dir: t.TempDir(), ids: map[string]string{}}
	for _, op := range first()[:7] {
		if err := op.run(t.Context(), w); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
	}
	state, err := Read(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return w.dir, state
}

// blobOf returns the path of a blob.
func blobOf(t *testing.T, dir string) (found string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasPrefix(e.Name(), "watermark") {
			found = path
		}
		return err
	})
	if err != nil || found == "" || !strings.HasPrefix(found, dir) {
		t.Fatal("no blob", err)
	}
	return found
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func corrupt(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[0] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Join(dir, MetaFile), 0o640); err != nil {
		t.Fatal(err)
	}
}
