// Package metadatatest proves implementations of metadata.Store: Run is the suite of the contract,
// Compare a random state machine, and Memory the implementation that both hold against the real
// ones. Only tests import it.
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

// Memory is a metadata store without a disk, obviously right: a commit replaces the whole state by
// a changed copy, a listing reads every row. It is safe for concurrent use.
type Memory struct {
	now    func() time.Time
	secret [32]byte

	writer chan struct{}         // holds the one Update that runs
	state  atomic.Pointer[state] // the last commit; never changed once it is here

	opening sync.Mutex // guards closed, and that no transaction begins after it
	closed  bool
	running sync.WaitGroup
}

var _ metadata.Store = (*Memory)(nil)

// NewMemory makes an empty store with a clock. The caller closes it.
func NewMemory(now func() time.Time) *Memory {
	m := &Memory{now: now, writer: make(chan struct{}, 1)}
	rand.Read(m.secret[:])
	m.state.Store(newState(now()))
	return m
}

// Reopen returns a store that continues where m was closed, as the real one does from its file. The
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

// ViewDurable is View: what is committed here is as safe as it will ever be.
func (m *Memory) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.View(ctx, fn)
}

// Update runs fn once, on a copy of the last commit that takes its place.
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

// UpdateBackground is Update: no commit takes long here.
func (m *Memory) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return m.Update(ctx, fn)
}

// Inspect reports nothing: there is nothing here that could contradict itself.
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

// AccessVersion returns that of the last commit.
func (m *Memory) AccessVersion(context.Context) (uint64, error) { return m.state.Load().access, nil }

// Engine implements metadata.Store.
func (m *Memory) Engine() metadata.Engine { return metadata.Engine{Name: "memory"} }

// Secret returns the secret of this store and of those reopened from it.
func (m *Memory) Secret() [32]byte { return m.secret }

// Health reports how far the clock is behind; nothing else can be wrong here.
func (m *Memory) Health() metadata.Health {
	last := time.UnixMicro(int64(m.state.Load().last))
	return metadata.Health{ClockBehind: max(0, last.Sub(m.now()))}
}

// Close waits for the transactions under way.
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
