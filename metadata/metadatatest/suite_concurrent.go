package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// testSnapshot commits during a view, and waits for each commit.
func testSnapshot(t *testing.T, s *store) {
	rows, changed := filledRows(false), filledRows(true)
	asked := probeOf(append(rows, changed...)...)
	for i := range rows {
		changed[i] = withIdentity(changed[i], rows[i])
	}
	for name, in := range map[string]metadata.Reader{"View": s, "ViewDurable": durable{s}} {
		s.put(t, rows...)
		batches, done := make(chan []any), make(chan error)
		go func() {
			for rows := range batches {
				done <- s.Update(context.WithoutCancel(t.Context()), func(tx *metadata.Tx) error { return putAll(tx, rows) })
			}
		}()
		err := in.View(t.Context(), func(tx *metadata.Tx) error {
			first, err := contents(tx, asked)
			for _, version := range [][]any{changed, rows, changed} {
				batches <- version
				select {
				case failed := <-done:
					err = errors.Join(err, failed)
				case <-time.After(10 * time.Second):
					return errors.New("a writer waits for a reader")
				}
				now, failed := contents(tx, asked)
				err = errors.Join(err, failed)
				same(t, name+" after a commit", now, first)
			}
			return err
		})
		close(batches)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := in.View(t.Context(), func(tx *metadata.Tx) error { return found(tx, changed) }); err != nil {
			t.Errorf("the next %s: %v", name, err)
		}
	}
}

