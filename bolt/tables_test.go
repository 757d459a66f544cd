package bolt

import (
	"errors"
	"testing"

	"labshelf/auth"
	"labshelf/repository"
)

// TestTakenEntries puts rows whose names, pairs or digests are those of other rows: nothing changes, also not for the others
// in the batch, and whoever has the name keeps it.
func TestTakenEntries(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	user, space := idAt('U', 1), idAt('D', 1)
	record := repository.Record{ID: idAt('X', 9), State: repository.Active}
	for name, put := range map[string]func(*repository.Tx) error{
		"dataspace": func(tx *repository.Tx) error {
			return tx.Dataspaces.Put(repository.Dataspace{Record: record, Name: "alps"})
		},
		"set": func(tx *repository.Tx) error { return tx.Sets.Put(repository.Set{Record: record, Name: "peaks"}) },
		"user": func(tx *repository.Tx) error {
			return tx.Users.Put(repository.User{Record: record, Username: "aNNa"})
		},
		"privilege": func(tx *repository.Tx) error {
			return tx.Privileges.Put(repository.Privilege{Record: record, UserID: user, DataspaceID: space})
		},
		"key": func(tx *repository.Tx) error {
			return tx.Keys.Put(repository.Key{ID: idAt('K', 9), UserID: user, Digest: auth.KeyDigest{1}})
		},
	} {
		runs := 0
		neighbour := func(*repository.Tx) error { runs++; return nil }
		answers := together(t, s, neighbour, put)
		if answers[0] != nil || !errors.Is(answers[1], errTaken) || runs != 1 {
			t.Errorf("%s: %v; the neighbour ran %d times", name, answers, runs)
		}
	}
	checkIntegrity(t, s)
}

// TestKeyChangesItsDigest: the former digest no longer leads to the key.
func TestKeyChangesItsDigest(t *testing.T) {
	t.Parallel()
	s := fullStore(t)
	user := idAt('U', 1)
	changed := repository.Key{ID: idAt('K', 1), UserID: user, Digest: auth.KeyDigest{2}, Label: "other"}
	if err := s.Update(t.Context(), func(tx *repository.Tx) error { return tx.Keys.Put(changed) }); err != nil {
		t.Fatal(err)
	}
	err := s.View(t.Context(), func(tx *repository.Tx) error {
		if _, err := tx.Keys.ByDigest(auth.KeyDigest{1}); !errors.Is(err, repository.ErrNotFound) {
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
