// Package events lets callers follow the audit log as it grows. Events say which action concerned
// which object, by ids and kinds only.
//
// A stream has a position in the log. Its events arrive in the order of the log, once each. A
// stream contains only events that the caller may see when they are read: the transaction that
// reads an entry checks the permissions of the present caller. The stream ends when the caller's
// key, session or user ends. Streams contain only data on stable storage, which a power failure
// cannot undo.
//
// Nothing polls: a stream waits until the log has grown or its heartbeat is due. Frequent entries
// are read together, at most every 100 ms, so that the cost of a stream does not grow with the
// number of commits.
package events

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

const (
	// MaxStreams is the maximum number of open streams of a service.
	MaxStreams = 1000
	// MaxPerUser is the maximum number of open streams of one user.
	MaxPerUser = 32
	// MaxBehind is how many entries back a stream may begin. From further back, it begins with
	// Reload.
	MaxBehind = 10_000
	// Heartbeat is the maximum time between two batches of a stream, and between two checks of its
	// caller.
	Heartbeat = 15 * time.Second

	interval   = 100 * time.Millisecond // between two reads of a stream that is up to date
	maxScanned = 1024                   // maximum entries that one read transaction examines
	maxEvents  = 256                    // maximum events that it returns
)

// Reload is the kind of the event that stands for all events that the caller may have missed.
const Reload = "reload"

// Event is an action on an object. It contains no texts, so that nothing has to be erased later.
type Event struct {
	ID        string // <epoch>.<number of the entry>
	Kind      string // name of the action, or Reload
	Object    audit.Object
	Dataspace metadata.ID // dataspace of the object, or the object itself; zero without one
	Set       metadata.ID // set of the object, or the object itself; zero without one
}

// Batch is the next part of a stream.
type Batch struct {
	Events []Event // in the order of the log; empty for a heartbeat
	ID     string  // last entry examined, where another stream can continue; "" for an empty log
	Moved  bool    // ID differs from the ID of the previous batch
}

// Rules contains the functions of the repository that streams need.
type Rules interface {
	// View runs fn in a read transaction with the present state of the caller, and waits until the
	// data that fn has read is on stable storage. It returns an error of the kind Unauthenticated
	// if the caller is no longer valid.
	View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error
	// MayRead reports whether the caller may read a dataspace or, if set is not zero, a set in it.
	MayRead(tx *metadata.Tx, p auth.Principal, dataspace, set metadata.ID) (bool, error)
}

// Streams holds all streams of a service. It is safe for concurrent use.
type Streams struct {
	rules  Rules
	closed chan struct{}
	close  func()

	mu     sync.Mutex
	open   int
	byUser map[metadata.ID]int
	grown  chan struct{} // closed when the log grows; nil if no stream waits
}

// New returns Streams without open streams.
func New(rules Rules) *Streams {
	s := &Streams{rules: rules, closed: make(chan struct{}), byUser: map[metadata.ID]int{}}
	s.close = sync.OnceFunc(func() { close(s.closed) })
	return s
}

// Close ends all streams and refuses new ones. It may be called again.
func (s *Streams) Close() { s.close() }

// Count returns the number of open streams.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Grown must be called when the audit log has grown and the new entries are on stable storage.
func (s *Streams) Grown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// growth returns a channel that is closed when the log next grows.
func (s *Streams) growth() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown == nil {
		s.grown = make(chan struct{})
	}
	return s.grown
}

func closing() error {
	return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the service is shutting down"}
}

// Stream is the stream of one caller. It must not be used from several goroutines concurrently. The
// caller of Open must close it.
type Stream struct {
	streams *Streams
	caller  auth.Principal
	epoch   metadata.EpochID
	next    uint64 // number of the next entry to examine
	shown   string // ID of the previous batch
	reload  bool   // the next event is Reload
	begun   bool   // the first batch has been returned
	read    time.Time
}

// Open begins a stream after the event with an id, or now if after is "". If the id is malformed,
// from another epoch, in the future or too far back, the stream begins with Reload and continues
// from now. Open returns CodeTooManyStreams if the user has MaxPerUser streams (kind
// TooManyRequests) or the service has MaxStreams (kind Unavailable).
func (s *Streams) Open(ctx context.Context, p auth.Principal, after string) (*Stream, error) {
	if err := s.reserve(p.UserID); err != nil {
		return nil, err
	}
	st := &Stream{streams: s, caller: p}
	err := s.rules.View(ctx, p, func(tx *metadata.Tx, _ auth.Principal) error { return st.begin(tx, after) })
	if err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

// reserve counts a new stream, or returns an error if there are too many.
func (s *Streams) reserve(user metadata.ID) error {
	select {
	case <-s.closed:
		return closing()
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byUser[user] >= MaxPerUser {
		return &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyStreams,
			Message: fmt.Sprintf("you already have %d event streams open; close one first", MaxPerUser)}
	}
	if s.open >= MaxStreams {
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeTooManyStreams,
			Message: fmt.Sprintf("the service already has %d event streams, the maximum; try again later", MaxStreams)}
	}
	s.open++
	s.byUser[user]++
	return nil
}

