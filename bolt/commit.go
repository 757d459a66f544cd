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

	"labshelf/metadata"
)

// maxBatch is how many operations share a commit at most.
const maxBatch = 256

// committer carries out all changes, in one goroutine: it takes whatever is queued, runs it in one transaction and commits
// that. While a commit is under way the next batch gathers, so nobody waits for company.
type committer struct {
	db      *bbolt.DB
	now     func() time.Time
	commit  func(*bbolt.Tx) error
	inPlace func() error    // tells whether what is committed will be found again
	queue   chan *operation // of Update
	behind  chan *operation // of UpdateBehind
	turn    turn            // which of the two comes next; of run alone
	free    freelist        // of run alone
	closing chan struct{}
	stopped chan struct{}
	watch   *watch

	stuck  bool          // a transaction could not be ended; to be read once it has stopped
	access atomic.Uint64 // see access.go

	mu      sync.Mutex
	last    metadata.Stamp     // the last one that was committed
	held    metadata.BodyCount // as it was committed
	durable int                // id of the last transaction that is on stable storage
	failed  error              // why no change is taken any more
	changed chan struct{}      // closed when durable or failed changes
}

// operation is one call of Update or UpdateBehind. Whoever claims it decides: the committer to run it, or the caller to give up.
type operation struct {
	fn      func(*metadata.Tx) error
	queued  time.Time // where somebody measures
	behind  bool      // of UpdateBehind
	claimed atomic.Bool
	err     error
	done    chan struct{}
}

var errUnfinished = errors.New("bolt: the operation ended its goroutine")

// start runs a committer on a file whose last transaction, seen, has been synced; on one that is only read it refuses all.
func start(s *Store, options Options, seen *tx) (*committer, error) {
	meta, err := metaOf(seen.bolt)
	if err != nil {
		return nil, err
	}
	db := s.db
	c := &committer{
		db: db, now: options.Now, watch: newWatch(options.Watch), commit: commit, inPlace: s.inPlace,
		queue: make(chan *operation, maxBatch), behind: make(chan *operation), closing: make(chan struct{}), stopped: make(chan struct{}),
		free: freelist{long: longList, quiet: quiet, absent: meta.freelist == noFreelist},
		last: seen.last, held: seen.held, durable: seen.bolt.ID(), changed: make(chan struct{}),
	}
	c.access.Store(firstAccess)
	if db.IsReadOnly() {
		c.failed = fmt.Errorf("bolt: %w: opened to be read only", metadata.ErrReadOnly)
	}
	go c.run()
	return c, nil
}

// do queues fn and waits for its outcome.
func (c *committer) do(ctx context.Context, queue chan *operation, fn func(*metadata.Tx) error) error {
	op := &operation{done: make(chan struct{}), queued: c.watch.queued(), behind: queue == c.behind, fn: func(tx *metadata.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(tx)
	}}
	select {
	case <-c.closing:
		return metadata.ErrClosed
	default:
	}
	select {
	case queue <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.stopped:
		return metadata.ErrClosed
	}
	var gaveUp error
	select {
	case <-op.done:
		return op.err
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-c.stopped:
		gaveUp = metadata.ErrClosed
	}
	if op.claimed.CompareAndSwap(false, true) {
		return gaveUp
	}
	<-op.done
	return op.err
}

func (c *committer) run() {
	defer close(c.stopped)
	defer func() { _ = c.fail(metadata.ErrClosed) }() // whoever waits for a commit waits no longer
	debug.SetPanicOnFault(true)
	for op := c.next(); op != nil; op = c.next() {
		begun := time.Now()
		c.process(c.gather(op))
		c.turn.took(op.behind, begun, time.Now())
		if c.free.wanted {
			c.listFree()
		}
	}
	c.listFree()
}

// close ends the committer once the queue is empty.
func (c *committer) close() {
	close(c.closing)
	<-c.stopped
}

// gather claims an operation, and what is in the queue with it.
func (c *committer) gather(op *operation) (batch []*operation) {
	for {
		if op.claimed.CompareAndSwap(false, true) {
			batch = append(batch, op)
		}
		if len(batch) == maxBatch || op.behind {
			return batch
		}
		select {
		case op = <-c.queue:
		default:
			return batch
		}
	}
}

// process carries out a batch. Nobody gets an answer before the commit: a refusal may rest on what another operation of the
// batch has written.
func (c *committer) process(batch []*operation) {
	outcome := errUnfinished
	rest := batch
	c.watch.begin(batch)
	defer func() {
		c.watch.end()
		for _, op := range rest {
			if outcome != nil {
				op.err = outcome
			}
		}
		for _, op := range batch {
			close(op.done)
		}
	}()
	for {
		spoiler, err := c.attempt(rest)
		if spoiler < 0 {
			outcome = err
			return
		}
		// What the spoiler wrote is gone with the transaction. The others run again, without it.
		rest = append(rest[:spoiler:spoiler], rest[spoiler+1:]...)
	}
}

