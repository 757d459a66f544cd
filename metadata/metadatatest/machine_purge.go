package metadatatest

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/repository"
)

// purge purges both stores, whatever nonsense is in them, beside blob stores without files, and compares what that removed.
func (m *machine) purge(rt *rapid.T) {
	options := repository.PurgeOptions{
		OlderThan: rapid.SampledFrom([]time.Duration{0, 0, time.Second, 12 * time.Hour, -time.Hour}).Draw(rt, "older than"),
		DryRun:    rapid.Bool().Draw(rt, "dry run"),
		Now:       m.clock.now,
	}
	run := func(store metadata.Store) repository.PurgeResult {
		result, err := repository.NewUpkeep(store, blobstest.NewMemory()).Purge(context.Background(), options)
		if err != nil {
			rt.Fatalf("purge: %v", err)
		}
		return result
	}
	agree(rt, "purge", run(m.subject), run(m.model))
	if !options.DryRun {
		options.DryRun = true
		left := run(m.subject)
		left.Recent, left.RecentBytes = 0, 0
		if left != (repository.PurgeResult{}) {
			rt.Fatalf("a second purge would find %+v", left)
		}
	}
}

func (m *machine) unreferenced(rt *rapid.T, _ *session) any {
	number := rapid.Int64Range(0, 1<<40)
	return metadata.Unreferenced{
		Digest: rapid.SampledFrom(m.pool.digests).Draw(rt, "unreferenced"), Bytes: number.Draw(rt, "bytes"),
		Since: m.last, Seen: metadata.Stamp(number.Draw(rt, "seen")),
	}
}

// removeBlob takes out all rows of a digest.
func (m *machine) removeBlob(s *session, digest blobs.Digest) {
	s.do(op{"Blobs.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Blobs.Remove(digest) }})
	s.do(op{"Unreferenced.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Unreferenced.Remove(digest) }})
	s.do(op{"Unreferenced.Total", func(tx *metadata.Tx) (any, error) { return tx.Unreferenced.Total() }})
	s.do(op{"Damages.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Damages.Remove(digest) }})
}
