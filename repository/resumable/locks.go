package resumable

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/storage"
)

const (
	// lockTimeout is how long a request waits for the lock of an upload.
	lockTimeout = 5 * time.Second
	// lockIdle is how long the request with the lock may send nothing while another one waits. A
	// client whose connection broke unnoticed must be able to continue over a new connection.
	lockIdle = time.Second
	lockPoll = 50 * time.Millisecond

	// leaseLasts is how long the lease of an upload lasts after its node has stopped, or after no
	// data has arrived. Together with lockIdle and a renewal it is shorter than lockTimeout, so
	// that another node can continue within one request.
	leaseLasts = 3 * time.Second
	leasePoll  = 250 * time.Millisecond
)

// locks are the locks of uploads. One request at a time holds the lock of an upload: among the
// requests of this node through memory, among all nodes through a lease.
type locks struct {
	node *nodes.Node

	mu   sync.Mutex
	held map[metadata.ID]*lock
}

func newLocks(node *nodes.Node) *locks { return &locks{node: node, held: map[metadata.ID]*lock{}} }

// lock is the lock of one upload, held by one request.
type lock struct {
	locks     *locks
	id        metadata.ID
	stop      func() // ends the request
	lease     *nodes.Lease
	since     time.Time
	received  atomic.Int64 // when data last arrived, relative to since
	receiving atomic.Bool  // a body is being received
	released  chan struct{}
}

// acquire waits for a lock, and stops a request that holds it but sends nothing. stop ends this
// request in the same way; it may be called repeatedly. The caller must release the lock.
func (l *locks) acquire(ctx context.Context, id metadata.ID, stop func()) (*lock, error) {
	return l.wait(ctx, id, stop, lockIdle)
}

// seize is acquire, but immediately stops a request of this node that holds the lock.
func (l *locks) seize(ctx context.Context, id metadata.ID) (*lock, error) {
	return l.wait(ctx, id, func() {}, -1)
}

// wait is acquire with a limit: it stops a request that has sent nothing for longer than idle.
func (l *locks) wait(ctx context.Context, id metadata.ID, stop func(), idle time.Duration) (*lock, error) {
	for until := time.Now().Add(lockTimeout); ; {
		mine, other := l.acquireHere(id, stop)
		if mine != nil {
			if err := mine.acquireLease(ctx, until); err != nil {
				return nil, err
			}
			return mine, nil
		}
		if other.idle() > idle {
			other.stop()
		}
		select {
		case <-other.released:
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, storage.Error(ctx.Err())
		}
		if time.Now().After(until) {
			return nil, errLocked
		}
	}
}

var errLocked error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request is using this upload; try again when it is done"}

// tryAcquire returns the lock of an upload, or nil if a request holds it.
func (l *locks) tryAcquire(ctx context.Context, id metadata.ID) (*lock, error) {
	mine, _ := l.acquireHere(id, func() {})
	if mine == nil {
		return nil, nil
	}
	err := mine.acquireLease(ctx, time.Time{})
	if err != nil {
		return nil, errs.Ignore(err, errLocked)
	}
	return mine, nil
}

// acquireLease extends a lock of this node to all nodes. On failure it releases the lock.
func (l *lock) acquireLease(ctx context.Context, until time.Time) (err error) {
	for {
		l.lease, err = l.locks.node.Take(ctx, nodes.Wanted{Name: "upload/" + l.id.String(), Lasts: leaseLasts, Alive: l.alive, Lost: l.stop})
		if err == nil {
			return nil
		}
		if errors.Is(err, nodes.ErrHeld) && time.Now().Before(until) && background.Sleep(ctx, leasePoll) {
			continue
		}
		l.release()
		if errors.Is(err, nodes.ErrHeld) && ctx.Err() == nil {
			return errLocked
		}
		return storage.Error(cmp.Or(ctx.Err(), err))
	}
}

// alive reports whether to renew the lease: while data arrives, and while received data is
// processed.
func (l *lock) alive() bool { return !l.receiving.Load() || l.idle() <= lockIdle }

// with returns a context for work under the lock. Commits under it fail once another node has the
// lock.
func (l *lock) with(ctx context.Context) context.Context { return l.lease.With(ctx) }

// acquireHere returns the lock, or the lock of another request of this node that holds it.
func (l *locks) acquireHere(id metadata.ID, stop func()) (mine, other *lock) {
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
	l.lease.Release()
	l.locks.mu.Lock()
	defer l.locks.mu.Unlock()
	delete(l.locks.held, l.id)
	close(l.released)
}

// idle returns the time since data last arrived.
func (l *lock) idle() time.Duration { return time.Since(l.since) - time.Duration(l.received.Load()) }

// track returns a body whose progress keeps the lock.
func (l *lock) track(body io.Reader) io.Reader {
	l.received.Store(int64(time.Since(l.since)))
	l.receiving.Store(true)
	return tracked{body, l}
}

type tracked struct {
	io.Reader
	lock *lock
}

func (t tracked) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.lock.received.Store(int64(time.Since(t.lock.since)))
	if err != nil {
		t.lock.receiving.Store(false)
	}
	return n, err
}
