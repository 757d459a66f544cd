package script

import (
	"context"
	"errors"
	"time"

	"labshelf/metadata"
)

// inlineMax is the size of the largest inline body.
const inlineMax = 1000

// blockFlush keeps the flusher idle, by an upload that does not end.
func (w *stores) blockFlush() {
	if w.svc != nil && w.blocker == nil {
		w.blocker = w.svc.Uploads.NewUpload(w.admin)
	}
}

func (w *stores) unblockFlush() error {
	if w.blocker == nil {
		return nil
	}
	err := w.blocker.Discard()
	w.blocker = nil
	return err
}

// flush has all inline bodies flushed, and returns the first error of that.
func flush(ctx context.Context, w *stores) error {
	defer w.blockFlush()
	if err := w.unblockFlush(); err != nil {
		return err
	}
	for {
		if n, err := w.inlineBodies(ctx); err != nil || n == 0 {
			return err
		}
		select {
		case err := <-w.flushed:
			if err != nil {
				return errors.Join(err, w.finishFlush())
			}
		case <-time.After(settleLimit):
			return errors.New("nothing is flushed")
		}
	}
}

// fileLimit is how long the flusher may take for one file.
const fileLimit = time.Second

// finishFlush stops the flusher, which continues with the halves of a batch that failed, and waits
// until it has ended its present file: it reports batches only, so this polls. Where the file
// system allows no removal, the file stays.
func (w *stores) finishFlush() error {
	w.blockFlush()
	for begun := time.Now(); time.Since(begun) < fileLimit; time.Sleep(time.Millisecond) {
		left, err := Leftovers(w.dir)
		if err != nil || len(left) == 0 {
			return err
		}
	}
	return nil
}

func (w *stores) inlineBodies(ctx context.Context) (n int64, err error) {
	err = w.store.View(ctx, func(tx *metadata.Tx) error {
		total, err := tx.InlineBodies.Total()
		n = total.Bodies
		return err
	})
	return n, err
}
