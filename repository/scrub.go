package repository

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
)

const (
	scrubNap  = time.Minute // the longest sleep; then what has come meanwhile is looked at again
	scrubSave = time.Minute // between two writes of the position, while blobs are read
	scrubIdle = time.Hour   // and while none is
)

// scrubber reads every blob once in each period, one at a time, to find damage while there are still backups without it. It walks
// through the digests at an even pace: how much it reads in an hour depends on nothing but how much there is.
type scrubber struct {
	*stores
	period  time.Duration
	stop    context.CancelFunc
	stopped chan struct{}

	state metadata.ScrubState
	moved bool      // since the position was saved
	news  bool      // more than that has happened since: a blob was read, or a pass came to its end
	saved time.Time // when
}

// startScrubber starts reading, a pass in each period; with 0 it never does.
func startScrubber(s *stores, period time.Duration) *scrubber {
	ctx, cancel := context.WithCancel(context.Background())
	scrub := &scrubber{stores: s, period: period, stop: cancel, stopped: make(chan struct{}), saved: time.Now()}
	if period <= 0 {
		close(scrub.stopped)
		return scrub
	}
	go scrub.run(ctx)
	return scrub
}

// close returns when at most one more piece of a blob has been read and the position is saved.
func (s *scrubber) close() {
	s.stop()
	<-s.stopped
}

// run goes on where the last run left off. What fails is told and passed over: a disk that shows errors is when reading on
// matters most.
func (s *scrubber) run(ctx context.Context) {
	defer close(s.stopped)
	for !s.load(ctx) {
		if !sleep(ctx, scrubNap) {
			return
		}
	}
	due := time.Now()
	for ctx.Err() == nil {
		at := fraction(s.state.After)
		to, next, err := s.next(ctx)
		wait := time.Duration((to - at) * float64(s.period))
		nap := err != nil || wait > scrubNap
		if nap {
			wait = scrubNap
		}
		due = due.Add(wait)
		if !sleep(ctx, time.Until(due)) {
			break
		}
		switch {
		case nap:
			s.pass(at + float64(scrubNap)/float64(s.period))
		case next == nil:
			s.pass(1)
		default:
			err = s.visit(ctx, *next)
		}
		if err = errors.Join(err, s.save(ctx, false)); err != nil || !nap {
			s.troubles.tell(taskScrub, err)
		}
	}
	_ = s.save(context.WithoutCancel(ctx), true) // what is lost is read once more
}

// sleep tells whether ctx let it sleep to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (s *scrubber) load(ctx context.Context) (ok bool) {
	err := s.meta.View(ctx, func(tx *metadata.Tx) (err error) {
		s.state, err = tx.Scrub.Get()
		return err
	})
	s.troubles.tell(taskScrub, err)
	if err == nil && s.state.Begun == 0 {
		s.begin()
	}
	return err == nil
}

// begin begins a pass.
func (s *scrubber) begin() {
	s.state = metadata.ScrubState{Begun: metadata.Stamp(time.Now().UnixMicro()), Passes: s.state.Passes}
}

// next returns the next blob and where it is among the digests, from 0 to 1; nil and 1 where there is none.
func (s *scrubber) next(ctx context.Context) (at float64, next *metadata.Blob, err error) {
	var after *blobs.Digest
	if s.state.After != (blobs.Digest{}) {
		after = &s.state.After
	}
	err = s.meta.View(ctx, func(tx *metadata.Tx) error {
		found, err := collect(tx.Blobs.All(after), 1)
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

// visit reads one blob. One that could not be read to its end because the service ends comes again.
func (s *scrubber) visit(ctx context.Context, b metadata.Blob) error {
	wrong, err := s.judge(ctx, b)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.moved, s.news = true, true
	s.state.After = b.Digest
	s.state.Checked++
	if wrong != "" {
		s.state.Found++
	}
	s.watch.scrubbed(b.Bytes, wrong != "")
	if errors.Is(err, metadata.ErrReadOnly) {
		return nil // the state of the service, which tells it by itself
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
	err := s.writeBehind(ctx, func(tx *metadata.Tx) error { return tx.Scrub.Put(s.state) })
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
