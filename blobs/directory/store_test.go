package directory_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
	_ "labshelf/internal/testhome"
)

func TestDir(t *testing.T) {
	t.Parallel()
	blobstest.Run(t, func(t *testing.T) blobs.Folder {
		data := blobstest.DataDir(t)
		t.Cleanup(func() { checkSound(t, data) })
		return openDir(t, data, directory.OS{})
	})
}

func openDir(t *testing.T, data string, fsys directory.FS) *directory.Store {
	t.Helper()
	dir, err := directory.Open(data, fsys)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func blobOf(content []byte) blobs.Blob {
	return blobs.Blob{Digest: digestOf(content), Size: int64(len(content))}
}

func commit(staged blobs.Staged) error {
	_, err := staged.Commit(context.Background())
	return err
}

func commitAll(store blobs.Store, bodies iter.Seq[[]byte]) error {
	_, err := store.CommitAll(context.Background(), bodies)
	return err
}

// put stages and commits content and returns every error.
func put(store blobs.Folder, content []byte) error {
	staged, err := store.Stage(context.Background(), bytes.NewReader(content), 0)
	if err != nil {
		return err
	}
	return errors.Join(commit(staged), staged.Discard())
}

// get compares the blob with content.
func get(store blobs.Store, content []byte) error {
	f, err := store.Open(context.Background(), blobOf(content))
	if err != nil {
		return err
	}
	got, err := io.ReadAll(f)
	if err == nil && !bytes.Equal(got, content) {
		err = errors.New("the blob differs from the staged body")
	}
	return errors.Join(err, f.Close())
}

func digestOf(content []byte) blobs.Digest { return sha256.Sum256(content) }

func blobPath(data string, content []byte) string {
	name := digestOf(content).String()
	return filepath.Join(data, "blobs", name[:2], name)
}

// names lists a directory.
func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]string, len(entries))
	for i, entry := range entries {
		found[i] = entry.Name()
	}
	return found
}

