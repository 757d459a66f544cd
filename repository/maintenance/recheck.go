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

// recheckInterval is the minimum time between two requested verifications of one damaged blob,
// because a large damaged file must not keep the disk busy.
const recheckInterval = 10 * time.Minute

// rechecker verifies damaged blobs again when clients request them, one at a time. A successful
// verification clears the mark, so that a transient read error does not last until the next scrub.
type rechecker struct {
	*storage.Stores
	now    func() time.Time
	worker *background.Worker
	read   map[blobs.Digest]time.Time // time of the last verification; only the worker uses it
}

// startRechecker starts a rechecker. The caller must close its worker.
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
		return nil // removed in the meantime
	}
	if err == nil {
		_, err = r.Verify(ctx, b)
	}
	return err
}
