//go:build unix

package directory_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// noSpaceErrors returns the system's errors if the disk or a quota is full.
func noSpaceErrors() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }

// unopenedErrors returns the system's errors if too many files are open.
func unopenedErrors() []error { return []error{syscall.EMFILE, syscall.ENFILE} }

// readOnlyErrors returns the system's errors if the file system is read-only.
func readOnlyErrors() []error { return []error{syscall.EROFS} }

// TestModes does not run in parallel, because the umask belongs to the process.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o777} {
		data := t.TempDir()
		layWithUmask(t, data, umask)
		files := 0
		err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == data {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if entry.IsDir() {
				want = fs.ModeDir | 0o700
			} else {
				files++
			}
			if info.Mode() != want {
				t.Errorf("umask %04o: %s has mode %v, want %v", umask, path, info.Mode(), want)
			}
			return nil
		})
		if err != nil || files != 3 {
			t.Errorf("umask %04o: found %d files, want one each in blobs, tmp and trash; %v", umask, files, err)
		}
	}
}

// layWithUmask creates a file in each of blobs/, tmp/ and trash/.
func layWithUmask(t *testing.T, data string, umask int) {
	t.Helper()
	before := syscall.Umask(umask)
	defer syscall.Umask(before)
	dir := openDir(t, data, directory.OS{})
	for _, content := range []string{"committed", "removed"} {
		if err := put(dir, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := dir.Stage(t.Context(), bytes.NewReader([]byte("removed")), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Remove(removed.Content().Digest, nil); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedBlob tests that a link or a pipe with the name of a blob is neither followed nor read.
// It is reported as damaged, and an upload replaces it.
func TestLinkedBlob(t *testing.T) {
	t.Parallel()
	content := blobstest.Content(1000)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, content, 0o600); err != nil {
		t.Fatal(err)
	}
	plants := map[string]func(path string) error{
		"link to a file of the size":   func(path string) error { return os.Symlink(outside, path) },
		"link to nowhere":              func(path string) error { return os.Symlink(outside+"2", path) },
		"pipe that would block a read": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	}
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := blobstest.DataDir(t)
			dir := openDir(t, data, directory.OS{})
			if err := plant(blobPath(data, content)); err != nil {
				t.Fatal(err)
			}
			if err := get(dir, content); !errors.Is(err, blobs.ErrDamaged) {
				t.Errorf("Open: got %v, want ErrDamaged", err)
			}
			if err := plant(filepath.Join(data, "trash", digestOf(content).String())); err != nil {
				t.Fatal(err)
			}
			if err := readTrashed(dir, content); !errors.Is(err, blobs.ErrDamaged) {
				t.Errorf("OpenTrashed: got %v, want ErrDamaged", err)
			}
			walked := dir.Walk(t.Context(), func(digest blobs.Digest, _ int64) error {
				return errors.New("visited " + digest.String())
			})
			if walked != nil {
				t.Errorf("Walk: %v", walked)
			}
			if err := errors.Join(put(dir, content), get(dir, content)); err != nil {
				t.Errorf("an upload did not replace the entry: %v", err)
			}
		})
	}
	if got, err := os.ReadFile(outside); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file outside has changed: %v", err)
	}
}

// TestLinkedDirectory tests that a store with a link instead of a directory is refused. Emptying a
// linked tmp would delete foreign files.
func TestLinkedDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tmp", "trash", "blobs", "blobs/42"} {
		data, outside := t.TempDir(), t.TempDir()
		precious := filepath.Join(outside, "precious")
		if err := os.WriteFile(precious, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
		if _, err := directory.Open(data, directory.OS{}); err == nil {
			t.Errorf("%s: a link was accepted", name)
		}
		if _, err := os.Stat(precious); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// plantModes sets wrong modes for a blob and a folder, and returns the expected reports.
func plantModes(t *testing.T, data string, content []byte) map[string]string {
	t.Helper()
	blob, folder := blobPath(data, content), filepath.Join(data, "blobs", "07")
	if err := errors.Join(os.Chmod(blob, 0o644), os.Chmod(folder, 0o770)); err != nil {
		t.Fatal(err)
	}
	return map[string]string{blob: "mode 0644, not 0600", folder: "mode 0770, not 0700"}
}

// inode returns the system's data about a file that Go does not show, except the time of the last
// access.
func inode(info fs.FileInfo) string {
	stat := *info.Sys().(*syscall.Stat_t)
	forgetAccess(&stat)
	return fmt.Sprintf("%+v", stat)
}

// TestRemoveLinkedBlob tests that the link itself is moved to the trash. Its target is neither
// dated nor moved.
func TestRemoveLinkedBlob(t *testing.T) {
	t.Parallel()
	data, content := blobstest.DataDir(t), blobstest.Content(1000)
	dir := openDir(t, data, directory.OS{})
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.WriteFile(outside, content, 0o600), os.Symlink(outside, blobPath(data, content))); err != nil {
		t.Fatal(err)
	}
	before := stateOf(t, filepath.Dir(outside))
	if err := dir.Remove(digestOf(content), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, stateOf(t, filepath.Dir(outside))); diff != "" {
		t.Errorf("the file outside before (-), after (+):\n%s", diff)
	}
	if err := get(dir, content); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("Open: got %v, want ErrNotFound", err)
	}
}
