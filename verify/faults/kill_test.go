package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// cyclesPerRepository is the number of crashes of one repository. The verification after each crash
// grows with it.
const cyclesPerRepository = 25

// readyLimit is the maximum time in which a service must answer after a crash.
const readyLimit = 2 * time.Second

// kill ends the service with kill -9 under load, repeatedly.
func kill(ctx context.Context, t *trial) (err error) {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	t.add("acknowledged", 0)
	countUploads(t, chunkCount{})
	var w *workload
	for i := range t.units(ctx, t.size) {
		if w == nil || i%cyclesPerRepository == 0 {
			if w != nil {
				err = finish(ctx, t, w)
			}
			if err == nil {
				w, err = newWorkload(ctx, program, filepath.Join(t.dir, fmt.Sprint("data-", i)), t.random(i))
			}
			if err != nil {
				return err
			}
			if err := w.writers[0].fill(ctx); err != nil {
				return errors.Join(err, w.stop())
			}
			w.purged = true
			w.useUploads()
			if i/cyclesPerRepository%2 == 0 {
				w.backups = w.data + ".backups"
			}
		}
		if err = killOnce(ctx, t, w, i); err != nil {
			w.service.Kill()
			return err
		}
	}
	t.add("lost", 0)
	t.add("violations", 0)
	if w != nil {
		err = finish(ctx, t, w)
	}
	return err
}

// killOnce runs one cycle: load, a kill, checks, and a restart.
func killOnce(ctx context.Context, t *trial, w *workload, i int) error {
	after := 20*time.Millisecond + time.Duration(t.random(i).IntN(300))*time.Millisecond
	if err := w.runUntil(ctx, t, after, func() error { w.service.Kill(); return nil }); err != nil {
		return err
	}
	if err := w.checkStopped(ctx); err != nil {
		return err
	}
	ready, err := w.start(ctx)
	if err != nil {
		return err
	}
	t.most("seconds until ready again", ready.Seconds())
	if ready > readyLimit {
		return violated(nil, "the service was ready %v after the crash, later than allowed", ready)
	}
	err = w.verify(ctx)
	w.countUploads(t)
	if err != nil || w.backups == "" || i%5 != 0 {
		return err
	}
	return w.verifyBackup(ctx)
}

// finish stops the service like an operator, checks the repository once more and removes it.
func finish(ctx context.Context, t *trial, w *workload) error {
	if err := w.completeUploads(ctx, t); err != nil {
		return err
	}
	if w.backups != "" {
		if err := w.verifyRestored(ctx); err != nil {
			return err
		}
	} else if err := w.stop(); err != nil {
		return err
	}
	if odd, err := nonJSONLines(w.data + ".log"); err != nil || odd != "" {
		return violated(nil, "the service printed a line that is not JSON: %s %v", odd, err)
	}
	if err := w.checkStopped(ctx); err != nil {
		return err
	}
	if w.backups == "" {
		return os.RemoveAll(w.data)
	}
	return errors.Join(os.RemoveAll(w.data), os.RemoveAll(w.backups))
}
