package quota_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository/internal/quota"
)

var at = quota.Place{Dataspace: metadata.ID{1}, User: metadata.ID{2}}

// newLedger returns a ledger over a dataspace with a quota of 100, and a function that sets its
// usage.
func newLedger(t *testing.T) (*quota.Ledger, func(used int64)) {
	meta := metadatatest.NewMemory(time.Now)
	update := func(fn func(tx *metadata.Tx) error) {
		if err := meta.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *metadata.Tx) error {
		return tx.Dataspaces.Put(metadata.Dataspace{Record: metadata.Record{ID: at.Dataspace}, Name: "space", Quota: 100})
	})
	return quota.NewLedger(meta.View, false), func(used int64) {
		update(func(tx *metadata.Tx) error {
			return tx.Usage.Put(at.Dataspace, 1, metadata.Counters{ActiveBytes: used})
		})
	}
}

// TestGrowWaitsForCommits: the bytes of a commit may be in the counters and still be reserved. A
// reservation that fits only if they count once waits for the end of the commit. A reservation that
// does not fit in any case is refused immediately.
func TestGrowWaitsForCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, use := newLedger(t)
		commits := ledger.Begin(at)
		if err := commits.Settle(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		use(60)
		answer := make(chan error, 1)
		go func() { answer <- ledger.Begin(at).Grow(t.Context(), 40, 40) }()
		synctest.Wait()
		select {
		case err := <-answer:
			t.Errorf("no wait for the commit: %v", err)
		default:
		}
		if err := ledger.Begin(at).Grow(t.Context(), 41, 41); err == nil {
			t.Error("a reservation that does not fit in any case is granted")
		}
		commits.Release()
		if err := <-answer; err != nil {
			t.Error(err)
		}
	})
}

// TestGrowAfterFailedCommit: bytes of a failed commit are still reserved, and count towards the
// quota.
func TestGrowAfterFailedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, _ := newLedger(t)
		commits := ledger.Begin(at)
		if err := commits.Settle(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		answer := make(chan error, 1)
		go func() { answer <- ledger.Begin(at).Grow(t.Context(), 41, 41) }()
		synctest.Wait()
		commits.Keep()
		if err := <-answer; err == nil || ledger.Reserved(at.Dataspace) != 60 {
			t.Errorf("%v; %d bytes are reserved", err, ledger.Reserved(at.Dataspace))
		}
		commits.Release()
		commits.Release()
		if ledger.Reserved(at.Dataspace) != 0 {
			t.Errorf("%d bytes stay reserved", ledger.Reserved(at.Dataspace))
		}
	})
}

// TestGrowGivesUpWithItsContext: a caller that waits for a commit gets the refusal when its context
// ends.
func TestGrowGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger, _ := newLedger(t)
		if err := ledger.Begin(at).Settle(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := ledger.Begin(at).Grow(ctx, 41, 41); err == nil {
			t.Error("it is granted")
		}
	})
}

// TestStepsShrinkTowardsTheEnd: if a full step does not fit, a body reserves only its remaining
// bytes.
func TestStepsShrinkTowardsTheEnd(t *testing.T) {
	t.Parallel()
	ledger, _ := newLedger(t)
	grown := ledger.Begin(at)
	if err := grown.Grow(t.Context(), 10, 1<<20); err != nil || ledger.Reserved(at.User) != 100 {
		t.Errorf("%d bytes are reserved, %v", ledger.Reserved(at.User), err)
	}
	if err := grown.Grow(t.Context(), 100, 1<<20); err != nil {
		t.Errorf("the last byte: %v", err)
	}
	if err := grown.Grow(t.Context(), 101, 1<<20); err == nil {
		t.Error("one more byte is granted")
	}
	if err := grown.Settle(t.Context(), 30); err != nil || ledger.Reserved(at.User) != 30 {
		t.Errorf("%d bytes are reserved for the commit, %v", ledger.Reserved(at.User), err)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1.0 KiB", 1536 << 20: "1.5 GiB", 1<<63 - 1: "8.0 EiB"} {
		if got := quota.Size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
