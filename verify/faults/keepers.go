package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"labshelf/verify/e2e"
)

// purgeOn removes what is deleted, again and again, until the service is killed.
func (w *world) purgeOn(ctx context.Context) error {
	grace := "0d"
	if w.backups != "" {
		grace = "1d" // or a backup under way misses what it has yet to copy
	}
	for !w.ended.Load() {
		a, err := w.caller.call(ctx, http.MethodPost, "/admin/purge", map[string]string{"olderThan": "0d", "grace": grace})
		if err == nil && a.status != http.StatusOK {
			err = a.refusal()
		}
		if err != nil && !w.ended.Load() {
			return violated(nil, "purge: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// backUpOn makes backups, each over the one before, until the service is killed. The one under way is killed a little later, in
// whatever it does about that.
func (w *world) backUpOn(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for !w.ended.Load() && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		stop()
	}()
	for !w.ended.Load() {
		o, err := w.backUp(ctx)
		if err == nil && o.code != 0 {
			err = violated(nil, "backup create: %s", o)
		}
		if err != nil && !w.ended.Load() {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// backUp makes one backup over the interface.
func (w *world) backUp(ctx context.Context) (outcome, error) {
	return labshelf(ctx, w.program, "backup", "create", w.backups,
		"--server", w.service.Base(), "--key-file", filepath.Join(w.data, e2e.KeyFile))
}

// verifyBackup sees that what was interrupted has left the last complete backup as good as it was (I11).
func (w *world) verifyBackup(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(w.backups, "manifest.json")); err != nil {
		return nil // none has come to its end yet
	}
	o, err := labshelf(ctx, w.program, "backup", "verify", w.backups)
	if err == nil && o.code != 0 {
		err = violated(nil, "backup verify: %s", o)
	}
	return err
}

// verifyRestored makes a last backup, restores it, and compares everything in it with what was acknowledged. It stops the service.
func (w *world) verifyRestored(ctx context.Context) error {
	o, err := w.backUp(ctx)
	if err != nil || o.code != 0 {
		return violated(nil, "backup create: %s (%v)", o, err)
	}
	if err := w.stop(); err != nil {
		return err
	}
	original := w.data
	w.data = original + ".restored"
	if o, err = labshelf(ctx, w.program, "backup", "restore", w.backups, "--data", w.data); err != nil || o.code != 0 {
		return violated(nil, "backup restore: %s (%v)", o, err)
	}
	key, err := os.ReadFile(filepath.Join(original, e2e.KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.data, e2e.KeyFile), key, 0o600) // it is in no backup
	}
	if err != nil {
		return err
	}
	if _, err := w.start(ctx); err != nil {
		return err
	}
	for _, writer := range w.writers {
		for _, th := range writer.resources {
			th.touched = true
		}
	}
	if err := w.verify(ctx); err != nil {
		return fmt.Errorf("restored from a backup: %w", err)
	}
	if err := w.stop(); err != nil {
		return err
	}
	if err := w.checkStopped(ctx); err != nil {
		return err
	}
	w.data = original
	return os.RemoveAll(original + ".restored")
}
