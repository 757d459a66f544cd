package metadatatest

import (
	"testing"
	"time"

	"labshelf/metadata"
)

// identityTests test values that are unique to each store.
func identityTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"each store begins with a new epoch":      testFirstEpoch,
		"an epoch begins where the last one ends": testNextEpoch,
		"each store has a different secret":       testSecret,
	}
}

func epochOf(tx *metadata.Tx) (metadata.Epoch, error) { return tx.Lineage.Epoch() }

func lastStampOf(tx *metadata.Tx) (metadata.Stamp, error) { return tx.Lineage.LastStamp() }

func testFirstEpoch(t *testing.T, s *store) {
	first := view(t, s, epochOf)
	if now := metadata.Stamp(s.clock.now().UnixMicro()); first.ID == (metadata.EpochID{}) || first.Base != 0 || first.Began != now {
		t.Errorf("at %d the first epoch is %+v", now, first)
	}
	s.stamp(t)
	s.reopen(t)
	same(t, "epoch after opening again", view(t, s, epochOf), first)
	if other := view(t, newStore(t, s.open), epochOf); other.ID == first.ID {
		t.Error("two stores have the same epoch")
	}
}

func testNextEpoch(t *testing.T, s *store) {
	first := view(t, s, epochOf)
	last := s.stamp(t)
	now := time.UnixMicro(int64(last) + 5_000_000)
	hooks := []any{
		metadata.Webhook{Record: metadata.Record{ID: id(1)}, URL: "sends"},
		metadata.Webhook{Record: metadata.Record{ID: id(2)}, URL: "paused", Paused: 1, PauseReason: metadata.PausedByReceiver},
	}
	s.put(t, hooks...)
	next, err := metadata.BeginEpoch(t.Context(), s.Store, now)
	isError(t, "begin an epoch", err, nil)
	if next.ID == first.ID || next.Base != last || next.Began != metadata.Stamp(now.UnixMicro()) {
		t.Errorf("after %+v and the stamp %d, the next epoch is %+v", first, last, next)
	}
	same(t, "epoch that has begun", view(t, s, epochOf), next)
	same(t, "webhooks", view(t, s, func(tx *metadata.Tx) ([]metadata.Webhook, error) { return list(tx.Webhooks.All(metadata.ID{})) }), []metadata.Webhook{
		{Record: metadata.Record{ID: id(1)}, URL: "sends", Paused: next.Began, PauseReason: metadata.PausedByRestore, PausedBecause: "the repository was restored"},
		hooks[1].(metadata.Webhook),
	})
	same(t, "stamp with which it begins", view(t, s, lastStampOf), last)
	s.reopen(t)
	same(t, "epoch after opening again", view(t, s, epochOf), next)
	isError(t, "change that fails", s.Update(t.Context(), func(tx *metadata.Tx) error {
		if err := tx.Lineage.Put(metadata.NewEpoch(0, now)); err != nil {
			return err
		}
		return errOnPurpose
	}), errOnPurpose)
	same(t, "epoch after a change that failed", view(t, s, epochOf), next)
}

func testSecret(t *testing.T, s *store) {
	secret := s.Secret()
	if secret == ([32]byte{}) {
		t.Error("no secret")
	}
	s.stamp(t)
	same(t, "secret read again", s.Secret(), secret)
	s.reopen(t)
	same(t, "secret after opening again", s.Secret(), secret)
	if newStore(t, s.open).Secret() == secret {
		t.Error("two stores have the same secret")
	}
}
