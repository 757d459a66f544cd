package maintenance

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

const (
	scrubNap  = time.Minute // longest sleep before the next blob is looked up again
	scrubSave = time.Minute // between two writes of the position while blobs are read
	scrubIdle = time.Hour   // the same while no blob is read
)

// scrubber reads every blob once in each period, one at a time, to find damage while intact backups
// still exist. It moves through the digests at an even rate, so its read rate depends only on the
// amount of data.
type scrubber struct {
	*storage.Stores
	period   time.Duration
	scrubbed func(bytes int64, damaged bool) // may be nil
	worker   *background.Worker              // nil without a period

	state  metadata.ScrubState
	loaded bool
	lease  metadata.Stamp // lease under which state was loaded
	due    time.Time      // time of the plan
	plan   plan
	moved  bool      // since the position was saved
	news   bool      // a blob was read or a pass ended since then
	saved  time.Time // when the position was saved
}

// plan is the next step.
type plan struct {
	blob *blobs.Blob // nil at the end of a pass
	nap  bool        // move the position by scrubNap, then look up the next blob again
	err  error       // error of the lookup
}

// startScrubber starts a scrubber with one pass in each period. With a period of 0, nothing is
// read.
func startScrubber(s *storage.Stores, c Config) *scrubber {
	scrub := &scrubber{Stores: s, period: c.ScrubPeriod, scrubbed: c.Scrubbed, saved: time.Now()}
	if c.ScrubPeriod > 0 {
		scrub.worker = s.Node.Work(background.Next{}, scrub.run)
	}
	return scrub
}

// close stops the scrubber and saves the position. It waits at most for one more buffer of a blob.
func (s *scrubber) close() {
	if s.worker == nil {
		return
	}
	s.worker.Close()
	if !s.Node.Shared() { // otherwise another node may already continue
		_ = s.save(context.Background(), true) // on failure, some blobs are read again
	}
}

// run continues where the last run left off. It reports errors and continues: on a disk with
// errors, reading the other blobs matters most.
func (s *scrubber) run(ctx context.Context) background.Next {
	if lease := nodes.Fence(ctx); lease != s.lease { // another node may have moved the position
		s.lease, s.loaded, s.moved = lease, false, false
	}
	if s.loaded {
		s.advance(ctx)
	} else if s.loaded = s.load(ctx); !s.loaded {
		return background.After(scrubNap)
	} else {
		s.due = time.Now()
	}
	to, next, err := s.next(ctx)
	wait := time.Duration((to - fraction(s.state.After)) * float64(s.period))
	s.plan = plan{blob: next, nap: err != nil || wait > scrubNap, err: err}
	if s.plan.nap {
		wait = scrubNap
	}
	s.due = s.due.Add(wait)
	return background.After(time.Until(s.due))
}

// advance carries out the plan.
func (s *scrubber) advance(ctx context.Context) {
	err := s.plan.err
	switch {
	case s.plan.nap:
		s.pass(fraction(s.state.After) + float64(scrubNap)/float64(s.period))
	case s.plan.blob == nil:
		s.pass(1)
	default:
		err = s.read(ctx, *s.plan.blob)
	}
	if err = errors.Join(err, s.save(ctx, false)); err != nil || !s.plan.nap {
		s.Background.Report(background.TaskScrub, err)
	}
}

func (s *scrubber) load(ctx context.Context) (ok bool) {
	err := s.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		s.state, err = tx.Scrub.Get()
		return err
	})
	s.Background.Report(background.TaskScrub, err)
	if err == nil && s.state.Begun == 0 {
		s.begin()
	}
	return err == nil
}

// begin starts a new pass.
func (s *scrubber) begin() {
	s.state = metadata.ScrubState{Begun: metadata.Stamp(time.Now().UnixMicro()), Passes: s.state.Passes}
}

// next returns the next blob and its position among the digests, from 0 to 1. At the end of a pass
// it returns nil and 1.
func (s *scrubber) next(ctx context.Context) (at float64, next *blobs.Blob, err error) {
	err = s.Meta.View(ctx, func(tx *metadata.Tx) error {
		found, err := rows.Collect(tx.Blobs.All(s.state.After), 1)
		if len(found) > 0 {
			next = &found[0]
		}
		return err
	})
	if next == nil {
		return 1, nil, err
	}
	return fraction(next.Digest), next, err
}

// pass moves the position past a range without blobs, or to the end of the pass.
func (s *scrubber) pass(to float64) {
	s.moved = true
	if to < 1 {
		s.state.After = digestAt(to)
		return
	}
	s.news = true
	s.state.Passes++
	s.begin()
}

// read verifies one blob. If the service stops during that, the blob is read again later.
func (s *scrubber) read(ctx context.Context, b blobs.Blob) error {
	wrong, err := s.Verify(ctx, b)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.moved, s.news = true, true
	s.state.After = b.Digest
	s.state.Checked++
	if wrong != "" {
		s.state.Found++
	}
	if s.scrubbed != nil {
		s.scrubbed(b.Size, wrong != "")
	}
	if errors.Is(err, metadata.ErrReadOnly) {
		return nil // the service reports this state elsewhere
	}
	return err
}

// save writes the position if enough time has passed, or if last is true.
func (s *scrubber) save(ctx context.Context, last bool) error {
	wait := scrubIdle
	if s.news {
		wait = scrubSave
	}
	if !s.moved || !last && time.Since(s.saved) < wait {
		return nil
	}
	s.saved = time.Now()
	err := s.UpdateBackground(ctx, func(tx *metadata.Tx) error { return tx.Scrub.Put(s.state) })
	if err == nil {
		s.moved, s.news = false, false
	}
	if errors.Is(err, metadata.ErrReadOnly) {
		return nil
	}
	return err
}

// fractionBits is the number of leading bits of a digest that fraction uses: the precision of a
// float64.
const fractionBits = 53

// fraction returns the position of a digest among all digests, at least 0 and less than 1.
func fraction(d blobs.Digest) float64 {
	return float64(binary.BigEndian.Uint64(d[:])>>(64-fractionBits)) / (1 << fractionBits)
}

// digestAt is the inverse of fraction.
func digestAt(f float64) (d blobs.Digest) {
	binary.BigEndian.PutUint64(d[:], uint64(f*(1<<fractionBits))<<(64-fractionBits))
	return d
}
