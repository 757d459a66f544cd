package bolt

import (
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
)

// fullStore returns a store with a row in every table.
func fullStore(t *testing.T) *Store {
	t.Helper()
	s := openStore(t)
	if err := s.Update(t.Context(), metadatatest.EveryTable); err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, s)
	return s
}

// raw changes the file of an open store directly.
func (s *Store) raw(t *testing.T, change func(*bbolt.Tx) error) {
	t.Helper()
	if err := s.db.Update(change); err != nil {
		t.Fatal(err)
	}
}

// violations returns the names of the buckets in which Check finds a violation.
func violations(t *testing.T, s *Store) (in []string) {
	t.Helper()
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { in = append(in, v.Kind) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(in)
	return slices.Compact(in)
}
