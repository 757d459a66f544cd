package directory_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// discarded removes blobs of several sizes. It returns their paths in trash/, in ascending order of
// their digests.
func discarded(t *testing.T, dir *directory.Store, data string, removed time.Time) (paths []string) {
	t.Helper()
	for size := range 4 {
		content := blobstest.Content(1000 + size)
		if err := errors.Join(put(dir, content), dir.Remove(digestOf(content), nil)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(data, "trash", digestOf(content).String())
		if err := os.Chtimes(path, removed, removed); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// TestTrashTimes tests that a removed blob has the time of the removal, not the time of the upload.
// EmptyTrash compares the times exactly.
func TestTrashTimes(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	content := []byte("abc")
	long, start := time.Now().Add(-1000*time.Hour), time.Now().Add(-2*time.Second) // file systems round times
	if err := errors.Join(put(dir, content), os.Chtimes(blobPath(data, content), long, long)); err != nil {
		t.Fatal(err)
	}
	if err := dir.Remove(digestOf(content), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(data, "trash", digestOf(content).String()))
	if err != nil || info.ModTime().Before(start) {
		t.Errorf("dated %v, %v", info.ModTime(), err)
	}
	removed := start.Truncate(time.Second)
	paths := discarded(t, dir, data, removed)
	for _, test := range []struct {
		before time.Time
		files  int
	}{{removed.Add(-time.Nanosecond), 0}, {removed, 0}, {removed.Add(time.Nanosecond), len(paths)}, {info.ModTime(), 0}} {
		if files, _, err := dir.EmptyTrash(t.Context(), test.before); err != nil || files != test.files {
			t.Errorf("%v after the removal: deleted %d files, %v, want %d", test.before.Sub(removed), files, err, test.files)
		}
	}
	if left := names(t, filepath.Join(data, "trash")); len(left) != 1 {
		t.Errorf("remaining files: %v", left)
	}
}

// TestTrashAgain removes a blob again while its older copy is about to be deleted.
func TestTrashAgain(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	hook := &hookFS{FS: directory.OS{}}
	dir := openDir(t, data, hook)
	dir.KeepOpenTargets(false)
	old := time.Now().Add(-time.Hour)
	paths := discarded(t, dir, data, old)
	last, now := paths[len(paths)-1], time.Now()
	hook.remove = func(path string) error {
		if path == paths[0] {
			return os.Chtimes(last, now, now)
		}
		return nil
	}
	if files, _, err := dir.EmptyTrash(t.Context(), old.Add(time.Minute)); err != nil || files != len(paths)-1 {
		t.Errorf("deleted %d files, %v", files, err)
	}
	if _, err := os.Stat(last); err != nil {
		t.Errorf("the blob that was just removed is missing: %v", err)
	}
}

// TestTrashInUse tests file systems of Windows on which an open file cannot be replaced. An older
// copy in the trash is renamed before it is deleted, and so is a file that is deleted from the
// trash.
func TestTrashInUse(t *testing.T) {
	t.Parallel()
	dir, faulty, data := openFaulty(t)
	dir.KeepOpenTargets(true)
	content := []byte("abc")
	for _, faults := range [][]blobstest.Fault{nil, {{Op: blobstest.Rename, N: 1, Err: syscall.EACCES}}} {
		if err := put(dir, content); err != nil {
			t.Fatal(err)
		}
		faulty.Arm(faults...)
		if err := dir.Remove(digestOf(content), nil); err != nil {
			t.Error("Remove:", err)
		}
		if left := names(t, filepath.Join(data, "trash")); len(left) != 1 {
			t.Errorf("in the trash: %v", left)
		}
	}
	faulty.Arm()
	if files, _, err := dir.EmptyTrash(t.Context(), time.Now().Add(time.Hour)); err != nil || files != 1 {
		t.Errorf("deleted %d files, %v", files, err)
	}
	aside := "rename trash/" + digestOf(content).String() + " tmp/"
	if calls := steps(data, faulty.Calls()); len(calls) != 3 || !strings.HasPrefix(calls[0], aside) || !strings.HasPrefix(calls[1], "remove tmp/") {
		t.Errorf("calls: %q", calls)
	}
	if left := append(names(t, filepath.Join(data, "tmp")), names(t, filepath.Join(data, "trash"))...); len(left) != 0 {
		t.Errorf("remaining files: %v", left)
	}
}

// hookFS calls a function before it deletes a file.
type hookFS struct {
	directory.FS
	remove func(path string) error
}

func (h *hookFS) Remove(path string) error { return errors.Join(h.remove(path), h.FS.Remove(path)) }

// TestUnexpectedFilesInTrash tests that unexpected files in the trash are not deleted.
func TestUnexpectedFilesInTrash(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	abc := digestOf([]byte("abc"))
	for _, name := range []string{"README", abc.String()[1:]} {
		if err := os.WriteFile(filepath.Join(data, "trash", name), []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(data, "trash", abc.String()), 0o700); err != nil {
		t.Fatal(err)
	}
	if files, _, err := dir.EmptyTrash(t.Context(), time.Now().Add(time.Hour)); err != nil || files != 0 {
		t.Errorf("deleted %d files, %v", files, err)
	}
	if left := names(t, filepath.Join(data, "trash")); len(left) != 3 {
		t.Errorf("remaining files: %v", left)
	}
	if _, _, err := dir.OpenTrashed(abc); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("OpenTrashed of a directory: %v", err)
	}
}

// TestEmptyTrashFaults makes each call of EmptyTrash fail. Files that were deleted before are
// counted, and their deletion is synced.
func TestEmptyTrashFaults(t *testing.T) {
	t.Parallel()
	dir, faulty, data := openFaulty(t)
	dir.KeepOpenTargets(false)
	for n := range 5 {
		paths := discarded(t, dir, data, time.Now().Add(-time.Hour))
		faulty.Arm(blobstest.Fault{N: n + 1, Err: syscall.EIO})
		files, bytes, err := dir.EmptyTrash(t.Context(), time.Now())
		if files != n || bytes < 1000*int64(n) || bytes > 1003*int64(n) {
			t.Errorf("call %d: %d files, %d bytes", n+1, files, bytes)
		}
		if !errors.Is(err, syscall.EIO) || errors.Is(err, blobs.ErrUnsynced) != (n == 4) {
			t.Errorf("call %d: %v", n+1, err)
		}
		var want []string
		for _, path := range paths[:min(n+1, 4)] {
			want = append(want, "remove "+below(data, path))
		}
		if n > 0 {
			want = append(want, "syncdir trash")
		}
		if diff := cmp.Diff(want, steps(data, faulty.Calls())); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", n+1, diff)
		}
		faulty.Arm()
		if _, _, err := dir.EmptyTrash(t.Context(), time.Now()); err != nil {
			t.Error(err)
		}
	}
}