// attempt runs operations in one transaction and commits it. One that fails after it wrote spoils the transaction: then
// nothing is committed, and attempt returns its place. Otherwise that is negative, and err is the outcome of the commit.
func (c *committer) attempt(ops []*operation) (spoiler int, err error) {
	if c.failed != nil {
		return -1, c.failed
	}
	btx, err := c.db.Begin(true)
	if err != nil {
		return -1, c.fail(err)
	}
	defer func() { // also where an operation ends its goroutine
		if failed := c.rollback(btx); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	err = guarded(func() (err error) {
		spoiler, err = c.carryOut(btx, ops)
		return err
	})
	return spoiler, err
}

// rollback ends a transaction that has not been committed; it does nothing to one that has. If bbolt cannot even do that, it
// still holds its locks.
func (c *committer) rollback(btx *bbolt.Tx) error {
	err := guarded(btx.Rollback)
	if err == nil || errors.Is(err, berrors.ErrTxClosed) {
		return nil
	}
	c.stuck = true
	return c.fail(err)
}

func (c *committer) carryOut(btx *bbolt.Tx, ops []*operation) (spoiler int, err error) {
	t := c.transaction(btx)
	wrote := false
	for i, op := range ops {
		var spoiled bool
		if spoiled, op.err = t.run(op.fn); spoiled {
			return i, nil
		}
		wrote = wrote || t.wrote
	}
	if !wrote && t.last == c.last {
		return -1, nil
	}
	c.free.decide(c.db, false)
	return -1, c.watch.commit(btx, len(ops), func() error { return c.finish(btx, t) })
}

// transaction begins where the last commit ended.
func (c *committer) transaction(btx *bbolt.Tx) *tx {
	return &tx{bolt: btx, now: c.now, last: c.last, held: c.held, version: c.access.Load()}
}

// run carries out one operation. If it spoiled the transaction, nothing of that may be committed; else, if it failed, there is
// nothing of it, and the stamps that it took are free again.
func (t *tx) run(fn func(*metadata.Tx) error) (spoiled bool, err error) {
	before := t.last
	t.wrote, t.failed = false, nil
	returned := false
	defer func() {
		if returned {
			return // who is to blame takes longer to find out than most operations
		}
		damaged := fileIsToBlame()
		p := recover()
		switch {
		case damaged:
			spoiled, err = true, fmt.Errorf("bolt: %w: %s", metadata.ErrRecordDamaged, reason(p))
		case p != nil:
			spoiled, err = true, fmt.Errorf("bolt: the operation panicked: %v\n%s", p, debug.Stack())
		}
	}()
	err = fn(t.tables())
	returned = true
	if err == nil {
		err = t.failed
	}
	if err != nil {
		t.last = before
	}
	return err != nil && t.wrote, err
}

// finish commits. An error of a sync is never tried again: what was not written then counts as written afterwards.
func (c *committer) finish(btx *bbolt.Tx, t *tx) error {
	id := btx.ID()
	t.put(metaBucket, nameKey(lastStampRow), seal(nameKey(lastStampRow), lastStampFields, t.last))
	if t.held != c.held {
		t.put(metaBucket, nameKey(heldRow), seal(nameKey(heldRow), bodyCountFields, t.held))
	}
	if t.failed != nil {
		return t.failed
	}
	if t.decided {
		defer c.changeAccess()()
	}
	err := c.guarded(btx)
	if err == nil {
		err = c.inPlace()
	}
	if err == nil {
		c.free.absent = c.db.NoFreelistSync
		c.publish(func() { c.durable, c.last, c.held = id, t.last, t.held })
		return nil
	}
	err = revealed(err)
	if kind := passing(err); kind != nil && c.rollback(btx) == nil && !c.visible(id) {
		c.free.failed()
		return fmt.Errorf("bolt: commit: %w: %w", kind, err)
	}
	_ = c.fail(err)
	return fmt.Errorf("bolt: commit: %w: %w", metadata.ErrOutcomeUnknown, err)
}

// passing returns ErrNoSpace or ErrUnwritable for an error of a write that may succeed another time, and after which nothing but
// what was to be written is lost; nil for any other.
func passing(err error) error {
	switch {
	case noSpace(err):
		return metadata.ErrNoSpace
	case unwritable(err):
		return metadata.ErrUnwritable
	}
	return nil
}

// guarded commits, and turns a panic of bbolt, which a damaged file can cause, into an error.
func (c *committer) guarded(btx *bbolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bolt: commit panicked: %v", p)
		}
	}()
	return c.commit(btx)
}

// visible tells whether a transaction whose commit has failed is there all the same, as far as can be seen.
func (c *committer) visible(id int) (visible bool) {
	err := guarded(func() error {
		btx, err := c.db.Begin(false)
		if err != nil {
			return err
		}
		visible = btx.ID() >= id
		return btx.Rollback()
	})
	return visible || err != nil
}

// fail ends all changing until the file is opened again, and returns what later changes are told.
func (c *committer) fail(cause error) error {
	c.publish(func() {
		if c.failed == nil {
			c.failed = fmt.Errorf("bolt: %w: %w", metadata.ErrReadOnly, cause)
		}
	})
	return c.failed
}

func (c *committer) publish(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// waitDurable returns when the transaction with this id, which was visible, is on stable storage.
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
	behind := time.Duration(int64(c.last)-c.now().UnixMicro()) * time.Microsecond
	return metadata.Health{ReadOnly: c.failed, ClockBehind: max(0, behind)}
}

// commit writes what a transaction has changed, and returns when it is on stable storage.
func commit(btx *bbolt.Tx) error { return btx.Commit() }
