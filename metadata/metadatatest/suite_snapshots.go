package metadatatest

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
)

// snapshotTests test inspections and snapshots.
func snapshotTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"a snapshot has one state":                testSnapshotFile,
		"a snapshot is read from any offset":      testSnapshotSeeks,
		"an ended context ends inspect, snapshot": testMaintenanceContext,
		"a closed store is not inspected, copied": testMaintenanceClosed,
		"snapshots are taken while others commit": testSnapshotUnderWriters,
	}
}

func digestAt(n byte) blobs.Digest { return blobs.Digest{0: n, 31: 1} }

// copied reads a snapshot and closes it.
func copied(t *testing.T, s metadata.Store) (content []byte, stamp metadata.Stamp) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	content, err = io.ReadAll(snapshot)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		t.Errorf("read the snapshot: %v", err)
	}
	if len(content) == 0 || int64(len(content)) != snapshot.Bytes() {
		t.Errorf("read %d bytes of the snapshot, but its length is %d", len(content), snapshot.Bytes())
	}
	return content, snapshot.Stamp()
}

func testSnapshotFile(t *testing.T, s *store) {
	s.put(t, filledRows(false)...)
	last := s.stamp(t)
	before, stamp := copied(t, s)
	same(t, "stamp of the snapshot", stamp, last)
	open, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	later := s.stamp(t)
	s.put(t, filledRows(true)...)
	content, err := io.ReadAll(open)
	isError(t, "read a snapshot after a commit", errors.Join(err, open.Close()), nil)
	if !slices.Equal(content, before) || open.Stamp() != last {
		t.Errorf("a snapshot taken before a commit, read after it, contains %d bytes at %d; want %d at %d", len(content), open.Stamp(), len(before), last)
	}
	after, stamp := copied(t, s)
	if slices.Equal(after, before) || stamp != later {
		t.Errorf("a snapshot after a commit is at %d, want %d, and it must differ from the one before", stamp, later)
	}
}

func testSnapshotSeeks(t *testing.T, s *store) {
	s.put(t, filledRows(false)...)
	want, _ := copied(t, s)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	for _, from := range []int64{0, int64(len(want)) / 2, int64(len(want)) - 1, int64(len(want)), 0} {
		at, err := snapshot.Seek(from, io.SeekStart)
		got, failed := io.ReadAll(snapshot)
		if err := errors.Join(err, failed); err != nil || at != from || !slices.Equal(got, want[from:]) {
			t.Errorf("from %d: %d bytes, %v; want %d", from, len(got), err, int64(len(want))-from)
		}
	}
	isError(t, "close", snapshot.Close(), nil)
}

func testMaintenanceContext(t *testing.T, s *store) {
	ended, end := context.WithCancel(t.Context())
	end()
	isError(t, "inspect", s.Inspect(ended, func(v metadata.Violation) { t.Error(v) }), context.Canceled)
	_, err := s.Snapshot(ended)
	isError(t, "snapshot", err, context.Canceled)
}

func testMaintenanceClosed(t *testing.T, s *store) {
	closed := s.Store
	s.stop(t)
	isError(t, "inspect", closed.Inspect(t.Context(), func(v metadata.Violation) { t.Error(v) }), metadata.ErrClosed)
	_, err := closed.Snapshot(t.Context())
	isError(t, "snapshot", err, metadata.ErrClosed)
}

func testSnapshotUnderWriters(t *testing.T, s *store) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	subject := s.Store
	go func() {
		var err error
		for n := byte(0); err == nil; n++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			err = subject.Update(context.WithoutCancel(t.Context()), func(tx *metadata.Tx) error {
				tx.Stamp()
				return tx.Blobs.Put(blobs.Blob{Digest: digestAt(n), Size: int64(n)})
			})
		}
		ended <- err
	}()
	var before metadata.Stamp
	for range 5 {
		_, stamp := copied(t, s)
		if stamp < before {
			t.Errorf("a snapshot at %d after one at %d", stamp, before)
		}
		before = stamp
	}
	close(stop)
	isError(t, "the writer", <-ended, nil)
}
