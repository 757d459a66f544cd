package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"labshelf/bolt/fsck"
	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/metadata/tables"
)

// maxBatch limits the operations that share a commit.
const maxBatch = 256

// mostMapped is the number of bytes of written or removed pages and bodies after which the file is
// released from memory. Later commits read most of the pages in other places of the file, so these
// pages would stay resident without use.
const mostMapped = 16 << 20

// committer runs all changes, in one goroutine, as group commits without added delay. It takes all
// queued operations, runs them in one transaction and commits. During a commit the next group
// gathers in the queue.
type committer struct {
	db        *bbolt.DB
	now       func() time.Time
	commit    func(*bbolt.Tx) error
	checkPath func() error // fails if the file at the path is missing, or is another file
	queue     *groupcommit.Queue[func(*metadata.Tx) error]
	free      freelist // only used by run
	observer  *groupcommit.Observer

	mapped int64         // bytes of pages written and bodies removed since the file was last released from memory; only used by run
	stuck  bool          // a transaction could not be ended; read after the queue has stopped
	access atomic.Uint64 // see access.go

	mu      sync.Mutex
	state   tables.State  // as committed
	durable int           // id of the last transaction that is on stable storage
	failed  error         // why the committer accepts no changes
	changed chan struct{} // closed when durable or failed changes
}

// operation is one call of Update or UpdateBackground.
type operation = groupcommit.Operation[func(*metadata.Tx) error]

var errUnfinished = errors.New("bolt: the operation ended its goroutine")

// start runs a committer on a file whose last transaction, seen, has been synced. On a read-only
// file it refuses all changes.
func start(s *Store, options Options, seen *bbolt.Tx, state tables.State) (*committer, error) {
	meta, err := fsck.TxMeta(seen)
	if err != nil {
		return nil, err
	}
	db := s.db
	c := &committer{
		db: db, now: options.Now, observer: groupcommit.NewObserver(options.Observe), commit: commit, checkPath: s.checkPath,
		queue: groupcommit.New[func(*metadata.Tx) error](maxBatch),
		free:  freelist{long: longFreelist, idle: idleTime, absent: meta.Freelist == fsck.NoFreelist},
		state: state, durable: seen.ID(), changed: make(chan struct{}),
	}
	c.access.Store(firstAccess)
	if db.IsReadOnly() {
		c.failed = fmt.Errorf("bolt: %w: opened to be read only", metadata.ErrReadOnly)
	}
	go c.run()
	return c, nil
}

// do queues fn and waits for its result.
func (c *committer) do(ctx context.Context, fn func(*metadata.Tx) error, background bool) error {
	return c.queue.Do(ctx, func(tx *metadata.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(tx)
	}, background)
}

func (c *committer) run() {
	defer c.queue.Stop()
	defer func() { _ = c.fail(metadata.ErrClosed) }() // ends the waits for a commit
	debug.SetPanicOnFault(true)
	for {
		batch, idle := c.queue.Next(c.idle())
		switch {
		case batch != nil:
			c.process(batch)
			if c.free.wanted {
				c.writeFreelist()
			}
		case idle:
			c.writeFreelist()
		default:
			c.writeFreelist()
			return
		}
	}
}

// idle returns a channel that sends when an omitted list of free pages must be written.
func (c *committer) idle() <-chan time.Time {
	if !c.free.absent {
		return nil
	}
	return time.After(c.free.idle)
}

// close ends the committer after all queued operations.
func (c *committer) close() { c.queue.Close() }

// process runs a batch. It answers no operation before the commit, because an error of an operation
// may depend on writes of another operation of the batch.
func (c *committer) process(batch []*operation) {
	outcome, begun := errUnfinished, time.Now()
	rest := batch
	c.observer.Begin(groupcommit.Oldest(batch))
	defer func() {
		c.observer.End()
		for _, op := range rest {
			if outcome != nil {
				op.Err = outcome
			}
		}
		c.queue.Answer(batch, begun)
	}()
	for {
		aborted, err := c.attempt(rest)
		if aborted < 0 {
			outcome = err
			return
		}
		// The transaction was rolled back, with the writes of the failed operation. The other
		// operations run again without it.
		rest = append(rest[:aborted:aborted], rest[aborted+1:]...)
	}
}

