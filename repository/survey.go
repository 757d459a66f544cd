package repository

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

const (
	surveyDelay = time.Minute    // between the start and the first survey
	surveyEvery = 24 * time.Hour // between the surveys after it
	surveyShare = 9              // how many times as long as it looks at a page a survey rests after it
)

// surveyor writes down in the background, once a day, which blobs are unreferenced, so that a purge knows for how long they have been,
// and the status how many there are. It removes nothing.
type surveyor struct {
	*stores
	now     func() time.Time
	stop    context.CancelFunc
	stopped chan struct{}
}

func startSurveyor(s *stores, now func() time.Time) *surveyor {
	ctx, cancel := context.WithCancel(context.Background())
	w := &surveyor{stores: s, now: now, stop: cancel, stopped: make(chan struct{})}
	go w.run(ctx)
	return w
}

func (w *surveyor) close() {
	w.stop()
	<-w.stopped
}

func (w *surveyor) run(ctx context.Context) {
	defer close(w.stopped)
	w.troubles.tell(taskSurvey, w.lookAtRecent(ctx))
	for pause := surveyDelay; sleep(ctx, pause); pause = surveyEvery {
		w.troubles.tell(taskSurvey, ignore(w.survey(ctx), metadata.ErrReadOnly)) // which the service tells by itself
	}
}

const (
	recentBlobs = 100 // resources, the last changed ones, that are looked at when the service starts
	recentWrong = 10  // files of these that are told, and marked, at most: a check tells all
)

// lookAtRecent sees whether the files of the resources that were changed last are there, in their length: what a power cut, an
// unmounted disk or a folder of an older state has taken is told at the start, and not when somebody wants it.
func (w *surveyor) lookAtRecent(ctx context.Context) error {
	var page []metadata.Resource
	err := w.meta.View(ctx, func(tx *metadata.Tx) (err error) {
		page, err = collect(tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Newest}), recentBlobs)
		return err
	})
	if err != nil {
		return err
	}
	wrong := 0
	for _, r := range page {
		if ctx.Err() != nil || wrong == recentWrong {
			return nil
		}
		if r.Body != metadata.Filed {
			continue
		}
		size, err := w.blobs.Stat(r.Digest)
		if err == nil && size == r.Bytes || errors.Is(err, blobs.ErrUnavailable) {
			continue
		}
		wrong++
		if _, err := w.judge(ctx, metadata.Blob{Digest: r.Digest, Bytes: r.Bytes}); err != nil && ctx.Err() == nil && !errors.Is(err, metadata.ErrReadOnly) {
			return err
		}
	}
	return nil
}

// survey looks at all blobs once.
func (w *surveyor) survey(ctx context.Context) error {
	rested := time.Now()
	p := newSurvey(w.stores, w.now)
	p.rest = func(ctx context.Context) error {
		sleep(ctx, surveyShare*time.Since(rested))
		rested = time.Now()
		return ctx.Err()
	}
	for _, part := range []func(context.Context) error{p.sweepBlobs, p.sweepOrphans, p.note, p.tidy} {
		if err := part(ctx); err != nil {
			return w.blobError(err)
		}
	}
	return nil
}

// newSurvey returns a purge for which no resource and no blob is old enough.
func newSurvey(s *stores, now func() time.Time) *purge {
	return &purge{stores: s, now: now, cutoff: -1 << 63}
}

// countUnreferenced counts the blobs that no resource refers to. It writes nothing down.
func (c *check) countUnreferenced(ctx context.Context) error {
	p := newSurvey(c.stores, time.Now)
	p.dry = true
	err := p.sweepBlobs(ctx)
	if err == nil {
		err = p.sweepOrphans(ctx)
	}
	c.result.Unreferenced, c.result.UnreferencedBytes = p.result.Recent, p.result.RecentBytes
	var folder *fs.PathError
	if errors.As(err, &folder) && !errors.Is(err, blobs.ErrUnavailable) {
		return nil // checkFiles has told of it
	}
	return err
}
