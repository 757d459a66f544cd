package bolt

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/paging"
	"labshelf/repository"
)

// BenchmarkPage reads pages of 100 from few and from many resources: the first one, and one far in.
func BenchmarkPage(b *testing.B) {
	for _, resources := range []int{1_000, 100_000} {
		s := fillShelf(b, 10, resources)
		middle := s.resources[resources/2]
		for _, place := range []struct {
			name string
			q    repository.ResourceRange
		}{
			{"time", repository.ResourceRange{}},
			{"dataspace", repository.ResourceRange{Dataspaces: s.dataspaces[3:4]}},
			{"merge", repository.ResourceRange{Dataspaces: s.dataspaces}},
		} {
			for _, depth := range []struct {
				name  string
				after paging.Position
			}{{"first", paging.Position{}}, {"deep", paging.Position{Stamp: int64(middle.Modified), ID: middle.ID}}} {
				q := place.q
				q.States, q.Order, q.After = paging.All, paging.Oldest, depth.after
				b.Run(fmt.Sprintf("of=%d/in=%s/at=%s", resources, place.name, depth.name), func(b *testing.B) {
					for b.Loop() {
						first(b, s.Store, 100, func(tx *repository.Tx) iter.Seq2[repository.Resource, error] { return tx.Resources.Range(q) })
					}
				})
			}
		}
	}
}

// BenchmarkCommit makes resources, each durable before the next one of the same writer.
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

func makeResource(tx *repository.Tx) error {
	stamp := tx.Stamp()
	id := repository.NewID(stamp)
	var digest blobs.Digest
	copy(digest[:], id[6:])
	r := repository.Resource{
		Record: repository.Record{ID: id, State: repository.Active, Created: stamp, Modified: stamp},
		SetID:  idAt('S', 1), DataspaceID: idAt('D', 1), Name: "measurements/2026/run-17.csv", Format: "CSV",
		MimeType: "text/csv; charset=utf-8", Filename: "run-17.csv", Digest: digest, Bytes: 4096,
	}
	if err := tx.Resources.Put(r); err != nil {
		return err
	}
	return tx.Blobs.Put(digest, r.Bytes)
}
