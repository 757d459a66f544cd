// Package postgres implements metadata.Store in a PostgreSQL database, which several nodes may
// share: package tables over keys and values in one table.
//
// # Commits
//
// Each node commits in groups, like package bolt. A commit first locks the row of the last stamp,
// and holds the lock to its end. So the order of stamps is the order of the commits of all nodes,
// and a commit reads the permissions that earlier commits left. The round trip that acquires the
// lock also requests everything that the operations will read. Each operation has determined that
// in a first run without the lock (hints.go). A second round trip writes and commits. Writes stay
// in memory until then, so a failed operation has sent nothing and needs no savepoint. Stamps
// follow the clock of the server.
//
// # Views
//
// A view is one REPEATABLE READ transaction, which begins in the round trip of its first question.
// That round trip also reads the version of the access rows, so that a revoked key ends with the
// next request on every node. A view that requests the version before that gets the last one that
// this node has seen. If it is outdated, the view runs again. Prefetch combines several questions
// into one. PostgreSQL shows a commit to others when it is on stable storage. All reads go to the
// server that accepts the commits.
//
// # Keys
//
// Keys are bytea, in the order of bytes. An index entry has at most 2,704 bytes, so long keys are
// in a separate table, indexed by their digest and their first bytes.
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

// Options configure a Store.
type Options struct {
	Now func() time.Time // clock of stamps; nil: the clock of the server

	// Observe is called with each commit when its outcome is known, just before the waiting callers
	// are answered. All calls come from one goroutine, so it must return soon. If nil, nothing is
	// measured.
	Observe func(groupcommit.Commit)

	// ReadOnly changes nothing: no table is created or upgraded, and every change returns
	// metadata.ErrReadOnly. Tables that an older schema lacks are empty.
	ReadOnly bool
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	config   *pgxpool.Config
	pool     *pgxpool.Pool
	readOnly bool
	fixed    func() time.Time // Options.Now
	ahead    atomic.Int64     // nanoseconds that the clock of the server is ahead of this machine's clock
	numbers  [tables.BucketCount]int16
	longKeys atomic.Pointer[longBuckets]
	secret   [32]byte
	last     atomic.Int64  // the last stamp that this node has seen
	access   atomic.Uint64 // the last version of the access rows that this node has seen; 0: none
	hints    hints
	running  running
	queue    *groupcommit.Queue[work]
}

var _ metadata.Store = (*Store)(nil)

// Open opens the database at an address, a URL or a list of settings as in libpq, and creates or
// upgrades its tables. It returns ErrUnsafe if the settings of the server may lose a commit, and
// metadata.ErrTooNew for a database of a newer program. The caller closes the Store.
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

// Close commits the queued changes and refuses new ones. Then it waits for the views and closes the
// connections.
func (s *Store) Close() error {
	s.queue.Close()
	s.running.close()
	s.pool.Close()
	return nil
}

// Secret returns the 32 random bytes that were created with the database.
func (s *Store) Secret() [32]byte { return s.secret }

// Engine implements metadata.Store. Any number of nodes may share the database.
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

// setClock records the current time of the server's clock.
func (s *Store) setClock(shows time.Time) { s.ahead.Store(int64(time.Until(shows))) }

// Health reports how far the clock is behind the last stamp that this node has seen.
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

// update runs an operation for the first time, and queues it. If its context ends during the first
// run, the operation continues. If the context has ended before, nothing begins.
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

// askOutside sends a question outside of any transaction.
func (s *Store) askOutside(ctx context.Context, q *question, into *reader) error {
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		batch := &pgx.Batch{}
		asked := s.queueQuestion(batch, q, s.long())
		results := c.SendBatch(ctx, batch)
		return errors.Join(asked.answer(s, results, into), results.Close())
	})
}

// holdTimeout limits, in milliseconds, how long a node may be idle while others wait for its
// commit. The server then ends the transaction.
const holdTimeout = 5000

// connect opens a connection. warn is set for the connection of commits; it receives the server's
// warnings.
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
