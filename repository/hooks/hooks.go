// Package hooks sends the messages of webhooks. Each entry of the audit log becomes one message to
// every webhook whose patterns match it.
//
// A webhook has a position in the log, whose order is the order of changes. It sends in that order,
// one message at a time, and sends the next message only after the receiver has accepted the
// previous one. A failed message is tried again later and holds back the following ones. After the
// last try, the webhook pauses and keeps its position. Each webhook has its own goroutine, so a
// slow receiver does not delay other webhooks. The row of the webhook stores its position, the
// number of tries, and the time of the next try. After a crash between the response and its commit,
// the message is sent again under the same id: delivery is at least once.
//
// Nothing polls. The goroutines are woken when a change has reached stable storage, and at the time
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

// MaxWebhooks is the maximum number of webhooks of a service. Each active webhook has a goroutine.
const MaxWebhooks = 256

// retryAfter is the pause of a webhook after the metadata could not be read or written.
const retryAfter = time.Second

// Hooks sends the messages of all webhooks. It is safe for concurrent use.
type Hooks struct {
	stores  *storage.Stores
	sender  Sender
	now     func() time.Time
	secret  [32]byte // of the repository; it signs heads of the log
	manager *background.Worker

	mu      sync.Mutex
	runners map[metadata.ID]*runner
}

// Start starts to send messages. now is the clock. The caller must call Close.
func Start(s *storage.Stores, sender Sender, now func() time.Time) *Hooks {
	h := &Hooks{stores: s, sender: sender, now: now, secret: s.Meta.Secret(), runners: map[metadata.ID]*runner{}}
	h.manager = s.Node.Work(background.Next{}, h.manage)
	return h
}

// Close stops sending, and waits until no message is being sent. An interrupted message is sent
// again at the next start.
func (h *Hooks) Close() {
	h.manager.Close()
	for _, r := range h.align(nil) {
		r.worker.Close()
	}
}

// Grown must be called when the audit log has grown.
func (h *Hooks) Grown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.runners {
		if !r.waiting.Load() {
			r.worker.Wake()
		}
	}
}

// Changed must be called when webhooks were created, changed or removed and the change is on stable
// storage.
func (h *Hooks) Changed() { h.manager.Wake() }

// manage starts and stops goroutines to match the active webhooks.
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
		r.worker.Close() // outside the lock, because its last commit takes the lock
	}
	return background.Idle()
}

// align starts or wakes the runners of active webhooks. It removes and returns the others.
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
