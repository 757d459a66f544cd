package bolt

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// watched opens a new store that tells each of its commits.
func watched(t *testing.T) (s *Store, commits *[]Commit) {
	t.Helper()
	commits = &[]Commit{}
	s, err := Open(filepath.Join(t.TempDir(), "meta.db"), Options{Watch: func(c Commit) { *commits = append(*commits, c) }})
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

// TestWatch: what is told of a batch is what it was made to take, and it is told before anybody is answered.
func TestWatch(t *testing.T) {
	t.Parallel()
	const nap = 30 * time.Millisecond
	s, commits := watched(t)
	s.committer.commit = func(btx *bbolt.Tx) error {
		time.Sleep(nap)
		return btx.Commit()
	}
	slow := func(tx *metadata.Tx) error {
		time.Sleep(nap)
		return putUser("first")(tx)
	}
	release := hold(t, s)
	answer, other := enqueue(s, slow), enqueue(s, putUser("second"))
	time.Sleep(nap)
	release()
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	if len(*commits) != 1 { // the one that held the committer wrote nothing
		t.Fatalf("told %+v, want one commit", *commits)
	}
	c := (*commits)[0]
	if c.Operations != 2 || c.Waited < nap || c.Work < nap || c.Took < nap || c.Failed {
		t.Errorf("told %+v of two operations that took %s in each part", c, nap)
	}
	if c.Synced <= 0 || c.Synced > c.Took-nap {
		t.Errorf("synced for %s, of %s in which it slept %s", c.Synced, c.Took, nap)
	}
}

// TestWatchFailure: a commit that failed is told as one, and no refusal is told as a commit.
func TestWatchFailure(t *testing.T) {
	t.Parallel()
	s, commits := watched(t)
	s.committer.commit = func(*bbolt.Tx) error { return errOnPurpose }
	if err := s.Update(context.Background(), func(*metadata.Tx) error { return errOnPurpose }); err == nil {
		t.Error("the refusal got lost")
	}
	if len(*commits) != 0 {
		t.Errorf("a refusal is told as %+v", *commits)
	}
	if err := s.Update(context.Background(), putUser("first")); err == nil {
		t.Error("the failure got lost")
	}
	if len(*commits) != 1 || !(*commits)[0].Failed {
		t.Errorf("a failure is told as %+v", *commits)
	}
	if err := s.Update(context.Background(), putUser("second")); err == nil || len(*commits) != 1 {
		t.Errorf("%v; what came to no commit is told as %+v", err, *commits)
	}
}

// TestStats: the file is as long as the system says, deleting leaves pages free, and transactions are counted while they run.
func TestStats(t *testing.T) {
	t.Parallel()
	s, _ := watched(t)
	look := func() Stats {
		t.Helper()
		stats, err := s.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	for range 3 { // each commit frees the pages that it writes anew
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
		t.Errorf("%+v of a file of %d bytes that nobody reads", idle, info.Size())
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
