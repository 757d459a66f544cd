package bolt

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// TestAccessDuringCommit tests readers that see a commit before its last sync has
// returned. They never confuse the rows before the commit with the rows after it.
func TestAccessDuringCommit(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	quiet := accessVersion(t, s)
	var unsettled error
	look := func(when string) {
		err := s.View(context.Background(), func(tx *metadata.Tx) error {
			if version := tx.Access(); version != 0 || accessVersion(t, s) != 0 {
				return errors.New(when + " there is a version")
			}
			return nil
		})
		unsettled = errors.Join(unsettled, err)
	}
	fails := error(nil)
	s.committer.commit = func(btx *bbolt.Tx) error {
		look("before the commit")
		err := btx.Commit()
		look("after the commit, before its answer")
		return errors.Join(err, fails)
	}
	if err := s.Update(t.Context(), putUser("one")); err != nil || unsettled != nil {
		t.Error(err, unsettled)
	}
	after := accessVersion(t, s)
	if after <= quiet {
		t.Errorf("version %d after %d", after, quiet)
	}
	fails = errOnPurpose
	if err := s.Update(t.Context(), putUser("two")); !errors.Is(err, metadata.ErrOutcomeUnknown) {
		t.Errorf("a failed commit: %v", err)
	}
	if last := accessVersion(t, s); last <= after {
		t.Errorf("version %d after %d, although the change may be stored", last, after)
	}
}

// TestAccessOfTheView tests that a view that began before a change does not report the version
// after it.
func TestAccessOfTheView(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	before := accessVersion(t, s)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		if err := s.Update(t.Context(), putUser("one")); err != nil {
			return err
		}
		if got := tx.Access(); got != before {
			t.Errorf("version %d, want %d", got, before)
		}
		if now := accessVersion(t, s); now == before {
			t.Errorf("version %d after the change, as before", now)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// accessVersion returns the current access version of the store.
func accessVersion(t *testing.T, s *Store) uint64 {
	t.Helper()
	version, err := s.AccessVersion(t.Context())
	if err != nil {
		t.Error(err)
	}
	return version
}
