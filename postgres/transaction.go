package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// transaction is a database transaction. It begins with the first question, in the same round trip.
type transaction struct {
	*reader
	store *Store
	ctx   context.Context // context of the function that uses it
	conn  *pgx.Conn
	begin []string // statements that begin it; the second one returns the state
	begun bool
	state state

	failed error // error of a question
}

// The statements that begin a transaction. A view sees one state throughout. A commit waits at the
// row of the last stamp for the commits of all other nodes, then reads their results: at READ
// COMMITTED each statement sees everything committed before it. A separate statement reads the
// clock, after that wait.
var (
	beginView   = []string{"begin isolation level repeatable read read only", stateSQL}
	beginCommit = []string{"begin isolation level read committed read write", stateSQL + " for update", "select clock_timestamp()"}
)

func (s *Store) transaction(ctx context.Context, conn *pgx.Conn, begin []string) *transaction {
	t := &transaction{reader: &reader{known: newKnown()}, store: s, ctx: ctx, conn: conn, begin: begin}
	t.ask = func(q *question) {
		if err := t.trip(q); err != nil {
			panic(failure{err})
		}
	}
	return t
}

// trip sends a question and reads the answer.
func (t *transaction) trip(q *question) error {
	batch := &pgx.Batch{}
	begins := !t.begun
	if begins {
		for _, sql := range t.begin {
			batch.Queue(sql)
		}
	}
	asked := t.store.queueQuestion(batch, q, t.store.long())
	results := t.conn.SendBatch(t.ctx, batch)
	err := t.receive(results, asked, begins)
	if err = errors.Join(err, results.Close()); err != nil {
		return err
	}
	t.begun = true
	if begins && t.store.noteLong(t.state.long) {
		return t.trip(q) // some buckets were not queried for long keys
	}
	return nil
}

func (t *transaction) receive(results pgx.BatchResults, a *asked, begins bool) (err error) {
	if begins {
		if _, err := results.Exec(); err != nil {
			return err
		}
		if t.state, err = readState(results.QueryRow()); err != nil {
			return err
		}
		t.store.access.Store(uint64(t.state.access))
	}
	if begins && len(t.begin) == len(beginCommit) {
		var now time.Time
		if err := results.QueryRow().Scan(&now); err != nil {
			return err
		}
		t.store.setClock(now)
	}
	return a.answer(t.store, results, t.reader)
}

// catch runs fn, and returns the error of a failed question in it.
func catch(fn func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			panic(p)
		}
	}()
	return fn()
}

// long returns the buckets that have had long keys, as far as this node knows.
func (s *Store) long() longBuckets { return *s.longKeys.Load() }

// noteLong adds buckets that have had long keys, and reports whether any of them is new.
func (s *Store) noteLong(seen longBuckets) (fresh bool) {
	for {
		present := s.longKeys.Load()
		all := slices.Clone(*present)
		for _, number := range seen {
			if !slices.Contains(all, number) {
				all = append(all, number)
			}
		}
		if len(all) == len(*present) {
			return fresh
		}
		fresh = true
		if s.longKeys.CompareAndSwap(present, &all) {
			return fresh
		}
	}
}

// wrap adds the failed action to an error of the database, and its meaning.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: %s: %w", what, meaning(err))
}
