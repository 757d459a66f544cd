package postgres_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/postgres"
)

// The benchmarks run each query on the embedded engine and on PostgreSQL, on the same machine. Only
// the ratios are meaningful.

var benchResources = flag.Int("resources", 20_000, "how many resources BenchmarkPage fills in; 1 million takes some minutes")

// engines opens an empty store of each engine, on the same disk.
func engines(b *testing.B) map[string]metadata.Store {
	b.Helper()
	file, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	server, err := postgres.Open(b.Context(), servers.StartPostgres(b, "shared_buffers=1GB", "max_wal_size=4GB").Database(b), postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, s := range []metadata.Store{file, server} {
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		}
	})
	return map[string]metadata.Store{"bolt": file, "postgres": server}
}

// made creates a resource with a name, in one of ten sets of ten dataspaces, and returns its id.
func made(tx *metadata.Tx, n int) (id metadata.ID, err error) {
	stamp := tx.Stamp()
	id = metadata.NewID(stamp)
	return id, tx.Resources.Put(metadata.Resource{
		Record: metadata.Record{ID: id, State: metadata.Active, Created: stamp, Modified: stamp},
		SetID:  metadatatest.IDAt('S', n%10), DataspaceID: metadatatest.IDAt('D', n%10), Name: fmt.Sprintf("measurements/run-%07d.csv", n),
		Format: "CSV", MimeType: "text/csv; charset=utf-8", Digest: blobs.Digest(append(id[:], id[:]...)), Bytes: 4096, Version: 1,
	})
}

// BenchmarkCommit creates resources with inline bodies of 4 KiB. Each is durable before the same
// writer creates the next one.
func BenchmarkCommit(b *testing.B) {
	stores := engines(b)
	body := make([]byte, 4096)
	for _, writers := range []int{1, 16} {
		for _, engine := range []string{"bolt", "postgres"} {
			b.Run(fmt.Sprintf("writers=%d/engine=%s", writers, engine), func(b *testing.B) {
				var running sync.WaitGroup
				var done atomic.Int64
				for range writers {
					running.Go(func() {
						for n := done.Add(1); n <= int64(b.N); n = done.Add(1) {
							err := stores[engine].Update(b.Context(), func(tx *metadata.Tx) error {
								id, err := made(tx, int(n))
								if err != nil {
									return err
								}
								return tx.InlineBodies.Put(metadata.VersionKey{Resource: id, Version: 1}, body)
							})
							if err != nil {
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
}

// BenchmarkPage reads pages of 100: the first page, one in the middle, and the last one.
func BenchmarkPage(b *testing.B) {
	stores := engines(b)
	depths := map[string][]paging.Position{}
	for engine, s := range stores {
		depths[engine] = fill(b, s, *benchResources)
	}
	for _, place := range []struct {
		name string
		q    metadata.ResourceRange
	}{
		{"time", metadata.ResourceRange{}},
		{"set", metadata.ResourceRange{Set: metadatatest.IDAt('S', 3)}},
		{"merge", metadata.ResourceRange{Dataspaces: []metadata.ID{metadatatest.IDAt('D', 1), metadatatest.IDAt('D', 2), metadatatest.IDAt('D', 3)}}},
	} {
		for depth, at := range []string{"first", "middle", "last"} {
			for _, engine := range []string{"bolt", "postgres"} {
				q := place.q
				q.States, q.Order, q.After = paging.All, paging.Oldest, depths[engine][depth]
				b.Run(fmt.Sprintf("of=%d/in=%s/at=%s/engine=%s", *benchResources, place.name, at, engine), func(b *testing.B) {
					for b.Loop() {
						page(b, stores[engine], q)
					}
				})
			}
		}
	}
}

func page(b *testing.B, s metadata.Store, q metadata.ResourceRange) {
	items := 0
	err := s.ViewDurable(b.Context(), func(tx *metadata.Tx) error {
		items = 0
		return tx.Resources.Page(q, func(*metadata.Resource) bool { items++; return items < 100 })
	})
	if err != nil || items < 100 {
		b.Fatalf("%d resources: %v", items, err)
	}
}

// fill creates resources. It returns three positions of pages of 100 among a tenth of them: the
// first, the middle and the last one.
func fill(b *testing.B, s metadata.Store, resources int) []paging.Position {
	at := []paging.Position{{}, {}, {}}
	for n := 0; n < resources; {
		end := min(n+500, resources)
		err := s.Update(b.Context(), func(tx *metadata.Tx) error {
			for i := n; i < end; i++ {
				id, err := made(tx, i)
				if err != nil {
					return err
				}
				r, err := tx.Resources.Get(id)
				if err != nil {
					return err
				}
				for depth, place := range []int{-1, resources / 2, resources - 1500} {
					if i == place {
						at[depth] = paging.Position{Stamp: int64(r.Modified), ID: id}
					}
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		n = end
	}
	return at
}
