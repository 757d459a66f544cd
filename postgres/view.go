package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"labshelf/metadata"
	"labshelf/tables"
)

// running counts the transactions that Close waits for.
type running struct {
	mu     sync.RWMutex
	closed bool
	all    sync.WaitGroup
}

// enter counts one, unless the store is closed. The caller calls all.Done.
func (r *running) enter() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return metadata.ErrClosed
	}
	r.all.Add(1)
	return nil
}

func (r *running) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.all.Wait()
}

// View implements metadata.Store.
func (s *Store) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.view(ctx, func(v *view) error {
		tx := tables.Read(v.kv(), 0)
		contract := tx.Contract()
		contract.Access = v.access
		if err := fn(contract); err != nil {
			return err
		}
		return tx.Failed()
	})
}

// ViewDurable is View: PostgreSQL shows a commit to others when it is on stable storage, and on that of synchronous standbys.
func (s *Store) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.View(ctx, fn)
}

// AccessVersion implements metadata.Store. It asks the server, in one round trip.
func (s *Store) AccessVersion(ctx context.Context) (version uint64, err error) {
	if err := s.running.enter(); err != nil {
		return 0, err
	}
	defer s.running.all.Done()
	var st state
	for try := range 2 {
		var pooled *pgxpool.Conn
		if pooled, err = s.pool.Acquire(ctx); err != nil {
			break
		}
		st, err = readState(pooled.QueryRow(ctx, stateSQL))
		dead := pooled.Conn().IsClosed()
		pooled.Release()
		if err == nil || !dead || ctx.Err() != nil || try == 1 {
			break
		}
		s.pool.Reset()
	}
	return uint64(st.access), wrap("read", err)
}

// view is a read transaction, on a connection of the pool.
type view struct {
	*transaction
	pooled *pgxpool.Conn
}

// view runs fn in one.
func (s *Store) view(ctx context.Context, fn func(*view) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.running.enter(); err != nil {
		return err
	}
	v := &view{transaction: s.transaction(ctx, nil, beginView)}
	v.forget = true
	v.ask = v.question
	defer v.end()
	err := catch(func() error { return fn(v) })
	if v.failed != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (v *view) kv() *kv { return &kv{reader: v.reader, store: v.store} }

// access returns the version of the access rows in the state that the view sees.
func (v *view) access() uint64 {
	if !v.begun {
		v.question(&question{})
	}
	return uint64(v.state.access)
}

// question asks. A connection that turns out to be dead when the view begins, such as after the server was restarted, is replaced once.
func (v *view) question(q *question) {
	err := v.first()
	if err == nil {
		err = v.trip(q)
	}
	if err != nil && !v.begun && v.ctx.Err() == nil && (v.conn == nil || v.conn.IsClosed()) {
		v.release()
		v.store.pool.Reset()
		if err = v.first(); err == nil {
			err = v.trip(q)
		}
	}
	if err != nil {
		v.failed = err
		panic(failure{wrap("read", err)})
	}
}

// first takes a connection, before the first question.
func (v *view) first() (err error) {
	if v.pooled == nil {
		if v.pooled, err = v.store.pool.Acquire(v.ctx); err == nil {
			v.conn = v.pooled.Conn()
		}
	}
	return err
}

func (v *view) release() {
	if v.pooled != nil {
		v.pooled.Release()
		v.pooled, v.conn = nil, nil
	}
}

// end gives the connection back when the database has ended the transaction, for which nobody waits.
func (v *view) end() {
	if !v.begun || v.conn.IsClosed() {
		v.release()
		v.store.running.all.Done()
		return
	}
	go func() {
		defer v.store.running.all.Done()
		ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
		defer cancel()
		_, _ = v.conn.Exec(ctx, "commit") // a connection that failed is not used again
		v.release()
	}()
}
