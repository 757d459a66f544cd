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

// keepingTests are of what serves those who look after a store.
func keepingTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"blobs are listed and removed":             testBlobRows,
		"references follow the resources":          testRefs,
		"damages are replaced and removed":         testDamages,
		"unreferenced blobs are counted":           testUnreferenced,
		"the scrub goes on where it was":           testScrub,
		"nothing is wrong in a store":              testInspect,
		"a snapshot is one state":                  testSnapshotFile,
		"a snapshot is read from any place":        testSnapshotSeeks,
		"an ended context ends inspect, snapshot":  testKeepingContext,
		"a closed store is not inspected, copied":  testKeepingClosed,
		"snapshots are taken while others commit":  testSnapshotUnderWriters,
		"a closed snapshot leaves the store alone": testSnapshotCloses,
	}
}

func digestAt(n byte) blobs.Digest { return blobs.Digest{0: n, 31: 1} }

func testBlobRows(t *testing.T, s *store) {
	s.put(t, blobRow{digestAt(2), 2}, blobRow{digestAt(0xff), 255}, blobRow{digestAt(1), 1}, blobRow{blobs.Digest{}, 0})
	before, none, past := digestAt(1), blobs.Digest{0: 1, 31: 2}, digestAt(0xff)
	for _, tc := range []struct {
		name  string
		after *blobs.Digest
		want  []int64
	}{
		{"all", nil, []int64{0, 1, 2, 255}}, {"after the zero digest", &blobs.Digest{}, []int64{1, 2, 255}},
		{"after one", &before, []int64{2, 255}}, {"after none that there is", &none, []int64{2, 255}}, {"after the last", &past, nil},
	} {
		var sizes []int64
		for _, b := range view(t, s, func(tx *metadata.Tx) ([]metadata.Blob, error) { return list(tx.Blobs.All(tc.after)) }) {
			if b.Digest != digestAt(byte(b.Bytes)) && b.Bytes != 0 {
				t.Errorf("%s: %d bytes under %s", tc.name, b.Bytes, b.Digest)
			}
			sizes = append(sizes, b.Bytes)
		}
		same(t, tc.name, sizes, tc.want)
	}
	s.update(t, func(tx *metadata.Tx) error {
		return errors.Join(tx.Blobs.Remove(digestAt(2)), tx.Blobs.Remove(digestAt(2)), tx.Blobs.Remove(digestAt(7)))
	})
	s.reopen(t)
	left := view(t, s, func(tx *metadata.Tx) ([]metadata.Blob, error) { return list(tx.Blobs.All(nil)) })
	same(t, "what is left", left, []metadata.Blob{{}, {Digest: digestAt(1), Bytes: 1}, {Digest: digestAt(0xff), Bytes: 255}})
	gone := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Blobs.Size(digestAt(2))
		return err
	})
	isError(t, "size of what was removed", gone, metadata.ErrNotFound)
}

func testRefs(t *testing.T, s *store) {
	row := func(n, digest byte, version uint32, body metadata.Body) metadata.Resource {
		record := metadata.Record{ID: id(n), State: metadata.Active, Modified: metadata.Stamp(n)}
		return metadata.Resource{Record: record, Digest: digestAt(digest), Version: version, Body: body}
	}
	refs := func(digest byte) []metadata.ID {
		return view(t, s, func(tx *metadata.Tx) ([]metadata.ID, error) { return list(tx.Blobs.Refs(digestAt(digest))) })
	}
	s.put(t, row(3, 1, 9, metadata.Filed), row(1, 1, 12, metadata.Filed), row(2, 1, 0, metadata.Purged), row(4, 2, 0, metadata.Filed),
		row(5, 1, 0, metadata.Held), row(6, 2, 0, metadata.Held))
	same(t, "references to a blob of three", refs(1), []metadata.ID{id(1), id(3)})
	same(t, "references to a blob of one", refs(2), []metadata.ID{id(4)})
	same(t, "references to a blob of none", refs(3), nil)
	s.put(t, row(3, 2, 10, metadata.Filed), row(1, 1, 12, metadata.Purged), row(6, 2, 0, metadata.Filed))
	same(t, "references to a blob that all have left", refs(1), nil)
	same(t, "references to a blob that two have come to", refs(2), []metadata.ID{id(3), id(4), id(6)})
}

func testDamages(t *testing.T, s *store) {
	all := func(tx *metadata.Tx) ([]metadata.Damage, error) { return list(tx.Damages.All()) }
	first := metadata.Damage{Digest: digestAt(2), Found: 5, What: "it has another digest"}
	second := metadata.Damage{Digest: digestAt(1), Found: 6, What: "it is not there"}
	same(t, "damages of an empty store", view(t, s, all), nil)
	s.put(t, first, second)
	same(t, "damages", view(t, s, all), []metadata.Damage{second, first})
	first.What = "read error: \xff\x00"
	s.put(t, first)
	s.reopen(t)
	same(t, "damages after one was put again", view(t, s, all), []metadata.Damage{second, first})
	s.update(t, func(tx *metadata.Tx) error {
		return errors.Join(tx.Damages.Remove(second.Digest), tx.Damages.Remove(second.Digest))
	})
	same(t, "damages after one was removed", view(t, s, all), []metadata.Damage{first})
	gone := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Damages.Get(second.Digest)
		return err
	})
	isError(t, "get what was removed", gone, metadata.ErrNotFound)
}

