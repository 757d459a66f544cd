package repository

import (
	"context"
	"errors"
	"time"
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
		var due []ID
		now := Stamp(w.now().UnixMicro())
		err := w.meta.View(ctx, func(tx *Tx) (err error) {
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
func (w *sweeper) end(ctx context.Context, id ID, by Stamp) error {
	return w.forget(ctx, Transfer{ID: id}, func(tx *Tx) error {
		t, err := tx.Transfers.Get(id)
		if err == nil && t.Expires > by {
			err = errWentOn
		}
		return ignore(err, ErrNotFound)
	})
}

// dropStray removes a file without a row. A row is there before its file, so there will be none any more.
func (w *sweeper) dropStray(ctx context.Context, name string) error {
	id, ok := parseID(name)
	if !ok {
		return nil // nobody's: left for a person to look at
	}
	err := w.meta.ViewDurable(ctx, func(tx *Tx) error {
		_, err := tx.Transfers.Get(id)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return w.blobs.DropPart(name)
	}
	return err
}
