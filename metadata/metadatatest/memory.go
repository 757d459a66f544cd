// Package metadatatest tests implementations of metadata.Store. Run is the test suite of the
// contract. Compare is a random state machine. Both use Memory as the reference implementation.
// Only tests import this package.
package metadatatest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/metadata"
)

// Memory is a simple metadata store without a disk. A commit replaces the whole state with a
// changed copy, and a listing reads every row. It is safe for concurrent use.
type Memory struct {
	now    func() time.Time
	secret [32]byte

	writer chan struct{}         // locked by the running Update
	state  atomic.Pointer[state] // the last commit; immutable

	opening sync.Mutex // guards closed, and prevents transactions after it is set
	closed  bool
	running sync.WaitGroup
}

var _ metadata.Store = (*Memory)(nil)

// NewMemory returns an empty store with the clock now. The caller closes it.
func NewMemory(now func() time.Time) *Memory {
	m := &Memory{now: now, writer: make(chan struct{}, 1)}
	rand.Read(m.secret[:])
	m.state.Store(newState(now()))
	return m
}

// Reopen returns a store that continues where m was closed, as a real store does from its file. The
// caller closes it.
func (m *Memory) Reopen(now func() time.Time) *Memory {
	again := &Memory{now: now, secret: m.secret, writer: make(chan struct{}, 1)}
	again.state.Store(m.state.Load())
	return again
}

// View runs fn on the last commit.
func (m *Memory) View(_ context.Context, fn func(*metadata.Tx) error) error {
	if err := m.begin(); err != nil {
		return err
	}
	defer m.running.Done()
	now := m.state.Load()
	return fn(now.tx(nil, now))
}

// ViewDurable calls View, because commits in memory are durable immediately.
func (m *Memory) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.View(ctx, fn)
}

// Update runs fn once, on a copy of the last commit that then replaces it.
func (m *Memory) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if err := m.begin(); err != nil {
		return err
	}
	defer m.running.Done()
	select {
	case m.writer <- struct{}{}:
		defer func() { <-m.writer }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	last := m.state.Load()
	next := last.clone()
	if err := fn(next.tx(m.now, last)); err != nil {
		return err
	}
	if !next.decidesAs(last) {
		next.access++
	}
	m.state.Store(next)
	return nil
}

// UpdateBackground calls Update, because no commit takes long.
func (m *Memory) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.Update(ctx, fn)
}

// Inspect reports no violations, because the state has no redundancy.
func (m *Memory) Inspect(ctx context.Context, _ func(metadata.Violation)) error {
	return m.View(ctx, func(*metadata.Tx) error { return ctx.Err() })
}

// Snapshot prints the last commit.
func (m *Memory) Snapshot(ctx context.Context) (copied metadata.Snapshot, err error) {
	err = m.View(ctx, func(*metadata.Tx) error {
		state := m.state.Load()
		copied = printed{strings.NewReader(fmt.Sprintf("%+v", *state)), state.last}
		return ctx.Err()
	})
	return copied, err
}

// printed is a snapshot in memory.
type printed struct {
	*strings.Reader
	stamp metadata.Stamp
}

func (p printed) Close() error { return nil }

func (p printed) Stamp() metadata.Stamp { return p.stamp }

func (p printed) Bytes() int64 { return p.Size() }

// AccessVersion returns the access version of the last commit.
func (m *Memory) AccessVersion(context.Context) (uint64, error) { return m.state.Load().access, nil }

// Engine implements metadata.Store.
func (m *Memory) Engine() metadata.Engine { return metadata.Engine{Name: "memory"} }

// Secret returns the secret of this store, and of stores reopened from it.
func (m *Memory) Secret() [32]byte { return m.secret }

// Health reports how far the clock is behind. No other error is possible.
func (m *Memory) Health() metadata.Health {
	last := time.UnixMicro(int64(m.state.Load().last))
	return metadata.Health{ClockBehind: max(0, last.Sub(m.now()))}
}

// Close waits for running transactions.
func (m *Memory) Close() error {
	m.opening.Lock()
	m.closed = true
	m.opening.Unlock()
	m.running.Wait()
	return nil
}

func (m *Memory) begin() error {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.closed {
		return metadata.ErrClosed
	}
	m.running.Add(1)
	return nil
}
