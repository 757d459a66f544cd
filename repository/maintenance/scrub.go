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
	scrubNap  = time.Minute // the longest sleep; then what has come meanwhile is read again
	scrubSave = time.Minute // between two writes of the position, while blobs are read
	scrubIdle = time.Hour   // and while none is
)

// scrubber reads every blob once in each period, one at a time, to find damage while there are
// still backups without it. It walks through the digests at an even rate: how much it reads in an
// hour depends on nothing but how much there is.
type scrubber struct {
	*storage.Stores
	period   time.Duration
	scrubbed func(bytes int64, damaged bool) // nil: none
	worker   *background.Worker              // nil: none

	state  metadata.ScrubState
	loaded bool
	lease  metadata.Stamp // under which it was
	due    time.Time      // when the plan is
	plan   plan
	moved  bool      // since the position was saved
	news   bool      // more than that has happened since: a blob was read, or a pass came to its end
	saved  time.Time // when
}

// plan is what is next, at its time.
type plan struct {
	blob *blobs.Blob // nil: none is left in this pass
	nap  bool        // the position moves on by scrubNap, and then the next blob is looked up again
	err  error       // of looking
}

// startScrubber starts reading, a pass in each period; with 0 it never does.
func startScrubber(s *storage.Stores, c Config) *scrubber {
	scrub := &scrubber{Stores: s, period: c.ScrubPeriod, scrubbed: c.Scrubbed, saved: time.Now()}
	if c.ScrubPeriod > 0 {
		scrub.worker = s.Node.Work(background.Next{}, scrub.run)
	}
	return scrub
}

// close returns when at most one more buffer of a blob has been read and the position is saved.
func (s *scrubber) close() {
	if s.worker == nil {
		return
	}
	s.worker.Close()
	if !s.Node.Shared() { // else another node may go on already
		_ = s.save(context.Background(), true) // what is lost is read once more
	}
}

// run goes on where the last service left off. What fails is reported and passed over: a disk that
// shows errors is when reading on matters most.
func (s *scrubber) run(ctx context.Context) background.Next {
	if lease := nodes.Fence(ctx); lease != s.lease { // another node may have gone on meanwhile
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

// advance does what was planned.
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

// begin begins a pass.
func (s *scrubber) begin() {
	s.state = metadata.ScrubState{Begun: metadata.Stamp(time.Now().UnixMicro()), Passes: s.state.Passes}
}

// next returns the next blob and where it is among the digests, from 0 to 1; nil and 1 where there
// is none.
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

// pass moves the position to where no blob is, or to the end of the pass.
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

// read reads one blob. One that could not be read to its end because the service ends comes again.
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
		return nil // the state of the service, which reports it by itself
	}
	return err
}

// save writes the position down when it is time to.
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

// fractionBits are the bits of a digest that say where it is among all: as many as a float64 holds.
const fractionBits = 53

// fraction tells where among all digests one is, from 0 to 1, which is never reached.
func fraction(d blobs.Digest) float64 {
	return float64(binary.BigEndian.Uint64(d[:])>>(64-fractionBits)) / (1 << fractionBits)
}

// digestAt is the opposite of fraction.
func digestAt(f float64) (d blobs.Digest) {
	binary.BigEndian.PutUint64(d[:], uint64(f*(1<<fractionBits))<<(64-fractionBits))
	return d
}
