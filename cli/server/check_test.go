package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/repository"
)

// lookOf describes everything in a directory, with modes, dates and contents.
func lookOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	look := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		look[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			look[path] += fmt.Sprintf(" %d %x", len(text), sha256.Sum256(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return look
}

// TestCheckChangesNothing: a check does not touch files that opening the data directory for writing
// would delete or correct.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	opened, err := datadir.Open(data, datadir.Stores{})
	if err != nil {
		t.Fatal(err)
	}
	repo := repository.New(opened.Metadata, opened.Blobs, repository.Config{PageSize: 1, DirectoryPageSize: 1})
	if _, err := opened.Bootstrap(t.Context(), repo, ""); err != nil {
		t.Fatal(err)
	}
	repo.Close()
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp/1", "parts/x", "trash/x", "meta.db.new", "meta.db.snapshot-1", "server.pid"} {
		if err := os.WriteFile(filepath.Join(data, filepath.FromSlash(name)), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := lookOf(t, data)
	for _, args := range [][]string{{"check", "--data", data}, {"check", "--data", data, "--json", "--no-data"}} {
		var out, problems bytes.Buffer
		if code := run(args, nil, &out, &problems); code != exit.CodeOK {
			t.Errorf("%v: exit %d\n%s%s", args, code, &out, &problems)
		}
	}
	if diff := cmp.Diff(before, lookOf(t, data)); diff != "" {
		t.Errorf("before (-), after (+):\n%s", diff)
	}
}
