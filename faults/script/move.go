package script

import (
	"context"
	"errors"
	"time"

	"labshelf/repository"
)

// held is the size of the greatest body that is committed with its record.
const held = 1000

// hold keeps the mover from moving anything, by an upload that does not come to an end.
func (w *world) hold() {
	if w.svc != nil && w.brake == nil {
		w.brake = w.svc.NewUpload(w.admin)
	}
}

func (w *world) release() error {
	if w.brake == nil {
		return nil
	}
	err := w.brake.Discard()
	w.brake = nil
	return err
}

// move lets everything that is held be moved, and tells how that went.
func move(ctx context.Context, w *world) error {
	defer w.hold()
	if err := w.release(); err != nil {
		return err
	}
	for {
		if n, err := w.heldBodies(ctx); err != nil || n == 0 {
			return err
		}
		select {
		case err := <-w.moved:
			if err != nil {
				return err
			}
		case <-time.After(settleLimit):
			return errors.New("nothing is moved")
		}
	}
}

func (w *world) heldBodies(ctx context.Context) (n int64, err error) {
	err = w.store.View(ctx, func(tx *repository.Tx) error {
		total, err := tx.Bodies.Total()
		n = total.Bodies
		return err
	})
	return n, err
}
