package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// running counts the transactions that Close waits for.
type running struct {
	mu     sync.RWMutex
	closed bool
	all    sync.WaitGroup
}

// enter counts a transaction unless the store is closed. The caller calls all.Done.
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

// ViewDurable is View: PostgreSQL shows a commit to others only when it is on stable storage,
// including the storage of synchronous standbys.
func (s *Store) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.View(ctx, fn)
}

// AccessVersion implements metadata.Store. It queries the server, with one round trip.
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
	if err == nil {
		s.access.Store(uint64(st.access))
	}
	return uint64(st.access), wrap("read", err)
}

// view is a read transaction, on a connection of the pool.
type view struct {
	*transaction
	pooled  *pgxpool.Conn
	assumed uint64 // version of the access rows that fn received before the view began; 0: none
}

// misled is the value of a panic: the view has another version of the access rows than fn received.
type misled struct{}

// view runs fn in a view. The view begins with the first question of fn, in the same round trip. If
// fn requests the version of the access rows before that, it receives the last version that this
// node has seen. If that is outdated, fn runs again with the correct version; until then it has
// read nothing.
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
	err := catch(func() error {
		again, err := v.assuming(fn)
		if again {
			_, err = v.assuming(fn)
		}
		return err
	})
	if v.failed != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// assuming runs fn. It reports whether fn received an outdated version and must run again.
func (v *view) assuming(fn func(*view) error) (again bool, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case misled:
			again = true
		default:
			panic(p)
		}
	}()
	err = fn(v)
	if v.assumed != 0 && !v.begun {
		v.question(&question{})
	}
	return false, err
}

func (v *view) kv() *kv { return &kv{reader: v.reader, store: v.store} }

// access returns the version of the access rows in the state that the view sees, or will probably
// see.
func (v *view) access() uint64 {
	if v.begun {
		return uint64(v.state.access)
	}
	if v.assumed == 0 {
		v.assumed = v.store.access.Load()
	}
	if v.assumed == 0 {
		v.question(&question{})
		return uint64(v.state.access)
	}
	return v.assumed
}

// question sends a question. If the connection is dead when the view begins, for example after a
// restart of the server, it is replaced once.
func (v *view) question(q *question) {
	err := v.first()
	if err == nil {
		err = v.trip(q)
	}
	if err != nil && !v.begun && v.ctx.Err() == nil && (v.conn == nil || v.conn.IsClosed()) {
		v.release()
		v.store.pool.Reset()
		v.known = newKnown() // discards an incomplete answer
		if err = v.first(); err == nil {
			err = v.trip(q)
		}
	}
	if err != nil {
		v.failed = err
		panic(failure{wrap("read", err)})
	}
	if assumed := v.assumed; assumed != 0 {
		v.assumed = 0
		if assumed != uint64(v.state.access) {
			panic(misled{})
		}
	}
}

// first acquires a connection, before the first question.
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

// end returns the connection to the pool when the database has ended the transaction. No caller
// waits for that.
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
		_, _ = v.conn.Exec(ctx, "commit") // a failed connection is not used again
		v.release()
	}()
}
