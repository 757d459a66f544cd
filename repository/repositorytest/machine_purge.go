package repositorytest

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"labshelf/blobs/blobstest"
	"labshelf/repository"
)

// purge purges both stores, whatever nonsense is in them, beside blob stores without files, and compares what that removed.
func (m *machine) purge(rt *rapid.T) {
	options := repository.PurgeOptions{
		OlderThan: rapid.SampledFrom([]time.Duration{0, 0, time.Second, 12 * time.Hour, -time.Hour}).Draw(rt, "older than"),
		DryRun:    rapid.Bool().Draw(rt, "dry run"),
		Now:       m.clock.now,
	}
	run := func(store repository.Store) repository.PurgeResult {
		result, err := repository.NewUpkeep(store, blobstest.NewMemory()).Purge(context.Background(), options)
		if err != nil {
			rt.Fatalf("purge: %v", err)
		}
		return result
	}
	agree(rt, "purge", run(m.subject), run(m.model))
	if !options.DryRun {
		options.DryRun = true
		if left := run(m.subject); left != (repository.PurgeResult{}) {
			rt.Fatalf("a second purge would find %+v", left)
		}
	}
}
