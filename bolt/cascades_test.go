package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
)

// many is the number of resources in the set that is deleted and restored in batches.
func many() int {
	if testing.Short() {
		return 1_000
	}
	return 5_000
}

// fill uploads n resources to a set, with many concurrent uploads.
func (w *world) fill(set metadata.Set, n int) {
	var running sync.WaitGroup
	for i := range 32 {
		running.Go(func() {
			for j := i; j < n; j += 32 {
				must(w.upload(context.Background(), w.svc, set, "", fmt.Sprintf("file %05d", j), "the same in all"))
			}
		})
	}
	running.Wait()
}

// harvester follows the whole service with state=all.
func (w *world) harvester() *walk {
	return &walk{
		w: w, name: "harvester", caller: w.admin, listing: paging.Resources,
		selection: paging.Selection{States: paging.All, Limit: 500},
	}
}

// since counts how often the walk returned each resource of the set in this state. It skips the
// given number of results at the beginning of the walk.
func (k *walk) since(had int, set metadata.ID, state metadata.State) map[metadata.ID]int {
	times := map[metadata.ID]int{}
	for _, r := range k.got[had:] {
		if r.SetID == set && r.State == state {
			times[r.ID]++
		}
	}
	return times
}

// onceEach fails the test unless each of n resources was returned exactly once.
func onceEach(t *testing.T, what string, times map[metadata.ID]int, n int) {
	t.Helper()
	for id, got := range times {
		if got != 1 {
			t.Fatalf("%s: %s was returned %d times", what, id, got)
		}
	}
	if len(times) != n {
		t.Errorf("%s: %d resources were returned, want %d", what, len(times), n)
	}
}

// TestCascadesLetOthersWrite deletes and restores a large set during other writes. The other writes
// must continue between the steps, no commit may move more than a batch, and a harvester must
// receive each change once.
func TestCascadesLetOthersWrite(t *testing.T) {
	var most atomic.Int64
	w := newWorld(t, func(c *committer) { c.commit = func(tx *bbolt.Tx) error { return measured(tx, &most) } })
	ctx, set := context.Background(), w.sets[0]
	w.fill(set, many())
	k := w.harvester()
	k.toEnd()
	for _, pass := range []struct {
		state metadata.State
		run   func() error
	}{
		{metadata.Deleted, func() error { _, err := w.svc.Sets.Delete(ctx, w.admin, set.ID.String(), core.Match{}); return err }},
		{metadata.Active, func() error {
			_, err := w.svc.Sets.Restore(ctx, w.admin, set.ID.String(), core.Match{})
			return err
		}},
	} {
		most.Store(0)
		had, done, others := len(k.got), make(chan error, 1), 0
		go func() { done <- pass.run() }()
		for running := true; running; {
			must(w.upload(ctx, w.svc, w.sets[2], "", "meanwhile", strconv.Itoa(others)))
			others++
			k.page()
			select {
			case err := <-done:
				check(err)
				running = false
			default:
			}
		}
		k.toEnd()
		onceEach(t, pass.state.String(), k.since(had, set.ID, pass.state), many())
		if others < 5 {
			t.Errorf("%s: other writers made %d changes in the meantime", pass.state, others)
		}
		if pages := most.Load(); pages > 2_000 {
			t.Errorf("%s: one commit wrote %d pages", pass.state, pages)
		}
	}
	checkIntegrity(t, w.store)
}

// measured commits, and updates the greatest number of pages that a commit has written.
func measured(tx *bbolt.Tx, most *atomic.Int64) error {
	err := tx.Commit()
	stats := tx.Stats()
	most.Store(max(most.Load(), stats.GetPageCount()))
	return err
}

// cascadesChild is an environment variable that turns the test program into a service that is
// killed directly after its first commit. Its value contains the file to open, the set, and the
// action.
const cascadesChild = "LABSHELF_TEST_STEPS_CHILD"

// cascadeChild opens the repository, requests the deletion or restoration unless the action do is
// "", and waits for the cascades. It kills itself after the first commit, before any waiting caller
// can continue.
func cascadeChild(path, do, set string) int {
	store := must(Open(path, Options{}))
	store.committer.commit = func(tx *bbolt.Tx) error {
		check(tx.Commit())
		check(must(os.FindProcess(os.Getpid())).Kill())
		select {}
	}
	svc := repository.New(store, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 1000})
	ctx := context.Background()
	admin := must(svc.Credentials.Authenticate(ctx, os.Getenv(cascadesChild+"_KEY"), auth.Origin{}))
	var err error
	switch do {
	case "delete":
		_, err = svc.Sets.Delete(ctx, admin, set, core.Match{})
	case "restore":
		_, err = svc.Sets.Restore(ctx, admin, set, core.Match{})
	}
	check(err)
	svc.Close()
	check(store.Close())
	return 0
}

// TestStepsSurviveKill kills the service after each commit of a deletion and of a restoration.
// After each start, the service must continue where it stopped. A harvester that reads now and then
// must receive each change once.
func TestStepsSurviveKill(t *testing.T) {
	w := newWorld(t, nil)
	set, n := w.sets[0], many()
	w.fill(set, n)
	_, key, err := w.svc.Users.CreateKey(context.Background(), w.admin, "me", containers.KeyFields{})
	check(err)
	must(w.svc.Credentials.Authenticate(context.Background(), key, auth.Origin{})) // records the use of the key now, not in a child
	k := w.harvester()
	k.toEnd()
	w.close()
	for _, pass := range []struct {
		do    string
		state metadata.State
	}{{"delete", metadata.Deleted}, {"restore", metadata.Active}} {
		had, kills := len(k.got), 0
		for killed := true; killed; kills++ {
			killed = runStepChild(t, w.path, pass.do, set.ID.String(), key)
			if kills%10 == 0 || !killed {
				w.prepare = func(c *committer) { c.commit = func(*bbolt.Tx) error { return errors.New("not here") } }
				w.open()
				k.toEnd()
				w.shut()
			}
		}
		onceEach(t, pass.do, k.since(had, set.ID, pass.state), n)
		if kills < n/250 {
			t.Errorf("%s of %d resources was killed only %d times", pass.do, n, kills)
		}
	}
	w.prepare = nil
	w.open()
	checkIntegrity(t, w.store)
}

func runStepChild(t *testing.T, path, do, set, key string) (killed bool) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), cascadesChild+"="+path, cascadesChild+"_DO="+do, cascadesChild+"_SET="+set, cascadesChild+"_KEY="+key)
	output, err := child.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 2 { // 2 is a panic
		return true
	}
	if err != nil {
		t.Fatalf("child: %v\n%s", err, output)
	}
	return false
}
