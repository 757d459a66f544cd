package metadatatest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// ids formats ids of the tests as their numbers.
func ids(of ...metadata.ID) string {
	var b strings.Builder
	for _, id := range of {
		fmt.Fprintf(&b, " %d", id[15])
	}
	return strings.TrimSpace(b.String())
}

// listed formats the ids in a sequence.
func listed[T any](t *testing.T, s metadata.Reader, idOf func(T) metadata.ID, seq func(*metadata.Tx) iter.Seq2[T, error]) string {
	t.Helper()
	return ids(mapped(view(t, s, func(tx *metadata.Tx) ([]T, error) { return list(seq(tx)) }), idOf)...)
}

// testSequences ends sequences early, reads two sequences of one table alternately, and gets rows
// during a sequence, like a page does.
func testSequences(t *testing.T, s *store) {
	for n := byte(1); n <= 9; n++ {
		record := metadata.Record{ID: id(n), State: metadata.Active, Modified: metadata.Stamp(n)}
		s.put(t,
			metadata.Dataspace{Record: record, Name: fmt.Sprint("d", n), Visibility: metadata.Visibility(2 + n%2)},
			metadata.Resource{Record: record, SetID: id(1), DataspaceID: id(1), Name: "r"})
	}
	rows := view(t, s, func(tx *metadata.Tx) (rows []string, err error) {
		q := metadata.ResourceRange{States: paging.All, Order: paging.Oldest}
		next, stop := iter.Pull2(tx.Resources.Range(q))
		defer stop()
		q.Order = paging.Newest
		for backwards, err := range tx.Resources.Range(q) {
			if err != nil {
				return nil, err
			}
			forwards, err, more := next()
			if !more || err != nil {
				return nil, fmt.Errorf("ended early: %w", err)
			}
			again, err := tx.Resources.Get(backwards.ID)
			if err != nil {
				return nil, err
			}
			first, err := take(tx.Dataspaces.All(forwards.ID), 2)
			if err != nil {
				return nil, err
			}
			found := mapped(first, func(d metadata.Dataspace) metadata.ID { return d.ID })
			if rows = append(rows, ids(append(found, forwards.ID, again.ID)...)); len(rows) == 4 {
				break
			}
		}
		return rows, nil
	})
	same(t, "sequences read together", rows, []string{"2 3 1 9", "3 4 2 8", "4 5 3 7", "5 6 4 6"})
}

// testCopies keeps rows that it has read, and changes rows that it has put, while the store changes
// and closes.
func testCopies(t *testing.T, s *store) {
	rows := filledRows(false)
	s.put(t, rows...)
	var kept []any
	keep := func(tx *metadata.Tx) error {
		for _, row := range rows {
			for _, way := range nounOf(row).ways {
				got, err := way.find(tx, row)
				if err != nil {
					return err
				}
				kept = append(kept, got)
			}
		}
		return nil
	}
	listing := view(t, s, read(probeOf(rows...)))
	if err := s.View(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	others := filledRows(true)
	for n := range byte(20) {
		s.put(t, others...)
		s.put(t, blobs.Blob{Digest: blobs.Digest{n}, Size: int64(n)}, metadata.User{Record: metadata.Record{ID: id(n)}, Username: strings.Repeat("u", int(n)+1)})
	}
	for _, row := range rows {
		s.put(t, row)
	}
	want := view(t, onlyHolds(t, rows...), read(probeOf(rows...)))
	s.stop(t)
	same(t, "kept lists", listing, want)
	for _, row := range kept {
		if !slices.Contains(rows, row) {
			t.Errorf("a kept row has changed to %+v", row)
		}
	}
}

// testBodyCopies tests that the store copies the bodies that it receives and returns.
func testBodyCopies(t *testing.T, s *store) {
	of := metadata.VersionKey{Resource: id(1)}
	s.update(t, func(tx *metadata.Tx) error {
		body := []byte("body")
		if err := tx.InlineBodies.Put(of, body); err != nil {
			return err
		}
		copy(body, "else")
		return nil
	})
	get := func(tx *metadata.Tx) ([]byte, error) { return tx.InlineBodies.Get(of) }
	first := view(t, s, get)
	same(t, "the body", string(first), "body")
	clear(first)
	same(t, "the body again", string(view(t, s, get)), "body")
}
