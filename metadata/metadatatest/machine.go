package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"labshelf/metadata"
)

// maxActions limits the transactions of one random history. A hundred short histories on a real
// disk take two or three seconds; -rapid.checks sets another number.
const maxActions = 10

// Compare performs random operations on a store and on Memory, with the same clock. It fails if
// their results differ. file is the only file of the store in its directory. Compare also copies
// this file at random times, and restores it from snapshots. file is "" for a store outside its
// directory. Compare logs the number of operations: writes, reading transactions, and other
// actions.
func Compare(t *testing.T, open Open, file string, uses ...Use) {
	done := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "metadatatest")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}()
		m := newMachine(rt, dir, open)
		m.file = file
		defer m.close(rt)
		defer func() { done += m.done }()
		someWrites := func(rt *rapid.T) { m.update(rt, 0, 8) }
		actions := []func(*rapid.T){someWrites, m.view, someWrites, m.view, someWrites, someWrites, m.everything, m.reopen}
		for _, u := range uses {
			actions = append(actions, m.action(u))
		}
		if file != "" {
			actions = append(actions, m.crash, m.backUp, m.restore)
		}
		m.update(rt, 10, 20)
		for range rapid.IntRange(1, maxActions).Draw(rt, "actions") {
			m.clock.move(rapid.SampledFrom(moves()).Draw(rt, "clock moves by"))
			actions[rapid.IntRange(0, len(actions)-1).Draw(rt, "action")](rt)
			m.done++
		}
		m.everything(rt)
	})
	t.Logf("%d operations", done)
}

// moves are the steps of the clock between transactions.
func moves() []time.Duration {
	return []time.Duration{
		0, time.Microsecond, 999 * time.Microsecond, time.Millisecond, 3 * time.Second, 24 * time.Hour, -time.Millisecond, -time.Hour,
	}
}

// machine is a store and its model.
type machine struct {
	clock     *clock
	subject   metadata.Store
	model     *Memory
	open      Open
	file      string // see Compare
	root      string // contains all directories of the store
	dirs      int
	dir       string // current directory of the store
	backups   []backup
	pool      pool
	questions []question
	last      metadata.Stamp // the last stamp that the machine has taken
	done      int            // number of operations
}

func newMachine(rt *rapid.T, root string, open Open) *machine {
	m := &machine{clock: newClock(), open: open, root: root, pool: drawPool(rt)}
	m.questions = questions(m.pool.probe())
	m.dir = m.newDir()
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		rt.Fatal(err)
	}
	m.model = NewMemory(m.clock.now)
	m.start(rt)
	// No row may be older than the first stamp. The store would report such a row as damaged.
	for _, store := range []metadata.Store{m.model, m.subject} {
		err := store.Update(context.Background(), func(tx *metadata.Tx) error {
			m.last = tx.Stamp()
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	}
	return m
}

// start opens the store in its current directory.
func (m *machine) start(rt *rapid.T) {
	var err error
	if m.subject, err = m.open(m.dir, m.clock.now); err != nil {
		m.subject = m.model.Reopen(m.clock.now) // a store that the cleanup can close
		rt.Fatalf("open: %v", err)
	}
}

func (m *machine) close(rt *rapid.T) {
	if err := errors.Join(m.model.Close(), m.subject.Close()); err != nil {
		rt.Errorf("close: %v", err)
	}
}

// op is one use of a transaction, with a comparable result.
type op struct {
	name string
	run  func(*metadata.Tx) (any, error)
}

// answer is the result that a store returns for an op.
type answer struct {
	Op    string
	Value any
	Err   string
}

func (o op) answer(tx *metadata.Tx) answer {
	value, err := o.run(tx)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return answer{Op: o.name, Err: "not found"}
	case err != nil:
		return answer{Op: o.name, Err: err.Error()}
	}
	return answer{Op: o.name, Value: value}
}

// session runs ops on the model as they are drawn, so that later ops can depend on the content of
// the model. It records them for the subject.
type session struct {
	tx   *metadata.Tx
	ops  []op
	want []answer
}

