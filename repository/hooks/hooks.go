// Package hooks sends the messages of webhooks: each entry of the audit log becomes one message to
// every webhook that hears of it.
//
// A webhook has a position in the log, which is the order of changes. It sends in that order, one
// message at a time: the next one only when the one before was taken. A message that failed is
// tried again later, and holds back those behind it; after the last try the webhook pauses and
// keeps its position. Each webhook has a goroutine of its own, so that a receiver which stalls
// delays no other one. Position, tries and the time of the next try are in the row of the webhook.
// A crash between the answer and its commit sends the message again, under the same id: at least
// once.
//
// Nothing polls: the goroutines are woken when a change has reached stable storage, and by the time
// of the next try.
package hooks

import (
	"context"
	"sync"
	"time"

	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/storage"
	"labshelf/repository/webhooks"
)

// Sender sends messages. See webhooks.Sender.
type Sender interface {
	CheckURL(ctx context.Context, url string) error
	Send(ctx context.Context, m webhooks.Message) webhooks.Answer
}

// MaxWebhooks is how many webhooks a service has at most. Each one that is not paused has a
// goroutine.
const MaxWebhooks = 256

// retryAfter is how long a webhook waits when the metadata cannot be read or written.
const retryAfter = time.Second

// Hooks sends the messages of all webhooks. It is safe for concurrent use.
type Hooks struct {
	stores  *storage.Stores
	sender  Sender
	now     func() time.Time
	secret  [32]byte // of the repository, which signs heads of the log
	manager *background.Worker

	mu      sync.Mutex
	runners map[metadata.ID]*runner
}

// Start begins to send. now is the clock. The caller ends it with Close.
func Start(s *storage.Stores, sender Sender, now func() time.Time) *Hooks {
	h := &Hooks{stores: s, sender: sender, now: now, secret: s.Meta.Secret(), runners: map[metadata.ID]*runner{}}
	h.manager = s.Node.Work(background.Next{}, h.manage)
	return h
}

// Close stops sending, and returns when no message is under way. A message that was cut off is sent
// again at the next start.
func (h *Hooks) Close() {
	h.manager.Close()
	for _, r := range h.align(nil) {
		r.worker.Close()
	}
}

// Grown is called when the audit log has grown.
func (h *Hooks) Grown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.runners {
		if !r.waiting.Load() {
			r.worker.Wake()
		}
	}
}

// Changed is called when webhooks were made, changed or removed, and the change is on stable
// storage.
func (h *Hooks) Changed() { h.manager.Wake() }

// manage brings the goroutines in line with the webhooks.
func (h *Hooks) manage(ctx context.Context) background.Next {
	active := map[metadata.ID]bool{}
	err := h.stores.View(ctx, func(tx *metadata.Tx) error {
		for hook, err := range tx.Webhooks.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			active[hook.ID] = hook.Paused == 0
		}
		return nil
	})
	h.stores.Background.Report(background.TaskWebhooks, err)
	if err != nil {
		return background.Backoff(retryAfter)
	}
	for _, r := range h.align(active) {
		r.worker.Close() // outside the lock, which its last commit takes
	}
	return background.Idle()
}

// align starts and wakes what is active, and takes out the others, which it returns.
func (h *Hooks) align(active map[metadata.ID]bool) (others []*runner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, r := range h.runners {
		if !active[id] {
			others = append(others, r)
			delete(h.runners, id)
		}
	}
	for id, sends := range active {
		if !sends {
			continue
		}
		if r := h.runners[id]; r != nil {
			r.worker.Wake()
			continue
		}
		h.runners[id] = startRunner(h, id)
	}
	return others
}
