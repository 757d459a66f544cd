package metadatatest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/metadata"
)

func accessTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"rows that decide access have a version":        testAccessVersion,
		"the use of a key does not change the version":  testLastUseDecidesNothing,
		"operations of one commit see no wrong version": testAccessInUpdates,
		"each version has one state":                    testOneVersionOneState,
	}
}

// accessOf returns the access version of a transaction.
func accessOf(tx *metadata.Tx) (uint64, error) { return tx.Access(), nil }

// accessVersion returns the current access version of the store.
func accessVersion(t *testing.T, s *store) uint64 {
	t.Helper()
	version, err := s.AccessVersion(t.Context())
	if err != nil {
		t.Error(err)
	}
	return version
}

func testAccessVersion(t *testing.T, s *store) {
	before := accessVersion(t, s)
	if before == 0 {
		t.Error("a new store has no version")
	}
	for _, other := range []bool{false, true} {
		for _, row := range filledRows(other) {
			decides := false
			switch row.(type) {
			case metadata.User, metadata.Key, metadata.Session, metadata.Privilege, metadata.Dataspace, metadata.Set, metadata.Cascade:
				decides = true
			}
			s.put(t, row)
			now := accessVersion(t, s)
			if now < before || now > before != decides {
				t.Errorf("a new %T: version %d after %d", row, now, before)
			}
			same(t, fmt.Sprintf("Access in a view after a %T", row), view(t, s, accessOf), now)
			before = now
		}
	}
	s.reopen(t)
	if accessVersion(t, s) == 0 {
		t.Error("a store that was opened again has no version")
	}
}

func testLastUseDecidesNothing(t *testing.T, s *store) {
	key := filled[metadata.Key](false)
	s.put(t, key)
	before := accessVersion(t, s)
	key.LastUsed++
	s.put(t, key)
	same(t, "the version after a use", accessVersion(t, s), before)
	same(t, "the row", view(t, s, func(tx *metadata.Tx) (metadata.Key, error) { return tx.Keys.Get(key.UserID, key.ID) }), key)
	key.LastUsed, key.Gone = key.LastUsed+1, key.Gone+1
	s.put(t, key)
	if accessVersion(t, s) == before {
		t.Error("a key was used and revoked, but the version is the same")
	}
}

// testAccessInUpdates tests that an update sees the version until the update, or another operation
// of its commit, changes an access row.
func testAccessInUpdates(t *testing.T, s *store) {
	user, role := filled[metadata.User](false), filled[metadata.Privilege](false)
	for _, row := range []any{user, role} {
		var first, last uint64
		before := accessVersion(t, s)
		s.update(t, func(tx *metadata.Tx) error {
			first = tx.Access()
			err := put(tx, row)
			last = tx.Access()
			return err
		})
		same(t, "before the change", first, before)
		same(t, "after the change", last, 0)
	}
	failed := s.Update(t.Context(), func(tx *metadata.Tx) error {
		user.Fullname += "!"
		return errors.Join(put(tx, user), errOnPurpose)
	})
	isError(t, "an update that fails", failed, errOnPurpose)
	same(t, "Access in a view after an update that failed", view(t, s, accessOf), accessVersion(t, s))

	var updates sync.WaitGroup
	for range 8 {
		updates.Go(func() {
			for range 20 {
				if err := s.Update(t.Context(), raise(user.ID)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	updates.Wait()
}

// raise returns an operation that changes an access row. If another operation of the commit has
// already changed one, the version must be unknown.
func raise(user metadata.ID) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		u, err := tx.Users.Get(user)
		if err != nil {
			return err
		}
		u.About += "."
		if err := tx.Users.Put(u); err != nil {
			return err
		}
		if tx.Access() != 0 {
			return errors.New("a version that is over")
		}
		return nil
	}
}

// testOneVersionOneState stores a row under the version at which it was read, like a cache does.
// All reads at that version must return this row. They must never return a row that an acknowledged
// change has replaced.
func testOneVersionOneState(t *testing.T, s *store) {
	user := filled[metadata.User](false)
	user.Fullname = "0"
	s.put(t, user)
	var (
		known    sync.Map // version → number of the change
		answered atomic.Int64
		over     atomic.Bool
		hits     atomic.Int64
		readers  sync.WaitGroup
	)
	look := func() error {
		after := answered.Load()
		if got, ok := known.Load(accessVersion(t, s)); ok {
			if hits.Add(1); got.(int64) < after {
				return fmt.Errorf("change %d was acknowledged, but %d is cached", after, got)
			}
			return nil
		}
		return s.View(t.Context(), func(tx *metadata.Tx) error {
			u, err := tx.Users.Get(user.ID)
			version := tx.Access()
			if err != nil || version == 0 {
				return err
			}
			change, err := strconv.ParseInt(u.Fullname, 10, 64)
			if was, there := known.LoadOrStore(version, change); there && was != change {
				return fmt.Errorf("version %d belongs to change %d and to change %d", version, was, change)
			}
			return err
		})
	}
	for range 4 {
		readers.Go(func() {
			for !over.Load() {
				if err := look(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for change := range int64(200) {
		user.Fullname = strconv.FormatInt(change+1, 10)
		s.put(t, user)
		answered.Store(change + 1)
	}
	over.Store(true)
	readers.Wait()
	if err := errors.Join(look(), look()); err != nil {
		t.Error(err)
	}
	if hits.Load() == 0 {
		t.Error("no cached row could ever be used")
	}
}
