package crash

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "labshelf/internal/testhome"
	"labshelf/verify/faults/passfs"
)

// renamedFile records a file that is created, filled and synced in one directory, and renamed into
// another one.
func renamedFile() *Recording {
	calls := []passfs.Call{
		{Kind: passfs.Mkdir, Path: "tmp"},
		{Kind: passfs.Mkdir, Path: "blobs"},
		{Kind: passfs.SyncDir, Path: ""},
		{Kind: passfs.Create, Path: "tmp/1", File: 7},
		{Kind: passfs.Write, Path: "tmp/1", File: 7, Data: []byte("body")},
		{Kind: passfs.Sync, Path: "tmp/1", File: 7},
		{Kind: passfs.Rename, Path: "tmp/1", To: "blobs/x"},
		{Kind: passfs.SyncDir, Path: "blobs"},
		{Kind: passfs.Write, Path: "blobs/x", File: 7, Offset: 4, Data: []byte("more")},
		{Kind: passfs.Link, Path: "blobs/x", To: "blobs/y"},
		{Kind: passfs.Unlink, Path: "blobs/x"},
		{Kind: passfs.SyncDir, Path: "blobs"},
		{Kind: passfs.Truncate, Path: "blobs/y", File: 7, Size: 2},
	}
	return &Recording{Calls: calls, Acks: make([]int, len(calls))}
}

// tree lists the content of a directory: folders with a slash, and files with their content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
		if err != nil || name == "" {
			return err
		}
		if e.IsDir() {
			lines = append(lines, name+"/")
			return nil
		}
		content, err := os.ReadFile(path)
		lines = append(lines, fmt.Sprintf("%s=%s", name, content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " ")
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Calls: 2, Keep: KeepNone}, ""},
		{Choice{Calls: 2, Keep: KeepOne, Pick: 1}, "blobs/"},
		{Choice{Calls: 3, Keep: KeepNone}, "blobs/ tmp/"},
		{Choice{Calls: 5, Keep: KeepNone}, "blobs/ tmp/"},
		{Choice{Calls: 5, Keep: KeepOne, Pick: 0}, "blobs/ tmp/ tmp/1="},
		{Choice{Calls: 5, Keep: KeepOne, Pick: 1}, "blobs/ tmp/"},
		{Choice{Calls: 5, Keep: KeepAll}, "blobs/ tmp/ tmp/1=body"},
		{Choice{Calls: 6, Keep: KeepNone}, "blobs/ tmp/"}, // no name: the folder was not synced
		{Choice{Calls: 6, Keep: KeepAll}, "blobs/ tmp/ tmp/1=body"},
		{Choice{Calls: 7, Keep: KeepOne, Pick: 0}, "blobs/ tmp/ tmp/1=body"}, // only the old name
		{Choice{Calls: 7, Keep: KeepOne, Pick: 1}, "blobs/ blobs/x=body tmp/"},
		{Choice{Calls: 7, Keep: KeepOne, Pick: 2}, "blobs/ tmp/"},
		{Choice{Calls: 8, Keep: KeepNone}, "blobs/ blobs/x=body tmp/"},
		{Choice{Calls: 9, Keep: KeepNone}, "blobs/ blobs/x=body tmp/"},
		{Choice{Calls: 9, Keep: KeepAll}, "blobs/ blobs/x=bodymore tmp/"},
		{Choice{Calls: 12, Keep: KeepNone}, "blobs/ blobs/y=body tmp/"},
		{Choice{Calls: 13, Keep: KeepAll}, "blobs/ blobs/y=bo tmp/"},
	} {
		t.Run(c.choice.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := renamedFile().Build(c.choice, dir); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, dir); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestTorn checks that KeepSome creates every possible torn state of a write of two blocks. The
// length of the file is independent of its bytes.
func TestTorn(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a", 512) + strings.Repeat("b", 512)
	r := &Recording{Calls: []passfs.Call{
		{Kind: passfs.Create, Path: "f", File: 1}, {Kind: passfs.SyncDir, Path: ""}, {Kind: passfs.Write, Path: "f", File: 1, Data: []byte(body)},
	}, Acks: make([]int, 3)}
	zero := strings.Repeat("\x00", 512)
	want := map[string]bool{"": true, body: true, body[:512]: true, body[:512] + zero: true, zero + body[512:]: true, zero + zero: true}
	got := map[string]bool{}
	for seed := range uint64(200) {
		dir := t.TempDir()
		if err := r.Build(Choice{Calls: 3, Keep: KeepSome, Seed: seed}, dir); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		if got[string(content)] = true; !want[string(content)] {
			t.Fatalf("seed %d creates %q", seed, content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %d of %d states", len(got), len(want))
	}
}

// TestChoices checks that Choices covers every position in the recording: without changes, with all
// changes, and with each single change.
func TestChoices(t *testing.T) {
	t.Parallel()
	all, err := renamedFile().Choices(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5:none:0:0", "5:all:0:0", "5:one:0:0", "5:one:1:0", "7:one:2:0", "13:none:0:0", "13:all:0:0"} {
		if !slices.ContainsFunc(all, func(c Choice) bool { return c.String() == want }) {
			t.Errorf("%s is not among %v", want, all)
		}
	}
}