// testAtomicCommits counts rows in views. Every commit keeps these counts equal: the counters, the
// ranges and the records.
func testAtomicCommits(t *testing.T, s *store) {
	const resources = 12
	flip := func(n byte) error {
		return s.Update(t.Context(), func(tx *metadata.Tx) error {
			counters, err := tx.Usage.Get(id(1))
			if err != nil {
				return err
			}
			r, err := tx.Resources.Get(id(100 + n))
			switch {
			case errors.Is(err, metadata.ErrNotFound):
				r = metadata.Resource{Record: metadata.Record{ID: id(100 + n)}, SetID: id(2), DataspaceID: id(1), Name: "r"}
				counters.DeletedFiles++
			case err != nil:
				return err
			}
			if r.State == metadata.Active {
				r.State, counters.ActiveFiles, counters.DeletedFiles = metadata.Deleted, counters.ActiveFiles-1, counters.DeletedFiles+1
			} else {
				r.State, counters.ActiveFiles, counters.DeletedFiles = metadata.Active, counters.ActiveFiles+1, counters.DeletedFiles-1
			}
			r.Modified = tx.Stamp()
			return errors.Join(tx.Resources.Put(r), tx.Usage.Put(id(1), r.Modified.Day(), counters))
		})
	}
	var writing, reading sync.WaitGroup
	var over atomic.Bool
	for range 2 {
		reading.Go(func() {
			for ended := false; !ended; {
				ended = over.Load() // read once more after the last commit
				if err := s.View(t.Context(), countsAgree); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for writer := range byte(3) {
		writing.Go(func() {
			for n := range byte(30) {
				if err := flip((n*5 + writer) % resources); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	over.Store(true)
	reading.Wait()
}

// countsAgree returns an error unless the counters, the indexes and the records of dataspace 1
// agree.
func countsAgree(tx *metadata.Tx) error {
	counters, err := tx.Usage.Get(id(1))
	if err != nil {
		return err
	}
	for of, want := range map[paging.States]int64{paging.Active: counters.ActiveFiles, paging.Deleted: counters.DeletedFiles} {
		ranges := []metadata.ResourceRange{
			{States: of, Order: paging.Oldest},
			{States: of, Order: paging.Newest, Dataspaces: []metadata.ID{id(1)}},
			{States: of, Order: paging.ByName, Set: id(2)},
		}
		listed, err := listAll(tx, ranges)
		if err != nil {
			return err
		}
		for i, rows := range listed {
			if int64(len(rows)) != want {
				return fmt.Errorf("%d resources in %+v, want %d", len(rows), ranges[i], want)
			}
		}
		if err := found(tx, mapped(listed[0], func(r metadata.Resource) any { return r })); err != nil {
			return err
		}
	}
	return nil
}

// testConcurrentUpdates counts in many goroutines. Some of their updates fail after their writes.
// Each success stores the count and its stamp in a resource, so the order of stamps must be the
// order of counts.
func testConcurrentUpdates(t *testing.T, s *store) {
	const writers, each = 8, 20
	var group sync.WaitGroup
	for writer := range byte(writers) {
		group.Go(func() {
			for n := range byte(each) {
				fails := (writer+n)%5 == 0
				err := s.Update(t.Context(), func(tx *metadata.Tx) error { return count(tx, id(writer*each+n), fails) })
				switch {
				case fails:
					isError(t, "an update among others", err, errOnPurpose)
				case err != nil:
					t.Errorf("a concurrent update: %v", err)
				}
			}
		})
	}
	group.Wait()
	rows := view(t, s, func(tx *metadata.Tx) ([]metadata.Resource, error) {
		return list(tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}))
	})
	for i, r := range rows {
		if r.Bytes != int64(i+1) || i > 0 && r.Modified <= rows[i-1].Modified {
			t.Fatalf("at position %d: count %d, stamp %d", i+1, r.Bytes, r.Modified)
		}
	}
	same(t, "updates that were applied", len(rows), writers*each*4/5)
	total := view(t, s, func(tx *metadata.Tx) (metadata.Counters, error) { return tx.Usage.Get(metadata.ID{}) })
	same(t, "total", total.ActiveFiles, int64(len(rows)))
}

// count adds 1 to a counter, and stores the sum in a resource.
func count(tx *metadata.Tx, id metadata.ID, fails bool) error {
	counters, err := tx.Usage.Get(metadata.ID{})
	if err != nil {
		return err
	}
	counters.ActiveFiles++
	r := metadata.Resource{
		Record: metadata.Record{ID: id, State: metadata.Active, Modified: tx.Stamp()},
		SetID:  id, DataspaceID: id, Name: "r", Digest: blobs.Digest{1}, Bytes: counters.ActiveFiles,
	}
	if err := errors.Join(tx.Resources.Put(r), tx.Usage.Put(metadata.ID{}, r.Modified.Day(), counters)); err != nil {
		return err
	}
	if fails {
		return errOnPurpose
	}
	return nil
}

// testCloseUnderWriters closes the store while many goroutines write. Every successful write must
// exist afterwards, and no failed write.
func testCloseUnderWriters(t *testing.T, s *store) {
	const writers, enough = 6, 30
	store := s.Store
	var commits atomic.Int64
	reached, reach := context.WithCancel(t.Context())
	defer reach()
	answered := make([]map[metadata.ID]error, writers)
	var group sync.WaitGroup
	for writer := range byte(writers) {
		answered[writer] = map[metadata.ID]error{}
		group.Go(func() {
			defer reach()
			for n := byte(1); n < 255; n++ {
				id := metadata.ID{0: writer, 15: n}
				err := store.Update(context.WithoutCancel(t.Context()), func(tx *metadata.Tx) error { return count(tx, id, false) })
				if answered[writer][id] = err; err != nil {
					return
				}
				if commits.Add(1) == enough {
					reach()
				}
			}
		})
	}
	<-reached.Done()
	s.stop(t)
	group.Wait()
	s.start(t)
	for _, answers := range answered {
		for id, answer := range answers {
			err := s.View(t.Context(), func(tx *metadata.Tx) error {
				_, err := tx.Resources.Get(id)
				return err
			})
			switch {
			case answer == nil && err != nil:
				t.Errorf("an acknowledged row is missing: %v", err)
			case answer != nil:
				isError(t, "an update during Close", answer, metadata.ErrClosed)
				isError(t, "a refused row", err, metadata.ErrNotFound)
			}
		}
	}
}
