package script

import (
	"context"
	"errors"
	"time"

	"labshelf/metadata"
)

// inlineMax is the size of the largest inline body.
const inlineMax = 1000

// blockFlush keeps the flusher idle with an upload that does not end.
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

// flush makes the flusher flush all inline bodies, and returns its first error.
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
			return errors.New("the flusher flushes nothing")
		}
	}
}

// fileLimit is the maximum time for flushing one file.
const fileLimit = time.Second

// finishFlush stops the flusher, which continues with the halves of a failed batch, and waits until
// it has finished the current file. It polls, because the flusher reports only batches. If the file
// system forbids removal, the file remains.
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