// checkSound fails the test unless tmp/ is empty and every file in blobs/ matches its digest.
func checkSound(t *testing.T, data string) {
	t.Helper()
	if left := names(t, filepath.Join(data, "tmp")); len(left) > 0 {
		t.Errorf("files in tmp: %v", left)
	}
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if path != blobPath(data, content) {
			t.Errorf("%s has other content", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOpenIsFile(t *testing.T) {
	t.Parallel()
	dir := openDir(t, blobstest.DataDir(t), directory.OS{})
	if err := put(dir, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	f, err := dir.Open(t.Context(), blobOf([]byte("abc")))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(*os.File); !ok {
		t.Errorf("Open returned a %T, want *os.File", f)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := openDir(t, data, directory.OS{})
	content := []byte("abc") // ba7816bf…
	if err := put(dir, content); err != nil {
		t.Fatal(err)
	}
	const name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for _, path := range []string{"blobs/ba", "tmp", "trash"} {
		if info, err := os.Stat(filepath.Join(data, path)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, filepath.Join(data, "blobs")); len(got) != 1 {
		t.Errorf("blobs has the folders %v, want only the folder of the blob", got)
	}
	if _, err := os.Stat(filepath.Join(data, "blobs", "ba", name)); err != nil {
		t.Error(err)
	}
	if err := dir.Remove(digestOf(content), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(data, "trash", name)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("in the trash: %q, %v", got, err)
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	content := blobstest.Content(1000)
	first := openDir(t, data, directory.OS{})
	if err := put(first, content); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Stage(t.Context(), bytes.NewReader(content), 0); err != nil {
		t.Fatal(err)
	}
	if got := len(names(t, filepath.Join(data, "tmp"))); got != 1 {
		t.Fatalf("tmp contains %d files, want only the staged one", got)
	}
	if err := os.Remove(filepath.Join(data, "blobs", "00")); err != nil { // as in a copy without empty folders
		t.Fatal(err)
	}

	recorded := blobstest.NewFaultFS(directory.OS{})
	second := openDir(t, data, recorded)
	checkSound(t, data)
	if err := get(second, content); err != nil {
		t.Error(err)
	}
	var synced []string
	for _, call := range recorded.Calls() {
		if call.Op == blobstest.SyncDir {
			synced = append(synced, call.Path)
		}
	}
	if len(synced) != 2 { // blobs and the data directory
		t.Errorf("opening again synced %v", synced)
	}
	zero := contentOf(t, 0)
	if err := errors.Join(put(second, zero), get(second, zero)); err != nil {
		t.Errorf("committing to the missing folder: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		plant func(data string) error
	}{
		{"data directory missing", os.Remove},
		{"a file for tmp", func(data string) error {
			return os.WriteFile(filepath.Join(data, "tmp"), nil, 0o600)
		}},
		{"a file for a folder", func(data string) error {
			return errors.Join(
				os.Mkdir(filepath.Join(data, "blobs"), 0o700),
				os.WriteFile(filepath.Join(data, "blobs", "80"), nil, 0o600))
		}},
		{"a stranger's directory in tmp", func(data string) error {
			return os.MkdirAll(filepath.Join(data, "tmp", "mine", "precious"), 0o700)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			if err := test.plant(data); err != nil {
				t.Fatal(err)
			}
			if dir, err := directory.Open(data, directory.OS{}); err == nil || dir != nil {
				t.Errorf("opened: %v, %v", dir, err)
			}
		})
	}
}

// TestUnexpectedFiles puts unexpected files into the folders of blobs.
func TestUnexpectedFiles(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	content := blobstest.Content(1000)
	if err := put(dir, content); err != nil {
		t.Fatal(err)
	}
	damaged := blobstest.Content(2000)
	if err := os.Mkdir(blobPath(data, damaged), 0o700); err != nil {
		t.Fatal(err)
	}
	abc := filepath.Base(blobPath(data, []byte("abc")))
	for _, name := range []string{"ba/README", "bb/" + abc, "ba/" + "BA" + abc[2:], "ba/" + abc[:63], "README"} {
		if err := os.WriteFile(filepath.Join(data, "blobs", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen []blobs.Digest
	err := dir.Walk(t.Context(), func(digest blobs.Digest, size int64) error {
		seen = append(seen, digest)
		return nil
	})
	if err != nil || len(seen) != 1 || seen[0] != digestOf(content) {
		t.Errorf("Walk saw %v, %v", seen, err)
	}
	if err := get(dir, damaged); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("Open of a directory: %v", err)
	}
	if _, err := dir.Stat(t.Context(), blobOf(damaged)); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("Stat of a directory: %v", err)
	}
}

// TestCommitReplacesDamagedFile tests that the next upload of the same body replaces a damaged
// copy.
func TestCommitReplacesDamagedFile(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	content := blobstest.Content(1000)
	if err := os.WriteFile(blobPath(data, content), content[:999], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := get(dir, content); !errors.Is(err, blobs.ErrDamaged) {
		t.Errorf("Open of a truncated blob: %v", err)
	}
	if err := put(dir, content); err != nil {
		t.Fatal(err)
	}
	if err := get(dir, content); err != nil {
		t.Error(err)
	}
}

// TestCommitReplacesFolder tests that a folder with the name of a blob is moved to the trash, with
// its content.
func TestCommitReplacesFolder(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	content := blobstest.Content(1000)
	folder := blobPath(data, content)
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "a"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(put(dir, content), get(dir, content)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(data, "trash", filepath.Base(folder), "a")); err != nil {
		t.Error(err)
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("reader gave up") }

func TestStagePanickingReader(t *testing.T) {
	t.Parallel()
	data := blobstest.DataDir(t)
	dir := openDir(t, data, directory.OS{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the reader was swallowed")
			}
		}()
		_, _ = dir.Stage(t.Context(), panicking{}, 0)
	}()
	checkSound(t, data)
}

// TestStageMemory does not run in parallel, because it counts the allocations of the process.
func TestStageMemory(t *testing.T) {
	dir := openDir(t, blobstest.DataDir(t), directory.OS{})
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	staged, err := dir.Stage(t.Context(), io.LimitReader(zeros{}, size), 0)
	runtime.ReadMemStats(&after)
	if err != nil || staged.Content().Size != size {
		t.Fatal(staged, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 5<<20 {
		t.Errorf("staging %d bytes allocated %d", size, got)
	}
	if err := staged.Discard(); err != nil {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
