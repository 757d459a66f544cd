package bolt

import (
	"errors"
	"testing"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
)

// TestDuplicateEntries puts rows whose names, pairs or digests belong to other rows. Nothing may
// change, also for the other operations of the batch, and the first row keeps the entry.
func TestDuplicateEntries(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	user, space := metadatatest.IDAt('U', 1), metadatatest.IDAt('D', 1)
	record := metadata.Record{ID: metadatatest.IDAt('X', 9), State: metadata.Active}
	for name, put := range map[string]func(*metadata.Tx) error{
		"dataspace": func(tx *metadata.Tx) error {
			return tx.Dataspaces.Put(metadata.Dataspace{Record: record, Name: "alps"})
		},
		"set": func(tx *metadata.Tx) error { return tx.Sets.Put(metadata.Set{Record: record, Name: "peaks"}) },
		"user": func(tx *metadata.Tx) error {
			return tx.Users.Put(metadata.User{Record: record, Username: "aNNa"})
		},
		"privilege": func(tx *metadata.Tx) error {
			return tx.Privileges.Put(metadata.Privilege{Record: record, UserID: user, DataspaceID: space})
		},
		"key": func(tx *metadata.Tx) error {
			return tx.Keys.Put(metadata.Key{ID: metadatatest.IDAt('K', 9), UserID: user, Digest: auth.KeyDigest{1}})
		},
	} {
		runs := 0
		neighbour := func(*metadata.Tx) error { runs++; return nil }
		answers := together(t, s, neighbour, put)
		if answers[0] != nil || !errors.Is(answers[1], tables.ErrTaken) || runs != 1 {
			t.Errorf("%s: %v; the other operation ran %d times", name, answers, runs)
		}
	}
	checkIntegrity(t, s)
}

// TestKeyChangesItsDigest tests that the former digest of a key no longer leads to the key.
func TestKeyChangesItsDigest(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	user := metadatatest.IDAt('U', 1)
	changed := metadata.Key{ID: metadatatest.IDAt('K', 1), UserID: user, Digest: auth.KeyDigest{2}, Label: "other"}
	if err := s.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Keys.Put(changed) }); err != nil {
		t.Fatal(err)
	}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		if _, err := tx.Keys.ByDigest(auth.KeyDigest{1}); !errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("by the former digest: %v", err)
		}
		if got, err := tx.Keys.ByDigest(auth.KeyDigest{2}); err != nil || got != changed {
			t.Errorf("by the digest: %+v, %v", got, err)
		}
		if got, err := tx.Keys.Get(user, changed.ID); err != nil || got != changed {
			t.Errorf("by the id: %+v, %v", got, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	checkIntegrity(t, s)
}
