// Package metadatatest proves implementations of metadata.Store: Run is the suite of the contract, Compare a random
// state machine, and Memory the implementation that both hold against the real ones. Only tests import it.
package metadatatest

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

// Memory is a metadata store without a disk, right by being obvious: a commit replaces the whole state by a changed copy,
// a listing looks at every row. It is safe for concurrent use.
type Memory struct {
	now    func() time.Time
	secret [32]byte

	writer sync.Mutex            // held by the one Update that runs
	state  atomic.Pointer[state] // the last commit; never changed once it is here

	gate    sync.Mutex // guards closed, and that no transaction begins after it
	closed  bool
	running sync.WaitGroup
}

var _ metadata.Store = (*Memory)(nil)

// NewMemory makes an empty store with a clock. The caller closes it.
func NewMemory(now func() time.Time) *Memory {
	m := &Memory{now: now}
	rand.Read(m.secret[:])
	m.state.Store(&state{
		access:       1,
		dataspaces:   map[metadata.ID]metadata.Dataspace{},
		sets:         map[metadata.ID]metadata.Set{},
		resources:    map[metadata.ID]metadata.Resource{},
		users:        map[metadata.ID]metadata.User{},
		keys:         map[metadata.ID]metadata.Key{},
		sessions:     map[auth.SessionDigest]metadata.Session{},
		transfers:    map[metadata.ID]metadata.Transfer{},
		privileges:   map[metadata.ID]metadata.Privilege{},
		steps:        map[metadata.ID]metadata.Step{},
		usage:        map[metadata.ID]metadata.Counters{},
		days:         map[dayOf]metadata.Counters{},
		blobs:        map[blobs.Digest]int64{},
		damages:      map[blobs.Digest]metadata.Damage{},
		unreferenced: map[blobs.Digest]metadata.Unreferenced{},
		bodies:       map[metadata.BodyKey][]byte{},
		epoch:        metadata.NewEpoch(0, now()),
	})
	return m
}

// Reopen returns a store that goes on from where m was closed, as the real one does from its file. The caller closes it.
func (m *Memory) Reopen(now func() time.Time) *Memory {
	again := &Memory{now: now, secret: m.secret}
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
	m.writer.Lock()
	defer m.writer.Unlock()
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

// UpdateBehind is Update: nobody waits long for a commit here.
func (m *Memory) UpdateBehind(ctx context.Context, fn func(*metadata.Tx) error) error {
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
func (m *Memory) AccessVersion() uint64 { return m.state.Load().access }

// Secret returns the secret of this store and of those reopened from it.
func (m *Memory) Secret() [32]byte { return m.secret }

// Health tells how far the clock is behind; nothing else can be wrong here.
func (m *Memory) Health() metadata.Health {
	last := time.UnixMicro(int64(m.state.Load().last))
	return metadata.Health{ClockBehind: max(0, last.Sub(m.now()))}
}

// Close waits for the transactions under way.
func (m *Memory) Close() error {
	m.gate.Lock()
	m.closed = true
	m.gate.Unlock()
	m.running.Wait()
	return nil
}

func (m *Memory) begin() error {
	m.gate.Lock()
	defer m.gate.Unlock()
	if m.closed {
		return metadata.ErrClosed
	}
	m.running.Add(1)
	return nil
}

// state is everything that one commit left.
type state struct {
	last         metadata.Stamp
	access       uint64 // version of what decides access
	dataspaces   map[metadata.ID]metadata.Dataspace
	sets         map[metadata.ID]metadata.Set
	resources    map[metadata.ID]metadata.Resource
	users        map[metadata.ID]metadata.User
	keys         map[metadata.ID]metadata.Key
	sessions     map[auth.SessionDigest]metadata.Session
	transfers    map[metadata.ID]metadata.Transfer
	privileges   map[metadata.ID]metadata.Privilege
	steps        map[metadata.ID]metadata.Step
	usage        map[metadata.ID]metadata.Counters
	days         map[dayOf]metadata.Counters
	blobs        map[blobs.Digest]int64
	damages      map[blobs.Digest]metadata.Damage
	unreferenced map[blobs.Digest]metadata.Unreferenced
	bodies       map[metadata.BodyKey][]byte
	scrub        metadata.ScrubState
	epoch        metadata.Epoch
}

// dayOf is a day of a dataspace.
type dayOf struct {
	dataspace metadata.ID
	day       metadata.Day
}

func (s *state) clone() *state {
	return &state{
		last:         s.last,
		access:       s.access,
		dataspaces:   maps.Clone(s.dataspaces),
		sets:         maps.Clone(s.sets),
		resources:    maps.Clone(s.resources),
		users:        maps.Clone(s.users),
		keys:         maps.Clone(s.keys),
		sessions:     maps.Clone(s.sessions),
		transfers:    maps.Clone(s.transfers),
		privileges:   maps.Clone(s.privileges),
		steps:        maps.Clone(s.steps),
		usage:        maps.Clone(s.usage),
		days:         maps.Clone(s.days),
		blobs:        maps.Clone(s.blobs),
		damages:      maps.Clone(s.damages),
		unreferenced: maps.Clone(s.unreferenced),
		bodies:       maps.Clone(s.bodies),
		scrub:        s.scrub,
		epoch:        s.epoch,
	}
}

// decidesAs tells whether the same may do the same as in another state.
func (s *state) decidesAs(o *state) bool {
	return maps.Equal(s.users, o.users) && maps.Equal(s.privileges, o.privileges) && maps.Equal(s.dataspaces, o.dataspaces) &&
		maps.Equal(s.sets, o.sets) && maps.Equal(s.steps, o.steps) && maps.Equal(s.sessions, o.sessions) &&
		maps.EqualFunc(s.keys, o.keys, func(a, b metadata.Key) bool {
			a.LastUsed = b.LastUsed
			return a == b
		})
}

// tx returns the tables of the state, which began as the last one; without a clock they can only be read.
func (s *state) tx(now func() time.Time, last *state) *metadata.Tx {
	mode := access{writes: now != nil}
	return &metadata.Tx{
		Dataspaces:   dataspaces{newTable(mode, s.dataspaces, func(d metadata.Dataspace) metadata.ID { return d.ID })},
		Sets:         sets{newTable(mode, s.sets, func(s metadata.Set) metadata.ID { return s.ID })},
		Resources:    resources{newTable(mode, s.resources, func(r metadata.Resource) metadata.ID { return r.ID })},
		Users:        users{newTable(mode, s.users, func(u metadata.User) metadata.ID { return u.ID })},
		Keys:         keys{newTable(mode, s.keys, func(k metadata.Key) metadata.ID { return k.ID })},
		Sessions:     sessions{mode, s.sessions},
		Transfers:    transfers{mode, s.transfers},
		Privileges:   privileges{newTable(mode, s.privileges, func(p metadata.Privilege) metadata.ID { return p.ID })},
		Steps:        steps{newTable(mode, s.steps, func(s metadata.Step) metadata.ID { return s.Container })},
		Usage:        usage{mode, s.usage, s.days},
		Blobs:        sizes{mode, s.blobs, s.resources},
		Damages:      damages{mode, s.damages},
		Unreferenced: unreferenced{mode, s.unreferenced},
		Bodies:       bodies{mode, s.bodies},
		Scrub:        scrub{mode, &s.scrub},
		Lineage:      lineage{mode, s},
		Stamp: func() metadata.Stamp {
			mode.mustWrite()
			s.last = metadata.NextStamp(s.last, now())
			return s.last
		},
		Access: func() uint64 {
			if s != last && !s.decidesAs(last) {
				return 0
			}
			return last.access
		},
	}
}
