package repositorytest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository/maintenance"
)

// Purge is the use case of a purge for metadatatest.Compare, with an empty blob store. A second
// purge must find nothing to remove.
var Purge = metadatatest.Use{Name: "purge", Draw: drawPurge}

func drawPurge(rt *rapid.T, now func() time.Time) func(metadata.Store) (any, error) {
	options := maintenance.PurgeOptions{
		OlderThan: rapid.SampledFrom([]time.Duration{0, 0, time.Second, 12 * time.Hour, -time.Hour}).Draw(rt, "older than"),
		DryRun:    rapid.Bool().Draw(rt, "dry run"),
		Now:       now,
	}
	return func(store metadata.Store) (any, error) {
		upkeep := maintenance.NewUpkeep(store, blobstest.NewMemory())
		result, err := upkeep.Purge(context.Background(), options)
		if err != nil || options.DryRun {
			return result, err
		}
		again := options
		again.DryRun = true
		left, err := upkeep.Purge(context.Background(), again)
		left.Recent, left.RecentBytes = 0, 0
		if left != (maintenance.PurgeResult{}) {
			err = errors.Join(err, fmt.Errorf("a second purge would find %+v", left))
		}
		return result, err
	}
}