func testUnreferenced(t *testing.T, s *store) {
	all := func(tx *metadata.Tx) ([]metadata.Unreferenced, error) { return list(tx.Unreferenced.All(nil)) }
	total := func(tx *metadata.Tx) (metadata.BlobCount, error) { return tx.Unreferenced.Total() }
	same(t, "total of an empty store", view(t, s, total), metadata.BlobCount{})
	first := metadata.Unreferenced{Digest: digestAt(2), Bytes: 20, Since: 5}
	second := metadata.Unreferenced{Digest: digestAt(1), Bytes: 10, Since: 6, Seen: 7}
	s.put(t, first, second)
	first.Bytes, first.Seen = 22, 8
	s.put(t, first)
	s.reopen(t)
	same(t, "rows", view(t, s, all), []metadata.Unreferenced{second, first})
	same(t, "total", view(t, s, total), metadata.BlobCount{Blobs: 2, Bytes: 32})
	s.update(t, func(tx *metadata.Tx) error {
		return errors.Join(tx.Unreferenced.Remove(second.Digest), tx.Unreferenced.Remove(second.Digest), tx.Unreferenced.Remove(digestAt(7)))
	})
	same(t, "rows after one was removed", view(t, s, all), []metadata.Unreferenced{first})
	same(t, "total after one was removed", view(t, s, total), metadata.BlobCount{Blobs: 1, Bytes: 22})
	same(t, "rows after a digest", view(t, s, func(tx *metadata.Tx) ([]metadata.Unreferenced, error) {
		return list(tx.Unreferenced.All(&first.Digest))
	}), nil)
}

func testScrub(t *testing.T, s *store) {
	get := func(tx *metadata.Tx) (metadata.ScrubState, error) { return tx.Scrub.Get() }
	same(t, "scrub that has never begun", view(t, s, get), metadata.ScrubState{})
	state := filled[metadata.ScrubState](false)
	s.put(t, scrubRow{state})
	same(t, "scrub", view(t, s, get), state)
	state.After, state.Checked = digestAt(0xff), 1<<40
	s.put(t, scrubRow{state})
	s.reopen(t)
	same(t, "scrub after it went on", view(t, s, get), state)
}

// someRows are rows that belong together, with stamps of the store.
func someRows(tx *metadata.Tx) []any {
	record := func() metadata.Record {
		stamp := tx.Stamp()
		return metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}
	}
	user := metadata.User{Record: record(), Username: "anna"}
	space := metadata.Dataspace{Record: record(), Name: "alps", Visibility: metadata.Public}
	set := metadata.Set{Record: record(), DataspaceID: space.ID, Name: "peaks"}
	file := metadata.Resource{Record: record(), SetID: set.ID, DataspaceID: space.ID, Name: "map", Digest: digestAt(1), Bytes: 10}
	return []any{
		user, space, set, file, blobRow{digestAt(1), 10}, blobRow{digestAt(2), 20},
		bodyRow{metadata.BodyKey{Resource: file.ID}, "body"}, metadata.Damage{Digest: digestAt(2), Found: tx.Stamp()},
		scrubRow{metadata.ScrubState{After: digestAt(1), Begun: tx.Stamp()}}, usageRow{space.ID, 1, metadata.Counters{ActiveFiles: 1}},
		metadata.Privilege{Record: record(), UserID: user.ID, DataspaceID: space.ID, Role: 1},
		metadata.Key{ID: metadata.NewID(tx.Stamp()), UserID: user.ID, Created: tx.Stamp()},
		metadata.Step{Container: set.ID, DataspaceID: space.ID, Begun: tx.Stamp()},
	}
}

func testInspect(t *testing.T, s *store) {
	for _, when := range []string{"empty", "with rows", "with the same rows again"} {
		report := func(v metadata.Violation) { t.Errorf("a store %s: %v", when, v) }
		isError(t, "inspect", s.Inspect(t.Context(), report), nil)
		if when == "empty" {
			s.update(t, func(tx *metadata.Tx) error { return putAll(tx, someRows(tx)) })
			continue
		}
		s.reopen(t)
	}
}

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
		t.Errorf("the snapshot gave %d bytes, it says that it has %d", len(content), snapshot.Bytes())
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
		t.Errorf("a snapshot taken before a commit, read after it, holds %d bytes at %d; want the %d at %d", len(content), open.Stamp(), len(before), last)
	}
	after, stamp := copied(t, s)
	if slices.Equal(after, before) || stamp != later {
		t.Errorf("a snapshot after a commit is at %d, want %d, and another one than before", stamp, later)
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

func testKeepingContext(t *testing.T, s *store) {
	ended, end := context.WithCancel(t.Context())
	end()
	isError(t, "inspect", s.Inspect(ended, func(v metadata.Violation) { t.Error(v) }), context.Canceled)
	_, err := s.Snapshot(ended)
	isError(t, "snapshot", err, context.Canceled)
}

func testKeepingClosed(t *testing.T, s *store) {
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
				return tx.Blobs.Put(digestAt(n), int64(n))
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

func testSnapshotCloses(t *testing.T, s *store) {
	rows := filledRows(false)
	s.put(t, rows...)
	copied(t, s)
	s.reopen(t)
	if err := s.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, rows) }); err != nil {
		t.Error(err)
	}
}
