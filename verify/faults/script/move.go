package script

import (
	"context"
	"errors"
	"time"

	"labshelf/metadata"
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
				return errors.Join(err, w.finishFile())
			}
		case <-time.After(settleLimit):
			return errors.New("nothing is moved")
		}
	}
}

// fileLimit is how long the mover may take for one file.
const fileLimit = time.Second

// finishFile stops the mover, who goes on with the halves of a batch that failed, and lets it end the file that it is at. Where the
// file system lets nobody remove that, it stays.
func (w *world) finishFile() error {
	w.hold()
	for begun := time.Now(); time.Since(begun) < fileLimit; time.Sleep(time.Millisecond) {
		left, err := Leftovers(w.dir)
		if err != nil || len(left) == 0 {
			return err
		}
	}
	return nil
}

func (w *world) heldBodies(ctx context.Context) (n int64, err error) {
	err = w.store.View(ctx, func(tx *metadata.Tx) error {
		total, err := tx.Bodies.Total()
		n = total.Bodies
		return err
	})
	return n, err
}
