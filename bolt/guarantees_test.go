package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
)

// Each guarantee of a listing has a test here with concurrent writers, and a mutant in
// verify/mutants that breaks it on purpose. The test must find the mutant.

// changes returns the number of changes of each writer.
func changes() int {
	if testing.Short() {
		return 60
	}
	return 250
}

// TestListingComplete tests "an object is returned at least once". Harvesters that follow the
// changes must receive the last version of every resource.
func TestListingComplete(t *testing.T) {
	w := newWorld(t, nil)
	walks := w.walks("oldest")
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, k := range walks {
		running.Go(func() { k.follow(stop) })
	}
	truth := w.churn(8, changes(), 4)
	close(stop)
	running.Wait()
	for _, k := range walks {
		last := map[metadata.ID]metadata.Stamp{}
		for _, r := range k.got {
			last[r.ID] = r.Modified
		}
		for id, r := range truth {
			if k.matches(r) && last[id] != r.Modified {
				t.Errorf("%s: %s was last changed at %d; the harvester has the version of %d", k.name, id, r.Modified, last[id])
			}
		}
	}
	checkIntegrity(t, w.store)
}

// TestListingCompleteForUnchanged tests the same guarantee in the other orders. A walk must return
// every resource that is neither modified nor renamed during the walk.
func TestListingCompleteForUnchanged(t *testing.T) {
	w := newWorld(t, nil)
	calm := w.churn(4, 40, 0)
	w.rewalk([]string{"newest", "name"}, func() { w.churn(4, changes()/4, 2) }, func(k *walk) {
		times := map[metadata.ID]int{}
		for _, r := range k.got {
			times[r.ID]++
		}
		for id, r := range calm {
			if want := btoi(k.matches(r)); times[id] != want {
				t.Errorf("%s: %s, which was not changed, was returned %d times, want %d", k.name, id, times[id], want)
				return
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestListingNoRepetition tests "no object is returned twice unless it was modified during the
// walk". No walk may return a version twice, in any order.
func TestListingNoRepetition(t *testing.T) {
	w := newWorld(t, nil)
	w.churn(4, 40, 0)
	w.rewalk([]string{"oldest", "newest", "name"}, func() { w.churn(8, changes()/2, 2) }, func(k *walk) {
		seen := map[string]bool{}
		for _, r := range k.got {
			if seen[r.Tag()] {
				t.Errorf("%s: version %s was returned twice", k.name, r.Tag())
				return
			}
			seen[r.Tag()] = true
		}
	})
}

// TestListingConstantCost tests "the cost of a page depends on its size alone". It counts cursor
// steps, and does not measure time.
func TestListingConstantCost(t *testing.T) {
	w := newWorld(t, nil)
	truth := w.churn(8, changes(), 0)
	var busy atomic.Bool
	busy.Store(true)
	var running sync.WaitGroup
	running.Go(func() {
		w.churn(4, changes()/4, 0)
		busy.Store(false)
	})
	pages := 0
	for again := true; again; again = busy.Load() {
		for _, q := range w.ranges() {
			for _, limit := range []int{1, 10, 500} {
				pages += countedWalk(t, w, q, limit)
			}
		}
	}
	running.Wait()
	if pages == 0 || len(truth) == 0 {
		t.Fatal("no steps were counted")
	}
}

// ranges returns ranges for every kind of resource listing. In some of them only a few of many rows
// match.
func (w *world) ranges() (all []metadata.ResourceRange) {
	spaces := []metadata.ID{w.spaces[0].ID, w.spaces[1].ID, w.spaces[2].ID}
	for _, states := range []paging.States{paging.Active, paging.Deleted, paging.All} {
		for _, order := range []paging.Order{paging.Oldest, paging.Newest} {
			all = append(all,
				metadata.ResourceRange{States: states, Order: order},
				metadata.ResourceRange{States: states, Order: order, Dataspaces: spaces},
				metadata.ResourceRange{States: states, Order: order, Dataspaces: spaces[:1]},
				metadata.ResourceRange{States: states, Order: order, Set: w.sets[1].ID},
			)
		}
		all = append(all, metadata.ResourceRange{States: states, Order: paging.ByName, Set: w.sets[1].ID})
	}
	return all
}

// countedWalk reads a listing to its end, or a number of pages, and checks the cost of each page.
func countedWalk(t *testing.T, w *world, q metadata.ResourceRange, limit int) (pages int) {
	spans := max(1, len(q.Dataspaces)) * (int(q.States&paging.Active) + int(q.States&paging.Deleted)/int(paging.Deleted))
	for items := limit; items == limit && pages < 20; pages++ {
		items = 0
		_, err := w.store.read(context.Background(), func(k *kv, tx *tables.Tx) error {
			for r, err := range metadatatest.Paged(tx.Contract(), q) {
				if err != nil {
					return err
				}
				q.After = paging.Position{Stamp: int64(r.Modified), ID: r.ID}
				if q.Order == paging.ByName {
					q.After = paging.Position{Name: r.Name, ID: r.ID}
				}
				if items++; items == limit {
					break
				}
			}
			cost := cost{tx.Cost(), k.recordSteps}
			if cost.Index > limit+2*spans || cost.Records > limit+spans || cost.recordSteps > 2*cost.Records {
				t.Errorf("%+v by %d over %d ranges gave %d items for %+v", q, limit, spans, items, cost)
			}
			return nil
		})
		check(err)
	}
	return pages
}

// TestSinceLinkOnlyNew tests "the address that answered with the end stays valid, and returns later
// what was created or modified since, and only that", across restarts. A harvester must receive
// stamps in strictly ascending order, so nothing is repeated.
func TestSinceLinkOnlyNew(t *testing.T) {
	w := newWorld(t, nil)
	walks := w.walks("oldest")
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, k := range walks {
		running.Go(func() { k.follow(stop) })
	}
	truth := w.churn(8, changes()/2, 4)
	close(stop)
	running.Wait()
	for _, k := range walks {
		var before metadata.Stamp
		mirror := map[metadata.ID]metadata.Stamp{}
		for _, r := range k.got {
			if r.Modified <= before {
				t.Fatalf("%s: %s at %d was returned after %d", k.name, r.ID, r.Modified, before)
			}
			before, mirror[r.ID] = r.Modified, r.Modified
		}
		for id, r := range truth {
			if k.matches(r) && mirror[id] != r.Modified {
				t.Errorf("%s: %s at %d was missed", k.name, id, r.Modified)
			}
		}
	}
}

// TestSinceLinkOnlyNewAfterPowerCut tests the same guarantee if the power fails during a commit.
// The page of that commit was not sent, so no client has the stamps that the power failure undid.
// The harvester must receive the objects that get these stamps again.
func TestSinceLinkOnlyNewAfterPowerCut(t *testing.T) {
	var cut atomic.Bool
	visible, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(c *committer) {
		c.commit = func(tx *bbolt.Tx) error {
			err := tx.Commit()
			if cut.Load() {
				close(visible) // readers see the commit, but its last sync has not returned
				<-release
				return fmt.Errorf("power failed")
			}
			return err
		}
	})
	k := w.walks("oldest")[0]
	must(w.upload(context.Background(), w.svc, w.sets[0], "", "before", "1"))
	k.toEnd()
	durable := must(os.ReadFile(w.path)) // no commit is in progress, so the file equals the file after a power failure

	cut.Store(true)
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := w.upload(context.Background(), w.svc, w.sets[0], "", "lost", "2"); err == nil {
			t.Error("an upload was acknowledged although its commit had failed")
		}
	})
	<-visible
	sent := make(chan core.Page[metadata.Resource], 1)
	running.Go(func() {
		page, err := repositorytest.ListResources(context.Background(), w.svc, w.admin, k.listing, core.ListRequest{Token: k.token})
		if err == nil {
			sent <- page
		}
	})
	close(release)
	running.Wait()
	select {
	case page := <-sent:
		k.got, k.token = append(k.got, page.Items...), page.Next
	default:
	}

	cut.Store(false)
	w.close()
	check(os.WriteFile(w.path, durable, 0o600))
	w.open()
	again := must(w.upload(context.Background(), w.svc, w.sets[0], "", "after", "3"))
	k.toEnd()
	if len(k.got) != 2 || k.got[1].ID != again.ID {
		t.Errorf("the harvester has %d resources, the last is %q; want the two existing ones, the last %q", len(k.got), k.got[len(k.got)-1].Name, again.Name)
	}
}

// TestChildrenConstantCost tests "a folder costs the same whatever is in it", with both states. A
// page of folders with one file each must take as many steps as a page of folders with hundreds of
// files.
func TestChildrenConstantCost(t *testing.T) {
	const folders = 20
	cost := func(files int, order paging.Order) (c tables.Cost) {
		s := &shelf{Store: openStore(t)}
		s.change(t, func(tx *metadata.Tx) (err error) {
			for i := range folders * files {
				r := metadata.Resource{
					Record: metadata.Record{ID: metadatatest.IDAt('R', i), State: state(i/folders, 2), Modified: tx.Stamp()}, SetID: metadatatest.IDAt('S', 1),
					Name: fmt.Sprintf("%02d/%d/%d", i%folders, i%7, i),
				}
				err = errors.Join(err, tx.Resources.Put(r), tx.Folders.Put(metadata.Folder{SetID: r.SetID, Path: r.Name + "/"}))
			}
			return err
		})
		_, err := s.read(t.Context(), func(_ *kv, tx *tables.Tx) error {
			found, q := 0, metadata.ResourceRange{Set: metadatatest.IDAt('S', 1), States: paging.All, Order: order}
			err := tx.Contract().Resources.Children(q, func(*metadata.Resource) bool { return true }, func(string) bool { found++; return true })
			if c = tx.Cost(); found != folders {
				t.Errorf("%d folders, want %d", found, folders)
			}
			return err
		})
		check(err)
		return c
	}
	for _, order := range []paging.Order{paging.ByName, paging.ByNameDown} {
		few, many := cost(2, order), cost(200, order)
		if few != many || many.Records != 0 || many.Index > 2*3*(folders+1) {
			t.Errorf("order %d: %+v for folders of 2 files, %+v for folders of 200", order, few, many)
		}
	}
}