func (s *session) do(o op) answer {
	a := o.answer(s.tx)
	s.ops, s.want = append(s.ops, o), append(s.want, a)
	return a
}

// replay runs the ops on the subject. It may be called again when the transaction is retried.
func (s *session) replay(tx *metadata.Tx) (got []answer) {
	for _, o := range s.ops {
		got = append(got, o.answer(tx))
	}
	return got
}

// update writes and reads in a transaction, which sometimes fails.
func (m *machine) update(rt *rapid.T, least, most int) {
	var end error
	if rapid.IntRange(0, 5).Draw(rt, "fails at 5") == 5 {
		end = errOnPurpose
	}
	last, commit := m.last, m.subject.Update
	if rapid.Bool().Draw(rt, "in the background") {
		commit = m.subject.UpdateBackground
	}
	s := m.both(rt, "update", m.model.Update, commit, end, func(s *session) {
		write := func() { m.write(rt, s) }
		if rapid.IntRange(0, 7).Draw(rt, "only stamps at 7") == 7 {
			write = func() { m.stamp(s) }
		}
		for range rapid.IntRange(least, most).Draw(rt, "writes") {
			write()
		}
		m.reads(rt, s, 4)
	})
	m.done += len(s.ops)
	if end != nil {
		m.last = last
	}
}

// view reads in either kind of view.
func (m *machine) view(rt *rapid.T) {
	run := m.subject.View
	if rapid.Bool().Draw(rt, "durable") {
		run = m.subject.ViewDurable
	}
	m.both(rt, "view", m.model.View, run, nil, func(s *session) { m.reads(rt, s, 16) })
}

// both draws ops in a transaction of the model, and repeats them in a transaction of the subject.
// Both functions return the error end.
func (m *machine) both(rt *rapid.T, name string, model, subject func(context.Context, func(*metadata.Tx) error) error, end error, draw func(*session)) *session {
	s := &session{}
	err := model(context.Background(), func(tx *metadata.Tx) error {
		s.tx = tx
		draw(s)
		return end
	})
	if !errors.Is(err, end) {
		rt.Fatalf("memory: %v", err)
	}
	var got []answer
	err = subject(context.Background(), func(tx *metadata.Tx) error {
		got = s.replay(tx)
		return end
	})
	if !errors.Is(err, end) {
		rt.Fatalf("%s: got error %v, want %v", name, err, end)
	}
	agree(rt, name, got, s.want)
	return s
}

// everything compares the results of every query.
func (m *machine) everything(rt *rapid.T) {
	all := func(of metadata.Reader) (got map[string]any) {
		err := of.View(context.Background(), func(tx *metadata.Tx) (err error) {
			got, err = answersTo(tx, m.questions)
			return err
		})
		if err != nil {
			rt.Fatalf("run every query: %v", err)
		}
		return got
	}
	agree(rt, "everything", all(m.subject), all(m.model))
	got, want := m.subject.Health(), m.model.Health()
	if off := (got.ClockBehind - want.ClockBehind).Abs(); off > time.Millisecond || want.ClockBehind == 0 && off != 0 || got.ReadOnly != nil {
		rt.Fatalf("health is %+v, want %+v", got, want)
	}
}

// reopen closes the store and opens it again.
func (m *machine) reopen(rt *rapid.T) {
	secret := m.subject.Secret()
	m.close(rt)
	m.model = m.model.Reopen(m.clock.now)
	m.start(rt)
	agree(rt, "secret after opening again", m.subject.Secret(), secret)
}

func agree(rt *rapid.T, when string, got, want any) {
	rt.Helper()
	if !reflect.DeepEqual(got, want) { // much faster than cmp, which explains the difference
		rt.Fatalf("%s (-memory +subject):\n%s", when, cmp.Diff(want, got))
	}
}

// rowsOp returns an op that reads the given number of items of a sequence, or all items if the
// number is 0.
func rowsOp[T any](name string, most int, seq func(*metadata.Tx) iter.Seq2[T, error]) op {
	return op{fmt.Sprintf("%s, up to %d", name, most), func(tx *metadata.Tx) (any, error) {
		return upTo(most, seq(tx))
	}}
}
