// Package refusals counts requests that were refused, for the audit log.
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

// Counter counts requests that were refused, and writes one entry of the audit log for each minute
// in which there were any: whoever has no key must not be able to fill the log. What was counted
// last is lost when the process is killed. It is safe for concurrent use.
type Counter struct {
	stores *storage.Stores
	worker *background.Worker

	mu      sync.Mutex
	began   time.Time // when the first one of this minute came; zero: there is none
	keys    int       // without a valid key
	allowed int       // by callers that may not do it
}

// window is how long requests are counted for one entry.
const window = time.Minute

// Start begins to count. The caller ends it with Close.
func Start(s *storage.Stores) *Counter {
	r := &Counter{stores: s}
	r.worker = background.Start(background.Idle(), r.round)
	return r
}

// Note counts a request that was refused, if it was for want of a valid key or of permission.
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

// round writes down what was counted when its minute is over.
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
		return background.Backoff(window) // whatever keeps this from being written, others report
	}
	return background.Idle()
}

// save writes down what was counted. After an error it is counted still. Whoever is refused
// meanwhile does not wait for the commit.
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

// Close writes down what is left.
func (r *Counter) Close() {
	r.worker.Close()
	_ = r.save(context.Background()) // it was counted only
}
