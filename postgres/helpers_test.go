package postgres_test

import (
	"context"
	"errors"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/postgres"
)

// open opens a database, which is checked and closed at the end of the test.
func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Inspect(context.Background(), func(v metadata.Violation) { t.Error(v) }); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// put returns an operation that puts the nth resource with a name, and counts the calls of the
// operation in Bytes.
func put(n int, name string) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		counters, err := tx.Usage.Get(metadata.ID{})
		if err != nil {
			return err
		}
		counters.ActiveFiles++
		stamp := tx.Stamp()
		return errors.Join(
			tx.Usage.Put(metadata.ID{}, stamp.Day(), counters),
			tx.Resources.Put(metadata.Resource{
				Record: metadata.Record{ID: metadatatest.IDAt('R', n), State: metadata.Active, Created: stamp, Modified: stamp},
				SetID:  metadatatest.IDAt('S', 1), DataspaceID: metadatatest.IDAt('D', 1), Name: name,
				Digest: blobs.Digest{1}, Bytes: counters.ActiveFiles, Version: 1,
			}))
	}
}

// resources returns all resources in an order.
func resources(t *testing.T, s metadata.Reader, order paging.Order) (all []metadata.Resource) {
	t.Helper()
	q := metadata.ResourceRange{States: paging.All, Order: order}
	if order == paging.ByName {
		q.Set = metadatatest.IDAt('S', 1)
	}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		all = nil
		for r, err := range tx.Resources.Range(q) {
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
