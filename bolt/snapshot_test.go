package bolt

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// TestSnapshotsOpen tests that a snapshot is a complete file with the stated state, also for a
// read-only store.
func TestSnapshotsOpen(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 50)
	for _, readOnly := range []bool{false, true} {
		s, err := Open(path, Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		copies, err := filepath.Glob(path + snapshotInfix + "*")
		if err != nil || len(copies) != 1 && !readOnly || len(copies) != 0 && readOnly {
			t.Errorf("read only: %v: in the directory: %q, %v", readOnly, copies, err)
		}
		content, err := io.ReadAll(snapshot)
		if err := errors.Join(err, snapshot.Close()); err != nil {
			t.Error(err)
		}
		if copies, _ := filepath.Glob(path + snapshotInfix + "*"); len(copies) != 0 {
			t.Errorf("after closing it: %q", copies)
		}
		restored := filepath.Join(t.TempDir(), "meta.db")
		if err := os.WriteFile(restored, content, 0o600); err != nil {
			t.Fatal(err)
		}
		copied, err := Open(restored, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := usersIn(t, copied), usersIn(t, s); !slices.Equal(got, want) || len(got) != 50 {
			t.Errorf("%d users in the snapshot, %d in the store", len(got), len(want))
		}
		checkIntegrity(t, copied)
		if err := errors.Join(copied.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// endsLater is a context that ends after a number of calls.
type endsLater struct {
	context.Context
	after int
}

func (c *endsLater) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

// TestSnapshotEnds tests that a snapshot ends with its context at any point, and leaves no file.
func TestSnapshotEnds(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 50)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for after := range 4 {
		if _, err := s.Snapshot(&endsLater{t.Context(), after}); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d calls: %v", after, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	onlyFile(t, path)
}

// full is a writer that fails after a number of bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, sysNoSpace
	}
	return len(p), nil
}

// TestSnapshotKeepsError tests that the error is kept, although bbolt keeps only the text of
// some errors.
func TestSnapshotKeepsError(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, room := range []int{0, os.Getpagesize(), 3 * os.Getpagesize()} {
		_, err := s.read(t.Context(), func(k *kv, _ *tables.Tx) error {
			to := &contextWriter{to: &full{room}, ended: t.Context().Err}
			_, err := k.bolt.WriteTo(to)
			if !errors.Is(to.failed, sysNoSpace) {
				t.Errorf("with room for %d bytes: %v", room, to.failed)
			}
			return err
		})
		if err == nil {
			t.Errorf("with room for %d bytes: no error", room)
		}
	}
}

// TestStaleSnapshotsAreRemoved tests that opening the file for writing removes the snapshots of a
// killed process.
func TestStaleSnapshotsAreRemoved(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 1)
	if err := os.WriteFile(path+snapshotInfix+"1", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	onlyFile(t, path)
}

var _ metadata.Snapshot = (*snapshot)(nil)
