// Package refusals counts refused requests for the audit log.
package refusals

import (
	"context"
	"strconv"
	"sync"
	"time"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Counter counts refused requests. It writes at most one entry to the audit log for each minute, so
// that clients without a key cannot fill the log. The latest counts are lost if the process is
// killed. It is safe for concurrent use.
type Counter struct {
	stores *storage.Stores
	worker *background.Worker

	mu      sync.Mutex
	began   time.Time // when the first request of this minute arrived; zero without one
	keys    int       // requests without a valid key
	allowed int       // requests without permission
}

// window is the time that one entry covers.
const window = time.Minute

// Start starts a counter. The caller must call Close.
func Start(s *storage.Stores) *Counter {
	r := &Counter{stores: s}
	r.worker = background.Start(background.Idle(), r.round)
	return r
}

// Note counts a refused request if the reason is a missing or invalid key, or a missing permission.
func (r *Counter) Note(kind errs.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kind {
	case errs.Unauthenticated:
		r.keys++
	case errs.Forbidden:
		r.allowed++
	default:
		return
	}
	if r.began.IsZero() {
		r.began = time.Now()
		r.worker.Wake()
	}
}

// round writes the counts when their minute has ended.
func (r *Counter) round(ctx context.Context) background.Next {
	r.mu.Lock()
	left := window - time.Since(r.began)
	idle := r.began.IsZero()
	r.mu.Unlock()
	switch {
	case idle:
		return background.Idle()
	case left > 0:
		return background.After(left)
	}
	if r.save(ctx) != nil {
		return background.Backoff(window) // other tasks report the cause
	}
	return background.Idle()
}

// save writes the counts, and keeps them after an error. It does not hold the lock during the
// commit, so that Note does not wait.
func (r *Counter) save(ctx context.Context) error {
	r.mu.Lock()
	began, keys, allowed := r.began, r.keys, r.allowed
	r.began, r.keys, r.allowed = time.Time{}, 0, 0
	r.mu.Unlock()
	if began.IsZero() {
		return nil
	}
	err := r.stores.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		change := rows.Change{Action: audit.Refuse}
		change.Values.Change("since", "", began.UTC().Format(time.RFC3339))
		change.Values.Change("unauthenticated", "", strconv.Itoa(keys))
		change.Values.Change("forbidden", "", strconv.Itoa(allowed))
		_, err := change.Log(tx, 0, audit.Entry{}, audit.Changes{})
		return err
	})
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.began, r.keys, r.allowed = began, r.keys+keys, r.allowed+allowed
	}
	return err
}

// Close writes the remaining counts.
func (r *Counter) Close() {
	r.worker.Close()
	_ = r.save(context.Background()) // only counts are lost
}
