package repository_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// slow is a store that delays each Put of a resource by a configurable time.
type slow struct {
	metadata.Store
	each time.Duration
}

type slowResources struct {
	metadata.Resources
	each time.Duration
}

func (r slowResources) Put(row metadata.Resource) error {
	time.Sleep(r.each)
	return r.Resources.Put(row)
}

func (s *slow) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.Update(ctx, func(tx *metadata.Tx) error {
		tx.Resources = slowResources{tx.Resources, s.each}
		return fn(tx)
	})
}

func (s *slow) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Update(ctx, fn)
}

// TestBatchEndsByTime: a batch moves fewer objects if they take longer, but at least one.
func TestBatchEndsByTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		each time.Duration
		want int // objects in the first commit, out of 450
	}{
		"fast": {0, 200},
		"slow": {100 * time.Microsecond, 60},
		"dead": {time.Second, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				meta := &slow{Store: metadatatest.NewMemory(time.Now)}
				config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000}
				h := populated(t, repositorytest.NewStill(meta, blobstest.NewMemory(), config), 450)
				meta.each = tc.each
				_, err := h.Service.Sets.Delete(t.Context(), h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
				h.Begun(err)
				moved := 0
				for _, state := range h.Listed() {
					if state == metadata.Deleted {
						moved++
					}
				}
				if moved != tc.want {
					t.Errorf("%d objects were moved, want %d", moved, tc.want)
				}
			})
		})
	}
}
