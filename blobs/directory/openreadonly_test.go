package directory_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// state is everything that is visible of a file without reading it, which may leave a trace, and
// its content.
type state struct {
	Mode    fs.FileMode
	Size    int64
	Changed time.Time
	Sys     string
	Content string
}

// stateOf returns the state of everything below data.
func stateOf(t *testing.T, data string) map[string]state {
	t.Helper()
	found := make(map[string]state)
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		s := state{Mode: info.Mode(), Size: info.Size(), Changed: info.ModTime(), Sys: inode(info)}
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s.Content = string(content)
		}
		found[below(data, path)] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReadOnly opens a store read-only, calls every method, and checks that nothing has changed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	kept, gone, missing := blobstest.Content(1000), blobstest.Content(1001), blobstest.Content(1002)
	old := time.Now().Add(-time.Hour)
	err := errors.Join(put(dir, kept), put(dir, gone), dir.Remove(digestOf(gone), nil),
		os.WriteFile(filepath.Join(data, "tmp", "1"), []byte("left"), 0o600),
		os.Remove(filepath.Dir(blobPath(data, missing))),
		os.Chtimes(blobPath(data, kept), old, old))
	if err != nil {
		t.Fatal(err)
	}
	before := stateOf(t, data)
	reader, err := directory.OpenReadOnly(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(get(reader, kept), verify(t, reader, kept), readTrashed(reader, gone)); err != nil {
		t.Error(err)
	}
	if err := verify(t, reader, missing); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("a blob whose folder is missing: %v", err)
	}
	seen := 0
	err = reader.Walk(t.Context(), func(digest blobs.Digest, _ int64) error { seen++; return nil })
	if err != nil || seen != 1 {
		t.Errorf("Walk saw %d blobs, %v", seen, err)
	}
	err = reader.Unexpected(t.Context(), func(path, why string) error { return errors.New(path + " " + why) })
	if err != nil {
		t.Errorf("Unexpected: %v", err)
	}
	confirm := func() error { t.Error("confirm was called"); return nil }
	if reader.Remove(digestOf(kept), confirm) == nil || put(reader, kept) == nil {
		t.Error("something was written")
	}
	if files, _, err := reader.EmptyTrash(t.Context(), time.Now().Add(time.Hour)); files != 0 || err == nil {
		t.Errorf("EmptyTrash: %d, %v", files, err)
	}
	if diff := cmp.Diff(before, stateOf(t, data)); diff != "" {
		t.Errorf("before (-), after (+):\n%s", diff)
	}
}

// readTrashed reads a removed blob.
func readTrashed(trash blobs.Trash, content []byte) error {
	f, size, err := trash.OpenTrashed(digestOf(content))
	if err != nil {
		return err
	}
	return errors.Join(blobs.VerifyReader(context.Background(), f, digestOf(content), size), f.Close())
}

// TestReadOnlyEmpty opens a directory without the layout.
func TestReadOnlyEmpty(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	reader, err := directory.OpenReadOnly(data)
	if err != nil {
		t.Fatal(err)
	}
	visit := func(path, why string) error { return errors.New(path + why) }
	err = errors.Join(
		reader.Walk(t.Context(), func(digest blobs.Digest, _ int64) error { return visit(digest.String(), "") }),
		reader.WalkTrash(t.Context(), func(digest blobs.Digest, _ int64, _ time.Time) error { return visit(digest.String(), "") }),
		reader.Unexpected(t.Context(), visit))
	if err != nil {
		t.Error(err)
	}
	if _, err := reader.Stat(t.Context(), blobOf(nil)); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("Stat: %v", err)
	}
	if left := names(t, data); len(left) > 0 {
		t.Errorf("made: %v", left)
	}
	file := filepath.Join(data, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(data, "missing")} {
		if _, err := directory.OpenReadOnly(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// TestUnexpected puts every kind of unexpected entry into the store.
func TestUnexpected(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	content := blobstest.Content(1000)
	if err := put(dir, content); err != nil {
		t.Fatal(err)
	}
	abc, file := filepath.Base(blobPath(data, []byte("abc"))), func(path string) error {
		return os.WriteFile(path, []byte("x"), 0o600)
	}
	folder := func(path string) error { return os.Mkdir(path, 0o700) }
	plants := []struct {
		path  string
		plant func(path string) error
		why   string
	}{
		{"README", file, "not named as a folder"},
		{"bA", folder, "not named as a folder"},
		{"ba/README", file, "not named by a digest"},
		{"ba/" + abc[:63], file, "not named by a digest"},
		{"ba/BA" + strings.Repeat("A", 62), file, "not named by a digest"},
		{"ba/" + abc, folder, "not a regular file"},
		{"bb/" + abc, file, "in the wrong folder"},
		{"zz", folder, "not named as a folder"},
	}
	want := make(map[string]string)
	for _, p := range plants {
		path := filepath.Join(data, "blobs", filepath.FromSlash(p.path))
		err := p.plant(path)
		if errors.Is(err, fs.ErrExist) && runtime.GOOS != "linux" {
			continue // names that differ only in case are equal
		}
		if err != nil {
			t.Fatal(err)
		}
		want[path] = p.why
	}
	for path, why := range plantModes(t, data, content) {
		want[path] = why
	}
	last := ""
	err := dir.Unexpected(t.Context(), func(path, why string) error {
		if want[path] == "" || !strings.Contains(why, want[path]) {
			t.Errorf("%s: %s, want %q", path, why, want[path])
		}
		if path < last {
			t.Errorf("%s after %s", path, last)
		}
		last = path
		delete(want, path)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("not found: %v, %v", want, err)
	}
	enough := errors.New("enough")
	if err := dir.Unexpected(t.Context(), func(string, string) error { return enough }); err != enough {
		t.Errorf("got %v, want the error of fn itself", err)
	}
}
