package bolt

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
)

// observed opens a new store that reports each of its commits.
func observed(t *testing.T) (s *Store, commits *[]groupcommit.Commit) {
	t.Helper()
	commits = &[]groupcommit.Commit{}
	s, err := Open(filepath.Join(t.TempDir(), "meta.db"), Options{Observe: func(c groupcommit.Commit) { *commits = append(*commits, c) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, commits
}

// TestObserve tests that the reported durations of a batch match the delays that the test causes,
// and that the batch is reported before Update returns.
func TestObserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, observeDurations)
}

func observeDurations(t *testing.T) {
	const nap = 30 * time.Millisecond // of the bubble
	s, commits := observed(t)
	s.committer.commit = func(btx *bbolt.Tx) error {
		time.Sleep(nap)
		return btx.Commit()
	}
	slow := func(tx *metadata.Tx) error {
		time.Sleep(nap)
		return putUser("first")(tx)
	}
	release := block(t, s)
	answer, other := enqueue(s, slow), enqueue(s, putUser("second"))
	time.Sleep(nap)
	release()
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	if len(*commits) != 1 { // the operation that blocked the committer wrote nothing
		t.Fatalf("reported %+v, want one commit", *commits)
	}
	c := (*commits)[0]
	if c.Operations != 2 || c.Waited != nap || c.Work != nap || c.Took != nap || c.Synced != 0 || c.Failed {
		t.Errorf("reported %+v for two operations that took %s in each part, and nothing in the sync", c, nap)
	}
}

// TestObserveSync tests that the real duration of the sync is part of the duration of the commit.
func TestObserveSync(t *testing.T) {
	t.Parallel()
	s, commits := observed(t)
	if err := s.Update(t.Context(), putUser("first")); err != nil {
		t.Fatal(err)
	}
	if len(*commits) != 1 || (*commits)[0].Synced <= 0 || (*commits)[0].Synced > (*commits)[0].Took {
		t.Errorf("reported %+v", *commits)
	}
}

// TestObserveFailure tests that a failed commit is reported as failed, and that a refusal is not
// reported as a commit.
func TestObserveFailure(t *testing.T) {
	t.Parallel()
	s, commits := observed(t)
	s.committer.commit = func(*bbolt.Tx) error { return errOnPurpose }
	if err := s.Update(context.Background(), func(*metadata.Tx) error { return errOnPurpose }); err == nil {
		t.Error("no error for the refusal")
	}
	if len(*commits) != 0 {
		t.Errorf("a refusal is reported as %+v", *commits)
	}
	if err := s.Update(context.Background(), putUser("first")); err == nil {
		t.Error("no error for the failure")
	}
	if len(*commits) != 1 || !(*commits)[0].Failed {
		t.Errorf("a failure is reported as %+v", *commits)
	}
	if err := s.Update(context.Background(), putUser("second")); err == nil || len(*commits) != 1 {
		t.Errorf("%v; an operation without a commit is reported as %+v", err, *commits)
	}
}

// TestStats tests that the length of the file is correct, that deleting frees pages, and that
// running transactions are counted.
func TestStats(t *testing.T) {
	t.Parallel()
	s, _ := observed(t)
	look := func() Stats {
		t.Helper()
		stats, err := s.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	for range 3 { // each commit frees the pages that it replaces
		if err := s.Update(context.Background(), func(tx *metadata.Tx) error { tx.Stamp(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	idle := look()
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if idle.Bytes != info.Size() || idle.FreePages < 1 || idle.PageSize < 1024 || idle.FreePages*idle.PageSize >= idle.Bytes || idle.Reading != 0 {
		t.Errorf("%+v for a file of %d bytes without readers", idle, info.Size())
	}
	err = s.View(context.Background(), func(*metadata.Tx) error {
		if during := look(); during.Reading != 1 {
			t.Errorf("%+v while one reads", during)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
