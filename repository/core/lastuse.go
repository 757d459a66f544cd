package core

import (
	"context"
	"sync"
	"time"

	"labshelf/metadata"
	"labshelf/repository/internal/background"
)

// lastUse records when keys were last used, at most once a minute for each key, without delaying
// requests.
type lastUse struct {
	meta   metadata.Transactions
	worker *background.Worker

	mu      sync.Mutex
	pending map[metadata.ID]use // by key
}

// use is the last use of a user's key.
type use struct {
	user metadata.ID
	at   metadata.Stamp
}

const (
	lastUseGrain   = metadata.Stamp(time.Minute / time.Microsecond)
	lastUsePending = 64 // maximum number of keys
)

func startLastUse(meta metadata.Transactions) *lastUse {
	l := &lastUse{meta: meta, pending: map[metadata.ID]use{}}
	l.worker = background.Start(background.Idle(), l.save)
	return l
}

// observe remembers a use at now. It never waits. If too many uses are pending, the next use of the
// key is recorded instead.
func (l *lastUse) observe(c *caller, now metadata.Stamp) {
	before := c.used.Load()
	if now-metadata.Stamp(before) < lastUseGrain || !c.used.CompareAndSwap(before, int64(now)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == lastUsePending {
		c.used.Store(before)
		return
	}
	l.pending[c.KeyID] = use{c.UserID, now}
	l.worker.Wake()
}

func (l *lastUse) save(ctx context.Context) background.Next {
	l.mu.Lock()
	pending := l.pending
	l.pending = map[metadata.ID]use{}
	l.mu.Unlock()
	for key, used := range pending {
		// Ignore errors: other tasks report whatever prevents this write.
		_ = l.meta.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			k, err := tx.Keys.Get(used.user, key)
			if err != nil || k.Gone != 0 { // the caller was presumed
				return err
			}
			k.LastUsed = max(k.LastUsed, used.at)
			return tx.Keys.Put(k)
		})
	}
	return background.Idle()
}
