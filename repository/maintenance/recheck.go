package maintenance

import (
	"context"
	"errors"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/storage"
)

// recheckInterval is the shortest time between two readings of one damaged blob that callers ask
// for: a damaged file of many gigabytes must not keep the disk busy.
const recheckInterval = 10 * time.Minute

// rechecker reads damaged blobs again when callers ask for them, one at a time. A right reading
// clears the mark, so that what went wrong on the way from a store does not last until the next
// scrub.
type rechecker struct {
	*storage.Stores
	now    func() time.Time
	worker *background.Worker
	read   map[blobs.Digest]time.Time // when; of the worker alone
}

// startRechecker waits for requests. The caller ends it by closing its worker.
func startRechecker(s *storage.Stores, now func() time.Time) *rechecker {
	r := &rechecker{Stores: s, now: now, read: map[blobs.Digest]time.Time{}}
	r.worker = background.Start(background.Idle(), r.run)
	s.Verifications.OnRequest(r.worker.Wake)
	return r
}

func (r *rechecker) run(ctx context.Context) background.Next {
	now := r.now()
	for digest, at := range r.read {
		if age := now.Sub(at); age >= recheckInterval || age < 0 {
			delete(r.read, digest)
		}
	}
	for _, digest := range r.Verifications.Requested() {
		if _, recent := r.read[digest]; recent || ctx.Err() != nil {
			continue
		}
		r.read[digest] = now
		err := r.verify(ctx, digest)
		if err != nil && ctx.Err() == nil && !errors.Is(err, metadata.ErrReadOnly) {
			r.Background.Note(background.TaskDamage, err)
		}
	}
	return background.Idle()
}

func (r *rechecker) verify(ctx context.Context, digest blobs.Digest) error {
	var b blobs.Blob
	err := r.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		b, err = tx.Blobs.Get(digest)
		return err
	})
	if errors.Is(err, metadata.ErrNotFound) {
		return nil // it was removed meanwhile
	}
	if err == nil {
		_, err = r.Verify(ctx, b)
	}
	return err
}
