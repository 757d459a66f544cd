package maintenance

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

const (
	scanDelay = time.Minute    // between the start and the first scan
	scanEvery = 24 * time.Hour // between the scans after it
	scanRest  = 9              // rest after each page, as a multiple of its reading time
)

// scanner records once a day, in the background, which blobs are unreferenced. A purge needs to
// know since when they are, and the status shows their number. It removes nothing.
type scanner struct {
	*storage.Stores
	now    func() time.Time
	recent bool // the last changed resources have been verified
	worker *background.Worker
}

func startScanner(s *storage.Stores, now func() time.Time) *scanner {
	w := &scanner{Stores: s, now: now}
	w.worker = s.Node.Work(background.Next{}, w.run)
	return w
}

func (w *scanner) run(ctx context.Context) background.Next {
	if !w.recent {
		w.recent = true
		w.Background.Report(background.TaskUnreferencedScan, w.verifyRecent(ctx))
		return background.After(scanDelay)
	}
	w.Background.Report(background.TaskUnreferencedScan, errs.Ignore(w.scan(ctx), metadata.ErrReadOnly)) // the service reports this state elsewhere
	return background.After(scanEvery)
}

const (
	recentBlobs = 100 // number of last changed resources to verify at the start of the service
	recentWrong = 10  // maximum number of wrong files to report; a check reports all
)

// verifyRecent checks the existence and length of the files of the resources that were changed
// last. Damage by a power failure, an unmounted disk or an outdated folder is thus reported at the
// start, and not only at the first request.
func (w *scanner) verifyRecent(ctx context.Context) error {
	var recent []blobs.Blob
	err := w.Meta.View(ctx, func(tx *metadata.Tx) error {
		page, err := rows.Collect(tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Newest}), recentBlobs)
		for _, r := range page {
			if err == nil && r.Body == metadata.InBlob {
				var b blobs.Blob
				b, err = w.BlobOf(tx, r)
				recent = append(recent, b)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	wrong := 0
	for _, b := range recent {
		if ctx.Err() != nil || wrong == recentWrong {
			return nil
		}
		size, err := w.Blobs.Stat(ctx, b)
		if err == nil && size == b.Size || errors.Is(err, blobs.ErrUnavailable) {
			continue
		}
		wrong++
		if _, err := w.Verify(ctx, b); err != nil && ctx.Err() == nil && !errors.Is(err, metadata.ErrReadOnly) {
			return err
		}
	}
	return nil
}

// scan reads the rows of all blobs once.
func (w *scanner) scan(ctx context.Context) error {
	rested := time.Now()
	p := newScan(w.Stores, w.now)
	p.rest = func(ctx context.Context) error {
		background.Sleep(ctx, scanRest*time.Since(rested))
		rested = time.Now()
		return ctx.Err()
	}
	for _, part := range []func(context.Context) error{p.sweepBlobs, p.sweepOrphans, p.saveUnreferenced, p.removeStale} {
		if err := part(ctx); err != nil {
			return w.BlobError(err)
		}
	}
	return nil
}

// newScan returns a purge that removes nothing, because nothing is old enough.
func newScan(s *storage.Stores, now func() time.Time) *purge {
	return &purge{Stores: s, now: now, cutoff: -1 << 63}
}

// countUnreferenced counts the unreferenced blobs and records nothing.
func (c *check) countUnreferenced(ctx context.Context) error {
	p := newScan(c.stores, time.Now)
	p.dry = true
	err := p.sweepBlobs(ctx)
	if err == nil {
		err = p.sweepOrphans(ctx)
	}
	c.result.Unreferenced, c.result.UnreferencedBytes = p.result.Recent, p.result.RecentBytes
	var folder *fs.PathError
	if errors.As(err, &folder) && !errors.Is(err, blobs.ErrUnavailable) {
		return nil // reported by checkFiles
	}
	return err
}
