package bolt

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
)

// BenchmarkPage reads pages of 100 from few and from many resources: the first page, and a later
// one.
func BenchmarkPage(b *testing.B) {
	for _, resources := range []int{1_000, 100_000} {
		s := fillShelf(b, 50, resources)
		middle := s.resources[resources/2]
		for _, place := range []struct {
			name string
			q    metadata.ResourceRange
		}{
			{"time", metadata.ResourceRange{}},
			{"dataspace", metadata.ResourceRange{Dataspaces: s.dataspaces[3:4]}},
			{"merge", metadata.ResourceRange{Dataspaces: s.dataspaces}},
		} {
			for _, depth := range []struct {
				name  string
				after paging.Position
			}{{"first", paging.Position{}}, {"deep", paging.Position{Stamp: int64(middle.Modified), ID: middle.ID}}} {
				q := place.q
				q.States, q.Order, q.After = paging.All, paging.Oldest, depth.after
				b.Run(fmt.Sprintf("of=%d/in=%s/at=%s", resources, place.name, depth.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						borrow(b, s.Store, q, 100)
					}
				})
			}
		}
	}
}

// borrow reads a page with borrowed rows.
func borrow(t testing.TB, s *Store, q metadata.ResourceRange, limit int) (items, texts int) {
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		return tx.Resources.Page(q, func(r *metadata.Resource) bool {
			items, texts = items+1, texts+len(r.Name)
			return items < limit
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return items, texts
}

// TestPageAllocatesNothingPerResource tests that a page of 900 resources needs the same number of
// allocations as a page of 10.
func TestPageAllocatesNothingPerResource(t *testing.T) {
	s := fillShelf(t, 10, 2000)
	for name, q := range map[string]metadata.ResourceRange{
		"by time": {}, "of a dataspace": {Dataspaces: s.dataspaces[3:4]}, "of ten": {Dataspaces: s.dataspaces},
		"newest": {Order: paging.Newest}, "by name": {Order: paging.ByName, Set: s.sets[0]},
	} {
		if q.States = paging.All; q.Order == 0 {
			q.Order = paging.Oldest
		}
		var items [2]int
		var allocations [2]float64
		for i, limit := range []int{10, 900} {
			allocations[i] = testing.AllocsPerRun(20, func() { items[i], _ = borrow(t, s.Store, q, limit) })
		}
		if items[1] < 8*items[0] || allocations[0] != allocations[1] {
			t.Errorf("%s: %d resources for %v allocations, %d for %v", name, items[0], allocations[0], items[1], allocations[1])
		}
	}
	checkIntegrity(t, s.Store)
}

// BenchmarkCommit creates resources. Each is durable before the same writer creates the next one.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := openStore(b)
			var made atomic.Int64
			b.ResetTimer()
			var running sync.WaitGroup
			for range writers {
				running.Go(func() {
					for made.Add(1) <= int64(b.N) {
						if err := s.Update(b.Context(), makeResource); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			running.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

func makeResource(tx *metadata.Tx) error {
	stamp := tx.Stamp()
	id := metadata.NewID(stamp)
	var digest blobs.Digest
	copy(digest[:], id[6:])
	r := metadata.Resource{
		Record: metadata.Record{ID: id, State: metadata.Active, Created: stamp, Modified: stamp},
		SetID:  metadatatest.IDAt('S', 1), DataspaceID: metadatatest.IDAt('D', 1), Name: "measurements/2026/run-17.csv", Format: "CSV",
		MimeType: "text/csv; charset=utf-8", Filename: "run-17.csv", Digest: digest, Bytes: 4096,
	}
	if err := tx.Resources.Put(r); err != nil {
		return err
	}
	return tx.Blobs.Put(blobs.Blob{Digest: digest, Size: r.Bytes})
}
