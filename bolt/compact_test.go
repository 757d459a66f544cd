package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
	"labshelf/metadata"
)

// looseFile creates a file with mostly free pages, and returns its path.
func looseFile(t *testing.T) string {
	t.Helper()
	path := closedStore(t, 300)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(tx *metadata.Tx, d blobs.Digest) error{
		func(tx *metadata.Tx, d blobs.Digest) error { return tx.Blobs.Put(blobs.Blob{Digest: d, Size: 9}) },
		func(tx *metadata.Tx, d blobs.Digest) error { return tx.Blobs.Remove(d) },
	} {
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			for i := range 20_000 {
				if err := change(tx, blobs.Digest{byte(i), byte(i >> 8)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// dump reads every key and value of a file.
func dump(t *testing.T, path string) (all map[string]string) {
	t.Helper()
	all = map[string]string{}
	inFile(t, path, func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			all[string(name)] = ""
			return b.ForEach(func(key, value []byte) error {
				all[fmt.Sprintf("%s %x", name, key)] = string(value)
				return nil
			})
		})
	})
	return all
}

func sameRows(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// onlyFile fails the test unless the directory of a file contains only that file.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the directory: %v, %v", entries, err)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	path := looseFile(t)
	rows, pages := dump(t, path), len(used(t, path))
	before, after, err := Compact(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Size() != after || before <= after || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes before, %d after; the file is %v, %v", before, after, info, err)
	}
	if compacted := used(t, path); len(compacted) > pages/4 {
		t.Errorf("%d bytes of pages before, %d after", pages, len(compacted))
	}
	if got := dump(t, path); !sameRows(got, rows) {
		t.Errorf("%d rows before, %d after, or different ones", len(rows), len(got))
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), putUser("later")); err != nil {
		t.Error(err)
	}
	checkIntegrity(t, s)
	if _, _, err := Compact(t.Context(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("compacting an open file: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFailedCompactChangesNothing tests that a file that cannot be copied stays unchanged, and that
// no other file remains in its directory.
func TestFailedCompactChangesNothing(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	flip := func(t *testing.T, path string) {
		inFile(t, path, func(tx *bbolt.Tx) error {
			key, value := tx.Bucket([]byte("users")).Cursor().First()
			return tx.Bucket([]byte("users")).Put(bytes.Clone(key), append(bytes.Clone(value), 0))
		})
	}
	for name, tc := range map[string]struct {
		ctx    context.Context
		damage func(*testing.T, string)
		want   error
	}{
		"an ended context": {ended, func(*testing.T, string) {}, context.Canceled},
		"a damaged row":    {t.Context(), flip, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := looseFile(t)
			tc.damage(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Compact(tc.ctx, path); !errors.Is(err, tc.want) {
				t.Errorf("compact: %v, want %v", err, tc.want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed (%v)", err)
			}
			onlyFile(t, path)
		})
	}
}

// TestFileReplacedDuringOpen tests that a process that waited for the lock of a file does not use
// the file after Compact has replaced it.
func TestFileReplacedDuringOpen(t *testing.T) {
	t.Parallel()
	path, other := closedStore(t, 1), closedStore(t, 2)
	s, err := openFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.checkPath(); err != nil {
		t.Errorf("before: %v", err)
	}
	if renamesOverOpen {
		if err := os.Rename(other, path); err != nil {
			t.Error(err)
		}
		if err := s.checkPath(); !errors.Is(err, ErrLocked) {
			t.Errorf("after it was replaced: %v", err)
		}
	}
	if err := s.db.Close(); err != nil {
		t.Error(err)
	}
}
