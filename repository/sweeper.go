package repository

import (
	"context"
	"errors"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
)

const (
	sweepEvery = 10 * time.Minute
	sweepMost  = 500 // transfers at a time
)

// sweeper removes the transfers that have expired, and files of transfers that are no more.
type sweeper struct {
	*stores
	turns   *turns
	now     func() time.Time
	stop    context.CancelFunc
	stopped chan struct{}
}

func startSweeper(s *stores, turns *turns, now func() time.Time) *sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	w := &sweeper{stores: s, turns: turns, now: now, stop: cancel, stopped: make(chan struct{})}
	go w.run(ctx)
	return w
}

func (w *sweeper) close() {
	w.stop()
	<-w.stopped
}

func (w *sweeper) run(ctx context.Context) {
	defer close(w.stopped)
	for sleep(ctx, sweepEvery) {
		w.troubles.tell(taskSweep, w.sweep(ctx))
	}
}

// sweep does what there is to do now.
func (w *sweeper) sweep(ctx context.Context) error {
	err := w.expire(ctx)
	return errors.Join(err, w.blobs.WalkParts(ctx, func(name string) error { return w.dropStray(ctx, name) }))
}

// expire removes the transfers that have expired, but for those that somebody is at.
func (w *sweeper) expire(ctx context.Context) error {
	for {
		var due []metadata.ID
		now := metadata.Stamp(w.now().UnixMicro())
		err := w.meta.View(ctx, func(tx *metadata.Tx) (err error) {
			due, err = collect(tx.Transfers.Ended(now), sweepMost)
			return err
		})
		removed := 0
		for _, id := range due {
			turn, _ := w.turns.try(id, func() {})
			if turn == nil {
				continue
			}
			ended := w.end(ctx, id, now)
			turn.give()
			if !errors.Is(ended, errWentOn) {
				err = errors.Join(err, ended)
				removed++
			}
		}
		if err != nil || removed == 0 || len(due) < sweepMost {
			return err
		}
	}
}

var errWentOn = errors.New("it has not expired")

// end removes a transfer that had expired, or returns errWentOn: somebody may have been at it then, and have gone on since.
func (w *sweeper) end(ctx context.Context, id metadata.ID, by metadata.Stamp) error {
	left, err := w.forget(ctx, id, func(t metadata.Transfer) error {
		if t.Expires > by {
			return errWentOn
		}
		return nil
	})
	return errors.Join(err, left)
}

// forget removes the row, if check has nothing against it, then the file. That is left where the service ends in between, or for the
// reason that is left: the sweeper removes it later.
func (s *stores) forget(ctx context.Context, id metadata.ID, check func(metadata.Transfer) error) (left, err error) {
	var t metadata.Transfer
	err = s.write(ctx, func(tx *metadata.Tx) (err error) {
		if t, err = tx.Transfers.Get(id); err == nil {
			err = check(t)
		}
		if err != nil {
			return ignore(err, metadata.ErrNotFound)
		}
		return tx.Transfers.Remove(id)
	})
	if err != nil {
		return nil, err
	}
	return s.blobError(errors.Join(s.withdraw(ctx, t), s.blobs.DropPart(id.String()))), nil
}

// withdraw takes the file of a transfer away again that was put in its place and whose record could not be written: nobody else knows
// of it, and it would be in the way until a purge.
func (s *stores) withdraw(ctx context.Context, t metadata.Transfer) error {
	if !t.Waits() || t.Mark.Size == 0 {
		return nil
	}
	staged, err := s.blobs.WholePart(t.PartName(), t.Mark)
	if err == nil {
		err = staged.Withdraw(func() error { return s.noRow(ctx, t.Digest) })
	}
	for _, needed := range []error{blobs.ErrNotFound, blobs.ErrPinned, errVouched, errReferred} {
		err = ignore(err, needed)
	}
	return err
}

// dropStray removes a file without a row, or whose row says that it has become a resource. A row is there before its file, so there
// will be none any more.
func (w *sweeper) dropStray(ctx context.Context, name string) error {
	id, ok := metadata.ParseID(name)
	if !ok {
		return nil // nobody's: left for a person to look at
	}
	var t metadata.Transfer
	err := w.meta.ViewDurable(ctx, func(tx *metadata.Tx) (err error) {
		t, err = tx.Transfers.Get(id)
		return ignore(err, metadata.ErrNotFound)
	})
	if err == nil && (t.ID == metadata.ID{} || t.Done()) {
		err = w.blobs.DropPart(name)
	}
	return err
}
