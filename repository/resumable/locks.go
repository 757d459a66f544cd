package resumable

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

const (
	// lockTimeout is how long a request waits for the lock of an upload.
	lockTimeout = 5 * time.Second
	// lockIdle is for how long nothing may come from the request that has the lock while another one waits: a connection that broke
	// without a word must not keep its own client from going on over another one.
	lockIdle = time.Second
	lockPoll = 50 * time.Millisecond
)

// locks are the locks of uploads: one request at a time has that of an upload.
type locks struct {
	mu   sync.Mutex
	held map[metadata.ID]*lock
}

func newLocks() *locks { return &locks{held: map[metadata.ID]*lock{}} }

// lock is the lock of one upload, as one request has it.
type lock struct {
	locks    *locks
	id       metadata.ID
	stop     func() // ends the request
	since    time.Time
	received atomic.Int64 // how long after since something has come last
	released chan struct{}
}

// acquire waits for a lock, and stops a request that has it and from which nothing comes. Stop is called, perhaps several times, to end this
// request in the same way. The caller releases the lock.
func (l *locks) acquire(ctx context.Context, id metadata.ID, stop func()) (*lock, error) {
	for until := time.Now().Add(lockTimeout); ; {
		mine, other := l.tryAcquire(id, stop)
		if mine != nil {
			return mine, nil
		}
		if other.idle() > lockIdle {
			other.stop()
		}
		select {
		case <-other.released:
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, storage.Error(ctx.Err())
		}
		if time.Now().After(until) {
			return nil, &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request is at this upload; try again when it is done"}
		}
	}
}

// tryAcquire returns the lock, or else that of the other request.
func (l *locks) tryAcquire(id metadata.ID, stop func()) (mine, other *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other = l.held[id]; other != nil {
		return nil, other
	}
	mine = &lock{locks: l, id: id, stop: stop, since: time.Now(), released: make(chan struct{})}
	l.held[id] = mine
	return mine, nil
}

func (l *lock) release() {
	l.locks.mu.Lock()
	defer l.locks.mu.Unlock()
	delete(l.locks.held, l.id)
	close(l.released)
}

// idle is for how long nothing has come.
func (l *lock) idle() time.Duration { return time.Since(l.since) - time.Duration(l.received.Load()) }

// track returns a body whose progress keeps the lock.
func (l *lock) track(body io.Reader) io.Reader { return tracked{body, l} }

type tracked struct {
	io.Reader
	lock *lock
}

func (t tracked) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.lock.received.Store(int64(time.Since(t.lock.since)))
	return n, err
}