// attempt runs operations in one transaction and commits it. An operation that fails after it wrote
// spoils the transaction. Then nothing is committed, and attempt returns the index of that
// operation. Otherwise aborted is negative, and err is the outcome of the commit.
func (c *committer) attempt(ops []*operation) (aborted int, err error) {
	if c.failed != nil {
		return -1, c.failed
	}
	btx, err := c.db.Begin(true)
	if err != nil {
		return -1, c.fail(err)
	}
	defer func() { // also if an operation ends its goroutine
		if failed := c.rollback(btx); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	err = catchFault(func() (err error) {
		aborted, err = c.runAll(btx, ops)
		return err
	})
	return aborted, err
}

// rollback ends an uncommitted transaction; it does nothing after a commit. If bbolt cannot end the
// transaction, it still holds its locks, and the store is stuck.
func (c *committer) rollback(btx *bbolt.Tx) error {
	err := catchFault(btx.Rollback)
	if err == nil || errors.Is(err, berrors.ErrTxClosed) {
		return nil
	}
	c.stuck = true
	return c.fail(err)
}

func (c *committer) runAll(btx *bbolt.Tx, ops []*operation) (aborted int, err error) {
	t := c.transaction(btx)
	wrote := false
	for i, op := range ops {
		var spoiled bool
		if spoiled, op.Err = run(t, op.Work); spoiled {
			return i, nil
		}
		wrote = wrote || t.Wrote()
	}
	if !wrote && t.State() == c.state {
		return -1, nil
	}
	c.free.decide(c.db, false)
	synced := func() time.Duration {
		stats := btx.Stats() // valid after its end, too
		return stats.GetWriteTime()
	}
	return -1, c.observer.Commit(len(ops), func() error { return c.finish(btx, t) }, synced)
}

// transaction continues the state of the last commit.
func (c *committer) transaction(btx *bbolt.Tx) *tables.Tx {
	return tables.Write(&kv{bolt: btx}, c.state, c.access.Load(), c.now)
}

// run runs one operation; see tables.Tx.Begin.
func run(t *tables.Tx, fn func(*metadata.Tx) error) (spoiled bool, err error) {
	end := t.Begin()
	returned := false
	defer func() {
		if returned {
			return // causedByFile takes longer than most operations
		}
		damaged := causedByFile()
		p := recover()
		switch {
		case damaged:
			spoiled, err = true, fmt.Errorf("bolt: %w: %s", metadata.ErrRecordDamaged, faultText(p))
		case p != nil:
			spoiled, err = true, fmt.Errorf("bolt: the operation panicked: %v\n%s", p, debug.Stack())
		}
	}()
	err = fn(t.Contract())
	returned = true
	return end(err)
}

// finish commits. It never repeats a failed sync: the kernel may have dropped the pages, and would
// then report success.
func (c *committer) finish(btx *bbolt.Tx, t *tables.Tx) error {
	id := btx.ID()
	if err := t.Finish(c.state); err != nil {
		return err
	}
	if t.ChangedAccess() {
		defer c.changeAccess()()
	}
	err := c.commitCatching(btx)
	if err == nil {
		err = c.checkPath()
	}
	if err == nil {
		c.free.absent = c.db.NoFreelistSync
		stats := btx.Stats()                                                                   // valid after its end, too
		c.mapped += stats.GetPageAlloc() + max(0, c.state.Inline.Bytes-t.State().Inline.Bytes) // a transaction that removes bodies has read them
		c.publish(func() { c.durable, c.state = id, t.State() })
		if c.mapped >= mostMapped {
			c.mapped = 0
			releaseMapped(c.db)
		}
		return nil
	}
	err = withCause(err)
	if kind := transient(err); kind != nil && c.rollback(btx) == nil && !c.visible(id) {
		c.free.failed()
		return fmt.Errorf("bolt: commit: %w: %w", kind, err)
	}
	_ = c.fail(err)
	return fmt.Errorf("bolt: commit: %w: %w", metadata.ErrOutcomeUnknown, err)
}

// transient returns ErrNoSpace or ErrUnwritable for a write error that might not recur and that
// lost only the data to be written. It returns nil for other errors.
func transient(err error) error {
	switch {
	case noSpace(err):
		return metadata.ErrNoSpace
	case unwritable(err):
		return metadata.ErrUnwritable
	}
	return nil
}

// commitCatching commits. It turns a panic of bbolt, which a damaged file can cause, into an error.
func (c *committer) commitCatching(btx *bbolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bolt: commit panicked: %v", p)
		}
	}()
	return c.commit(btx)
}

// visible reports whether readers see, or may see, a transaction whose commit has failed.
func (c *committer) visible(id int) (visible bool) {
	err := catchFault(func() error {
		btx, err := c.db.Begin(false)
		if err != nil {
			return err
		}
		visible = btx.ID() >= id
		return btx.Rollback()
	})
	return visible || err != nil
}

// fail refuses all changes until the file is opened again, and returns the error of later changes.
func (c *committer) fail(cause error) error {
	c.publish(func() {
		if c.failed == nil {
			c.failed = fmt.Errorf("bolt: %w: %w", metadata.ErrReadOnly, cause)
		}
	})
	return c.failed
}

// publish changes the fields under mu and wakes all waits for them.
func (c *committer) publish(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// waitDurable returns when the visible transaction with this id is on stable storage.
func (c *committer) waitDurable(ctx context.Context, id int) error {
	for {
		c.mu.Lock()
		durable, failed, changed := c.durable, c.failed, c.changed
		c.mu.Unlock()
		switch {
		case durable >= id:
			return nil
		case failed != nil:
			return fmt.Errorf("%w: %w", metadata.ErrNotDurable, failed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *committer) health() metadata.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	clockBehind := time.Duration(int64(c.state.Last)-c.now().UnixMicro()) * time.Microsecond
	return metadata.Health{ReadOnly: c.failed, ClockBehind: max(0, clockBehind)}
}

// commit writes the changes of a transaction, and returns when they are on stable storage.
func commit(btx *bbolt.Tx) error { return btx.Commit() }
