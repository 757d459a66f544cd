package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"labshelf/formats/audit"
	"labshelf/verify/e2e"
)

// maintenancePause is the time between two purges or two backups. It is a part of the load, and
// waits for nothing.
const maintenancePause = 50 * time.Millisecond

// purgeOn purges deleted objects repeatedly until the service is killed.
func (w *workload) purgeOn(ctx context.Context) error {
	grace := "0d"
	if w.backups != "" {
		grace = "1d" // otherwise a purge may remove files that a running backup has yet to copy
	}
	for !w.ended.Load() {
		a, err := w.client.SendJSON(ctx, http.MethodPost, "/admin/purge", map[string]string{"olderThan": "0d", "grace": grace})
		if err == nil && a.Status != http.StatusOK {
			err = a.Problem()
		}
		if err != nil && !w.ended.Load() {
			return violated(nil, "purge: %w", err)
		}
		time.Sleep(maintenancePause)
	}
	return nil
}

// backUpOn creates backups, each over the previous one, until the service is killed. The running
// backup is killed a little later, while it handles the failure.
func (w *workload) backUpOn(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-w.ending:
			time.Sleep(50 * time.Millisecond)
			stop()
		case <-ctx.Done():
		}
	}()
	for !w.ended.Load() {
		o, err := w.backUp(ctx)
		if err == nil && o.Code != 0 {
			err = violated(nil, "backup create: %s", o)
		}
		if err != nil && !w.ended.Load() {
			return err
		}
		time.Sleep(maintenancePause)
	}
	return nil
}

// backUp creates a backup over the HTTP API.
func (w *workload) backUp(ctx context.Context) (e2e.Outcome, error) {
	return e2e.Run(ctx, w.program, "backup", "create", w.backups,
		"--server", w.service.Base(), "--key-file", filepath.Join(w.data, e2e.KeyFile))
}

// verifyBackup verifies the last complete backup, which an interrupted backup must not damage
// (I11).
func (w *workload) verifyBackup(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(w.backups, "manifest.json")); err != nil {
		return nil // no backup is complete yet
	}
	o, err := e2e.Run(ctx, w.program, "backup", "verify", w.backups)
	if err == nil && o.Code != 0 {
		err = violated(nil, "backup verify: %s", o)
	}
	return err
}

// verifyRestored creates a last backup, restores it, and compares its content with the acknowledged
// changes. It stops the service.
func (w *workload) verifyRestored(ctx context.Context) error {
	o, err := w.backUp(ctx)
	if err != nil || o.Code != 0 {
		return violated(nil, "backup create: %s (%v)", o, err)
	}
	if err := w.stop(); err != nil {
		return err
	}
	original := w.data
	w.data = original + ".restored"
	defer func(logged audit.State) { w.logged = logged }(w.logged) // the restored log has an additional entry: an epoch
	if o, err = e2e.Run(ctx, w.program, "backup", "restore", w.backups, "--data", w.data); err != nil || o.Code != 0 {
		return violated(nil, "backup restore: %s (%v)", o, err)
	}
	key, err := os.ReadFile(filepath.Join(original, e2e.KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.data, e2e.KeyFile), key, 0o600) // backups do not contain it
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
