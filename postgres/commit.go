package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/metadata/tables"
)

// maxGroup limits the operations that share a commit.
const maxGroup = 256

// Timeouts of a commit: for the lock, which a commit of another node may hold, and for the answer
// of the server.
const (
	lockTimeout   = 15 * time.Second
	answerTimeout = 30 * time.Second
)

// operation is one call of Update or UpdateBackground.
type operation = groupcommit.Operation[work]

// work is the function of an operation, and the keys and ranges that it will read.
type work struct {
	fn     func(*metadata.Tx) error
	learnt learnt
}

// committer runs all changes of this node as group commits, in one goroutine and on one connection.
type committer struct {
	store    *Store
	queue    *groupcommit.Queue[work]
	observer *groupcommit.Observer
	conn     *pgx.Conn // nil: not connected
	warned   *pgconn.Notice
}

var errUnfinished = errors.New("postgres: the operation ended its goroutine")

func (c *committer) run() {
	defer c.queue.Stop()
	defer c.disconnect()
	for {
		group, _ := c.queue.Next(nil)
		if group == nil {
			return
		}
		c.process(group)
	}
}

func (c *committer) disconnect() {
	if c.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.conn.Close(ctx)
	c.conn = nil
}

// process runs a group. It answers no operation before the commit, because an error of an operation
// may depend on writes of another operation of the group. If the connection is lost before the
// commit begins, process tries once more on a new connection.
func (c *committer) process(group []*operation) {
	begun, finished := time.Now(), false
	c.observer.Begin(groupcommit.Oldest(group))
	defer func() {
		if !finished {
			failAll(group, errUnfinished)
		}
		c.observer.End()
		c.queue.Answer(group, begun)
	}()
	for range 2 {
		if again := c.attempt(group); !again {
			break
		}
	}
	finished = true
}

// failAll gives all operations the same outcome. An operation with an error may have failed because
// of writes of the other operations, which do not exist now.
func failAll(ops []*operation, err error) {
	for _, op := range ops {
		op.Err = err
	}
}

// attempt runs operations in one transaction and commits it. again reports that the connection was
// lost before anything was promised. An operation that fails after it wrote spoils the reads of the
// others. Nothing has been sent then, so the others run again without it.
func (c *committer) attempt(group []*operation) (again bool) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	t, err := c.lock(ctx, group)
	if err != nil {
		failAll(group, wrap("begin", err))
		return c.lost()
	}
	rest := slices.Clone(group)
	for {
		k := &kv{reader: t.reader, store: c.store, writes: &writes{}}
		var tx *tables.Tx
		var before tables.State
		spoiler := -1
		err := catch(func() (err error) {
			if before, err = tables.ReadState(k); err == nil {
				tx = tables.Write(k, before, uint64(t.state.access), c.store.Now)
				spoiler = runAll(tx, rest)
			}
			return err
		})
		if err != nil {
			c.rollBack(t)
			failAll(group, wrap("read", err))
			return c.lost()
		}
		if spoiler < 0 {
			if err := c.finish(t, tx, k, before, len(rest)); err != nil {
				failAll(rest, err)
			}
			return false
		}
		rest = slices.Delete(rest, spoiler, spoiler+1)
	}
}

// lost reports whether the connection is gone.
func (c *committer) lost() bool {
	if c.conn != nil && c.conn.IsClosed() {
		c.conn = nil
	}
	return c.conn == nil
}

// lock begins the transaction, and requests everything that the operations will read.
func (c *committer) lock(ctx context.Context, group []*operation) (_ *transaction, err error) {
	if c.store.readOnly {
		return nil, fmt.Errorf("%w: opened to be read only", metadata.ErrReadOnly)
	}
	if c.lost() {
		if c.conn, err = c.store.connect(ctx, func(n *pgconn.Notice) { c.warned = n }); err != nil {
			return nil, err
		}
	}
	all := newLearnt()
	for _, op := range group {
		all.add(op.Work.learnt)
	}
	t := c.store.transaction(ctx, c.conn, beginCommit)
	if err := t.trip(all.question()); err != nil {
		c.rollBack(t)
		return nil, err
	}
	for at, value := range t.values {
		c.store.hints.note(at, value)
	}
	return t, nil
}

// rollBack ends a transaction. If that fails, it closes the connection, which ends the transaction,
// too.
func (c *committer) rollBack(t *transaction) {
	if _, err := c.conn.Exec(t.ctx, "rollback"); err != nil {
		c.disconnect()
	}
}

// runAll runs operations. It returns the index of the operation that spoiled the transaction, or
// -1.
func runAll(tx *tables.Tx, ops []*operation) (spoiler int) {
	for i, op := range ops {
		var spoiled bool
		if spoiled, op.Err = run(tx, op.Work.fn); spoiled {
			return i
		}
	}
	return -1
}

// run runs one operation; see tables.Tx.Begin.
func run(tx *tables.Tx, fn func(*metadata.Tx) error) (spoiled bool, err error) {
	end := tx.Begin()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			panic(p)
		default:
			spoiled, err = true, fmt.Errorf("postgres: the operation panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return end(fn(tx.Contract()))
}

// finish commits, independent of any caller's context. The outcome is unknown if the connection is
// lost in the meantime, or if the server warns that it has stopped waiting for a synchronous
// standby.
func (c *committer) finish(t *transaction, tx *tables.Tx, k *kv, before tables.State, operations int) error {
	if tx.State() == before && !k.writes.any() {
		c.rollBack(t)
		return nil
	}
	if err := tx.Finish(before); err != nil {
		c.rollBack(t)
		return err
	}
	last := int64(tx.State().Last)
	if tx.ChangedAccess() {
		t.state.access = max(t.state.access+1, last)
	}
	batch := &pgx.Batch{}
	t.queueWrites(batch, k.writes)
	batch.Queue("update state set stamp = $1, access = $2, long = $3", last, t.state.access, []int16(c.store.long()))
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	c.warned = nil
	begun := time.Now()
	err := c.observer.Commit(operations, func() error { return c.send(ctx, batch) }, func() time.Duration { return time.Since(begun) })
	switch {
	case err == nil:
		c.committed(k.writes, last)
		c.store.access.Store(uint64(t.state.access))
		return nil
	case errors.Is(err, metadata.ErrOutcomeUnknown) || c.lost():
		c.disconnect()
		return fmt.Errorf("postgres: commit: %w: %w", metadata.ErrOutcomeUnknown, err)
	}
	c.rollBack(t)
	return wrap("commit", err)
}

// send sends the statements of a commit and COMMIT in one round trip. It returns ErrOutcomeUnknown
// if the commit succeeded with a warning.
func (c *committer) send(ctx context.Context, batch *pgx.Batch) error {
	statements := batch.Len()
	batch.Queue("commit")
	results := c.conn.SendBatch(ctx, batch)
	var err error
	for range statements {
		if _, err = results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	tag, err := results.Exec()
	if err = errors.Join(err, results.Close()); err != nil {
		return err
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("the server answered the commit with %s", tag)
	}
	if c.warned != nil {
		return fmt.Errorf("%w: %s", metadata.ErrOutcomeUnknown, c.warned.Message)
	}
	return nil
}

// committed records the results of a commit.
func (c *committer) committed(w *writes, last int64) {
	for b := range w.buckets {
		for _, change := range w.buckets[b] {
			c.store.hints.note(place{tables.Bucket(b), string(change.key)}, change.value)
		}
	}
	c.store.last.Store(last)
}
