// Package postgres implements metadata.Store in a PostgreSQL database, which several nodes may
// share: package tables over keys and values in one table.
//
// # Commits
//
// Each node commits in groups, like package bolt. A commit first locks the row of the last stamp,
// and holds it to its end: so the order of stamps is that of the commits of all nodes, and what
// decides permission is read after every commit before. In the round trip that takes the lock the
// commit asks for all that its operations will read, which each has told by a first run without the
// lock (hints.go); in another one it writes and commits. What an operation writes is kept until
// then, so one that fails has sent nothing, and no savepoint is needed. Stamps follow the clock of
// the server.
//
// # Views
//
// A view is one REPEATABLE READ transaction, which begins in the round trip of its first question.
// That reads the version of the access rows too, so that a revoked key ends with the next request
// on every node. What asks for that version before is told the last one that this node has seen,
// and is run once more where that is over. What is read together is asked together (Prefetch).
// PostgreSQL shows a commit to others when it is on stable storage. Everything is read from the
// server that takes the commits.
//
// # Keys
//
// Keys are bytea, in the order of bytes. An entry of an index ends at 2,704 bytes, so longer keys
// are in a table of their own, by digest and by what they begin with.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/metadata/tables"
)

// Options of a Store.
type Options struct {
	Now func() time.Time // the clock behind stamps; nil: that of the server

	// Observe is called with each commit once its outcome is known, just before the waiting callers
	// are answered, from one goroutine. It must return soon. nil: nobody hears of them.
	Observe func(groupcommit.Commit)

	// ReadOnly changes nothing: no table is made or upgraded, every change is refused with
	// metadata.ErrReadOnly. What an older schema lacks is empty.
	ReadOnly bool
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	config   *pgxpool.Config
	pool     *pgxpool.Pool
	readOnly bool
	fixed    func() time.Time // Options.Now
	ahead    atomic.Int64     // nanoseconds by which the clock of the server is ahead of that of this machine
	numbers  [tables.BucketCount]int16
	longKeys atomic.Pointer[longBuckets]
	secret   [32]byte
	last     atomic.Int64  // the last stamp that this node has seen
	access   atomic.Uint64 // the version of the access rows that it has seen last; 0: none
	hints    hints
	running  running
	queue    *groupcommit.Queue[work]
}

var _ metadata.Store = (*Store)(nil)

// Open opens the database at an address, a URL or a list of settings as in libpq, and makes or
// upgrades its tables. It returns an ErrUnsafe where the settings of the server may lose a commit,
// and a metadata.ErrTooNew for a database of a newer program. The caller closes the Store.
func Open(ctx context.Context, address string, options Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("postgres: address: %w", err)
	}
	s := &Store{config: config, readOnly: options.ReadOnly, fixed: options.Now, queue: groupcommit.New[work](maxGroup)}
	s.hints.values = map[place][]byte{}
	s.longKeys.Store(&longBuckets{})
	s.configure()
	conn, err := s.connect(ctx, nil)
	if err != nil {
		return nil, wrap("connect", err)
	}
	if err = s.prepare(ctx, conn); err == nil {
		s.pool, err = pgxpool.NewWithConfig(ctx, config)
	}
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return nil, wrap("open", err)
	}
	go (&committer{store: s, queue: s.queue, observer: groupcommit.NewObserver(options.Observe)}).run()
	return s, nil
}

// Close commits the changes that are queued and refuses others; then it waits for the views to end
// and closes the connections.
func (s *Store) Close() error {
	s.queue.Close()
	s.running.close()
	s.pool.Close()
	return nil
}

// Secret returns the 32 random bytes that were made with the database.
func (s *Store) Secret() [32]byte { return s.secret }

// Engine implements metadata.Store: any number of nodes share the database.
func (s *Store) Engine() metadata.Engine {
	return metadata.Engine{Name: "postgres", Shared: true, Schema: tables.Schema}
}

// Now returns the time by the clock of the server.
func (s *Store) Now() time.Time {
	if s.fixed != nil {
		return s.fixed()
	}
	return time.Now().Add(time.Duration(s.ahead.Load()))
}

// setClock notes what the clock of the server shows now.
func (s *Store) setClock(shows time.Time) { s.ahead.Store(int64(time.Until(shows))) }

// Health tells how far the clock is behind the last stamp that this node has seen.
func (s *Store) Health() metadata.Health {
	h := metadata.Health{ClockBehind: max(0, time.Duration(s.last.Load()-s.Now().UnixMicro())*time.Microsecond)}
	if s.readOnly {
		h.ReadOnly = fmt.Errorf("postgres: %w: opened to be read only", metadata.ErrReadOnly)
	}
	return h
}

// Update implements metadata.Store.
func (s *Store) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.update(ctx, fn, false)
}

// UpdateBackground implements metadata.Store.
func (s *Store) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.update(ctx, fn, true)
}

// update runs an operation for the first time, and queues it. If its context ends in its first run,
// the operation goes on, as if that had been the only one; if it ends before, nothing has begun.
func (s *Store) update(ctx context.Context, fn func(*metadata.Tx) error, background bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.running.enter(); err != nil {
		return err
	}
	defer s.running.all.Done()
	if s.queue.Closed() {
		return metadata.ErrClosed
	}
	began := false
	unlessEnded := func(tx *metadata.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		began = true
		return fn(tx)
	}
	learnt := s.learn(ctx, unlessEnded)
	switch err := ctx.Err(); {
	case err != nil && !began:
		return err
	case err != nil:
		ctx = context.WithoutCancel(ctx)
	}
	return s.queue.Do(ctx, work{unlessEnded, learnt}, background)
}

// askOutside asks a question outside of any transaction.
func (s *Store) askOutside(ctx context.Context, q *question, into *reader) error {
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		batch := &pgx.Batch{}
		asked := s.queueQuestion(batch, q, s.long())
		results := c.SendBatch(ctx, batch)
		return errors.Join(asked.answer(s, results, into), results.Close())
	})
}

// holdTimeout is how long a node may do nothing while others wait for its commit, in milliseconds:
// the server then ends its transaction.
const holdTimeout = 5000

// connect makes a connection; with warn one for commits, which tells of warnings.
func (s *Store) connect(ctx context.Context, warn func(*pgconn.Notice)) (*pgx.Conn, error) {
	config := s.config.ConnConfig.Copy()
	if warn != nil {
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { warn(n) }
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	err = s.examine(ctx, conn)
	if err == nil && warn != nil {
		_, err = conn.Exec(ctx, fmt.Sprintf("set idle_in_transaction_session_timeout = %d", holdTimeout))
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}