// Close ends the stream. It must be called once.
func (st *Stream) Close() {
	s, user := st.streams, st.caller.UserID
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// begin sets the position after an id.
func (st *Stream) begin(tx *metadata.Tx, after string) error {
	log, err := tx.Audit.State()
	if err != nil {
		return err
	}
	epoch, err := tx.Lineage.Epoch()
	if err != nil {
		return err
	}
	st.epoch, st.next = epoch.ID, log.Size
	if after == "" {
		return nil
	}
	of, text, _ := strings.Cut(after, ".")
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil || of != epoch.ID.String() || number >= log.Size || log.Size-number-1 > MaxBehind {
		st.reload = true
		return nil
	}
	st.next = number + 1
	return nil
}

// Next returns the next batch: immediately for the first call, and then when there are events or a
// heartbeat is due. It returns an error if the caller is no longer valid, if ctx or the Streams
// have ended, or if the log cannot be read. The caller must then close the stream.
func (st *Stream) Next(ctx context.Context) (b Batch, err error) {
	beat := time.NewTimer(Heartbeat)
	defer beat.Stop()
	for due := !st.begun; ; {
		grown := st.streams.growth()
		more := false
		if b, more, err = st.load(ctx); err != nil {
			return b, err
		}
		if len(b.Events) > 0 || due {
			st.begun, st.shown = true, b.ID
			return b, nil
		}
		if more {
			continue
		}
		if due, err = st.wait(ctx, grown, beat.C); err != nil {
			return b, err
		}
	}
}

// wait returns when the log has grown and the stream may read again. due is true if the heartbeat
// is due.
func (st *Stream) wait(ctx context.Context, grown <-chan struct{}, beat <-chan time.Time) (due bool, err error) {
	for _, event := range []<-chan struct{}{grown, nil} {
		var pause <-chan time.Time
		if event == nil {
			pause = time.After(interval - time.Since(st.read))
		}
		select {
		case <-event:
		case <-pause:
		case <-beat:
			return true, nil
		case <-st.streams.closed:
			return false, closing()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

// load reads the next events. more reports whether entries follow them.
func (st *Stream) load(ctx context.Context) (b Batch, more bool, err error) {
	select {
	case <-st.streams.closed:
		return b, false, closing()
	default:
	}
	var next uint64
	reload := st.reload
	err = st.streams.rules.View(ctx, st.caller, func(tx *metadata.Tx, p auth.Principal) error {
		b, next, reload = Batch{}, st.next, st.reload
		log, err := tx.Audit.State()
		if err != nil {
			return err
		}
		for last := min(log.Size, next+maxScanned); !reload && next < last && len(b.Events) < maxEvents; next++ {
			if reload, err = st.hear(tx, p, next, &b); err != nil {
				return err
			}
		}
		if reload {
			next = log.Size
			b.Events = []Event{{Kind: Reload, ID: st.id(next)}}
		}
		more = next < log.Size
		return nil
	})
	if st.read = time.Now(); err != nil {
		return Batch{}, false, err
	}
	st.next, st.reload = next, false
	b.ID = st.id(next)
	b.Moved = b.ID != st.shown
	return b, more, nil
}

// id returns the id of the entry before a position.
func (st *Stream) id(next uint64) string {
	if next == 0 {
		return ""
	}
	return fmt.Sprintf("%s.%d", st.epoch, next-1)
}

// hear adds the event of an entry if the caller may see it. Epochs begin only while the service is
// stopped, so a stream that reads the beginning of an epoch was opened with an id that the service
// has not issued. reload is then true.
func (st *Stream) hear(tx *metadata.Tx, p auth.Principal, number uint64, b *Batch) (reload bool, err error) {
	e, epoch, err := rows.ReadEntry(tx, number, st.epoch)
	if err != nil || epoch != st.epoch || e.Action == audit.EpochBegin {
		return err == nil, err
	}
	in, err := rows.ContainersOf(tx, e)
	if err != nil || e.Action.String() == "" {
		return false, err
	}
	allowed, err := st.mayHear(tx, p, e, in)
	if err == nil && allowed {
		b.Events = append(b.Events, Event{
			ID: st.id(number + 1), Kind: e.Action.String(), Object: e.Object, Dataspace: in.Dataspace, Set: in.Set,
		})
	}
	return false, err
}

// mayHear reports whether the caller may see an entry. Callers who may read a dataspace see the
// entries about it, its roles, sets and resources. Users see the entries about their own keys and
// sessions. Only sysadmins see the others.
func (st *Stream) mayHear(tx *metadata.Tx, p auth.Principal, e audit.Entry, in rows.Containers) (bool, error) {
	if p.Sysadmin {
		return true, nil
	}
	switch e.Object.Kind {
	case audit.Dataspace, audit.Set, audit.Resource:
		return st.streams.rules.MayRead(tx, p, in.Dataspace, in.Set)
	case audit.Key:
		return e.Subject == p.UserID && !p.Limits.Narrow(), nil
	}
	session := e.Action == audit.SessionBegin || e.Action == audit.SessionEnd
	return session && e.User == p.UserID && !p.Limits.Narrow(), nil
}
