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
	// lockIdle is for how long nothing may come from the request that has the lock while another
	// one waits: a connection that broke without a word must not keep its own client from going on
	// over another one.
	lockIdle = time.Second
	lockPoll = 50 * time.Millisecond

	// leaseLasts is how long the lease of an upload lasts when its node is gone, or when nothing
	// comes: with lockIdle and a renewal it ends within lockTimeout, so that another node goes on
	// after one request.
	leaseLasts = 3 * time.Second
	leasePoll  = 250 * time.Millisecond
)

// locks are the locks of uploads: one request at a time has that of an upload, among those of this
// node by what is in memory, among those of all nodes by a lease.
type locks struct {
	node *nodes.Node

	mu   sync.Mutex
	held map[metadata.ID]*lock
}

func newLocks(node *nodes.Node) *locks { return &locks{node: node, held: map[metadata.ID]*lock{}} }

// lock is the lock of one upload, as one request has it.
type lock struct {
	locks     *locks
	id        metadata.ID
	stop      func() // ends the request
	lease     *nodes.Lease
	since     time.Time
	received  atomic.Int64 // how long after since something has come last
	receiving atomic.Bool  // a body comes
	released  chan struct{}
}

// acquire waits for a lock, and stops a request that has it and from which nothing comes. Stop is
// called, perhaps several times, to end this request in the same way. The caller releases the lock.
func (l *locks) acquire(ctx context.Context, id metadata.ID, stop func()) (*lock, error) {
	return l.wait(ctx, id, stop, lockIdle)
}

// seize is acquire, and stops the request of this node that has the lock at once.
func (l *locks) seize(ctx context.Context, id metadata.ID) (*lock, error) {
	return l.wait(ctx, id, func() {}, -1)
}

// wait is acquire, for a request from which nothing has come for longer than idle.
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

var errLocked error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request is at this upload; try again when it is done"}

// tryAcquire returns the lock of an upload that no request has, else nil.
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

// acquireLease makes a lock of this node that of all nodes, or releases it.
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

// alive tells whether the lease of the request is to be renewed: as long as something comes, and
// while what has come is dealt with.
func (l *lock) alive() bool { return !l.receiving.Load() || l.idle() <= lockIdle }

// with returns a context for what is done under the lock: no commit counts any more once another
// node has it.
func (l *lock) with(ctx context.Context) context.Context { return l.lease.With(ctx) }

// acquireHere returns the lock, or else that of the other request of this node.
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

// idle is for how long nothing has come.
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
