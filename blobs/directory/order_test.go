package directory_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

// openFaulty opens an empty store. The test can see its calls to the file system, and make them
// fail.
func openFaulty(t *testing.T) (dir *directory.Store, faulty *blobstest.FaultFS, data string) {
	t.Helper()
	data = blobstest.DataDir(t)
	faulty = blobstest.NewFaultFS(directory.OS{})
	return openDir(t, data, faulty), faulty, data
}

// steps formats calls, with paths below data.
func steps(data string, calls []blobstest.Call) []string {
	var lines []string
	for _, call := range calls {
		line := string(call.Op) + " " + below(data, call.Path)
		if call.To != "" {
			line += " " + below(data, call.To)
		}
		lines = append(lines, line)
	}
	return lines
}

func below(data, path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, data+string(filepath.Separator)))
}

// TestOrder tests the order of calls to the file system. With this order, a power failure cannot
// lose acknowledged data.
func TestOrder(t *testing.T) {
	t.Parallel()
	dir, recorded, data := openFaulty(t)
	small, long := []byte("abc"), blobstest.Content(600<<10)
	of := func(content []byte) string { return below(data, blobPath(data, content)) }
	folder := func(content []byte) string { return filepath.ToSlash(filepath.Dir(of(content))) }
	discard := func() error {
		staged, err := dir.Stage(t.Context(), bytes.NewReader(small), 0)
		if err != nil {
			return err
		}
		return staged.Discard()
	}
	tests := []struct {
		name string
		run  func() error
		want []string
	}{
		{"stage and commit", func() error { return put(dir, small) }, []string{
			"create tmp/1", "write tmp/1", "sync tmp/1", "close tmp/1",
			"rename tmp/1 " + of(small), "syncdir " + folder(small),
		}},
		{"three chunks", func() error { return put(dir, long) }, []string{
			"create tmp/2", "write tmp/2", "write tmp/2", "write tmp/2", "sync tmp/2", "close tmp/2",
			"rename tmp/2 " + of(long), "syncdir " + folder(long),
		}},
		{"empty body", func() error { return put(dir, nil) }, []string{
			"create tmp/3", "sync tmp/3", "close tmp/3",
			"rename tmp/3 " + of(nil), "syncdir " + folder(nil),
		}},
		{"stage and discard", discard, []string{
			"create tmp/4", "write tmp/4", "sync tmp/4", "close tmp/4", "remove tmp/4",
		}},
		{"two in one call", func() error { return commitAll(dir, slices.Values([][]byte{small, long})) }, []string{
			"create tmp/5", "write tmp/5", "sync tmp/5", "close tmp/5", "rename tmp/5 " + of(small),
			"create tmp/6", "write tmp/6", "write tmp/6", "write tmp/6", "sync tmp/6", "close tmp/6", "rename tmp/6 " + of(long),
			"syncdir " + min(folder(small), folder(long)), "syncdir " + max(folder(small), folder(long)),
		}},
		{"two of one folder in one call", func() error { return commitAll(dir, slices.Values([][]byte{small, small})) }, []string{
			"create tmp/7", "write tmp/7", "sync tmp/7", "close tmp/7", "rename tmp/7 " + of(small),
			"create tmp/8", "write tmp/8", "sync tmp/8", "close tmp/8", "rename tmp/8 " + of(small), "syncdir " + folder(small),
		}},
		{"sync names", func() error { return dir.SyncNames(digestOf(small)[0]) }, []string{"syncdir " + folder(small)}},
		{"remove", func() error { return dir.Remove(digestOf(small), nil) }, []string{
			"touch " + of(small),
			"rename " + of(small) + " trash/" + filepath.Base(of(small)), "syncdir trash", "syncdir " + folder(small),
		}},
	}
	for _, test := range tests {
		recorded.Arm()
		if err := test.run(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, steps(data, recorded.Calls())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestOrderOfPartialFiles tests that each chunk is synced before it is acknowledged, and the name
// of the file with the first chunk. Without a chunk, nothing is synced.
func TestOrderOfPartialFiles(t *testing.T) {
	t.Parallel()
	dir, recorded, data := openFaulty(t)
	recorded.Arm()
	at := blobs.Checkpoint{}
	for _, chunk := range []string{"abc", "defg", ""} {
		var err error
		if at, err = dir.AppendPartial(t.Context(), blobs.Partial{Name: "a", At: at}, strings.NewReader(chunk), 100); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	want := []string{
		"create parts/a", "write parts/a", "sync parts/a", "close parts/a", "syncdir parts",
		"reopen parts/a", "write parts/a", "sync parts/a", "close parts/a",
		"reopen parts/a", "close parts/a",
	}
	if diff := cmp.Diff(want, steps(data, recorded.Calls())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrderOfFirstOpen tests that the top folders are created, and that the folders that contain
// their names are then synced.
func TestOrderOfFirstOpen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	recorded := blobstest.NewFaultFS(directory.OS{})
	openDir(t, data, recorded)
	want := []string{"mkdir blobs", "mkdir tmp", "mkdir trash", "mkdir parts", "syncdir blobs", "syncdir " + filepath.ToSlash(data)}
	if diff := cmp.Diff(want, steps(data, recorded.Calls())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrderInNewFolders tests that a folder is created when its first file is committed, and that
// its name is synced once.
func TestOrderInNewFolders(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	recorded := blobstest.NewFaultFS(directory.OS{})
	dir := openDir(t, data, recorded)
	first, second, third := []byte("abc"), contentOf(t, 0x01), contentOf(t, 0x02)
	of := func(content []byte) string { return below(data, blobPath(data, content)) }
	tests := []struct {
		name string
		run  func() error
		want []string
	}{
		{"one", func() error { return put(dir, first) }, []string{
			"create tmp/1", "write tmp/1", "sync tmp/1", "close tmp/1",
			"mkdir blobs/ba", "rename tmp/1 " + of(first), "syncdir blobs/ba", "syncdir blobs",
		}},
		{"two in one call, and one in an existing folder", func() error {
			return commitAll(dir, slices.Values([][]byte{second, first, third}))
		}, []string{
			"create tmp/2", "write tmp/2", "sync tmp/2", "close tmp/2", "mkdir blobs/01", "rename tmp/2 " + of(second),
			"create tmp/3", "write tmp/3", "sync tmp/3", "close tmp/3", "rename tmp/3 " + of(first),
			"create tmp/4", "write tmp/4", "sync tmp/4", "close tmp/4", "mkdir blobs/02", "rename tmp/4 " + of(third),
			"syncdir blobs/01", "syncdir blobs", "syncdir blobs/02", "syncdir blobs/ba",
		}},
	}
	for _, test := range tests {
		recorded.Arm()
		if err := test.run(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, steps(data, recorded.Calls())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// contentOf returns a body whose digest begins with the byte first.
func contentOf(t *testing.T, first byte) []byte {
	t.Helper()
	for i := range 100_000 {
		content := strconv.AppendInt(nil, int64(i), 10)
		if digestOf(content)[0] == first {
			return content
		}
	}
	t.Fatal("no such content")
	return nil
}
