package blobs_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

// openFaulty opens an empty store whose calls to the file system can be seen and made to fail.
func openFaulty(t *testing.T) (dir *blobs.Dir, faulty *blobstest.FaultFS, data string) {
	t.Helper()
	data = blobstest.DataDir(t)
	faulty = blobstest.NewFaultFS(blobs.OS{})
	return openDir(t, data, faulty), faulty, data
}

// steps writes calls as text, with paths below data.
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

// TestOrder states the order of calls that a power cut cannot do harm to.
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
		{"stage and place", func() error { return put(dir, small) }, []string{
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
		{"two at once", func() error { return dir.PlaceAll(slices.Values([][]byte{small, long})) }, []string{
			"create tmp/5", "write tmp/5", "sync tmp/5", "close tmp/5", "rename tmp/5 " + of(small),
			"create tmp/6", "write tmp/6", "write tmp/6", "write tmp/6", "sync tmp/6", "close tmp/6", "rename tmp/6 " + of(long),
			"syncdir " + min(folder(small), folder(long)), "syncdir " + max(folder(small), folder(long)),
		}},
		{"two of one folder at once", func() error { return dir.PlaceAll(slices.Values([][]byte{small, small})) }, []string{
			"create tmp/7", "write tmp/7", "sync tmp/7", "close tmp/7", "rename tmp/7 " + of(small),
			"create tmp/8", "write tmp/8", "sync tmp/8", "close tmp/8", "rename tmp/8 " + of(small), "syncdir " + folder(small),
		}},
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

// TestOrderOfFirstOpen has every directory made, then those synced that hold their names.
func TestOrderOfFirstOpen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	recorded := blobstest.NewFaultFS(blobs.OS{})
	openDir(t, data, recorded)
	made, synced := make(map[string]bool), make(map[string]bool)
	for _, call := range recorded.Calls() {
		switch call.Op {
		case blobstest.Mkdir:
			if len(synced) > 0 {
				t.Errorf("%s was made after a sync that was to cover it", below(data, call.Path))
			}
			made[call.Path] = true
		case blobstest.SyncDir:
			synced[call.Path] = true
		default:
			t.Errorf("unexpected %s of %s", call.Op, below(data, call.Path))
		}
	}
	if len(made) != 3+256 {
		t.Errorf("made %d directories, want %d", len(made), 3+256)
	}
	if diff := cmp.Diff(map[string]bool{data: true, filepath.Join(data, "blobs"): true}, synced); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
}
