// Package events lets callers follow the audit log while it grows: what has happened to which
// object, by ids and kinds alone.
//
// A stream has a position in the log. Its events come in the order of the log, once each, and only
// those that the caller may hear of when they are read: permission is asked in the transaction that
// reads the entry, with the caller as it is then. A caller whose key, session or user has ended has
// no stream any more. Nothing is in a stream that a power cut could take back.
//
// Nothing polls: a stream waits until the log has grown, or until its heartbeat is due. What grows
// the log often is read together, at most every 100 ms, so that the work of a stream does not grow
// with the number of commits.
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
	// MaxStreams is how many streams a service has at a time.
	MaxStreams = 1000
	// MaxPerUser is how many of them one user may have.
	MaxPerUser = 32
	// MaxBehind is how many entries of the log a stream may begin in the past; from further back it
	// begins with Reload.
	MaxBehind = 10_000
	// Heartbeat is after how long a stream without events is heard of, and its caller looked at
	// again.
	Heartbeat = 15 * time.Second

	interval   = 100 * time.Millisecond // between two reads of a stream that has read all
	maxScanned = 1024                   // entries that one read transaction looks at
	maxEvents  = 256                    // that it returns
)

// Reload is the kind of the event that stands for everything that the caller may have missed.
const Reload = "reload"

// Event is what happened to an object. It has no texts, so that nothing in it is to be erased
// later.
type Event struct {
	ID        string // <epoch>.<number of the entry>
	Kind      string // word of the action, or Reload
	Object    audit.Object
	Dataspace metadata.ID // that the object is in, or is; zero: none
	Set       metadata.ID // likewise
}

// Batch is what a stream has next.
type Batch struct {
	Events []Event // in the order of the log; none: a heartbeat
	ID     string  // up to where the log was looked at: a stream that begins after it misses nothing; "" while the log is empty
	Moved  bool    // ID is another one than that of the batch before
}

// Rules are what a stream asks of the repository.
type Rules interface {
	// View runs fn in a read transaction with the caller as it is then, and waits until what fn saw
	// is on stable storage. The error is of the kind Unauthenticated where there is no such caller
	// any more.
	View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error
	// MayRead tells whether the caller may read a dataspace and what is in it.
	MayRead(tx *metadata.Tx, p auth.Principal, dataspace metadata.ID) (bool, error)
}

// Streams are all streams of a service. It is safe for concurrent use.
type Streams struct {
	rules  Rules
	closed chan struct{}
	close  func()

	mu     sync.Mutex
	open   int
	byUser map[metadata.ID]int
	grown  chan struct{} // closed when the log grows; nil: nobody waits for that
}

// New returns Streams without a stream.
func New(rules Rules) *Streams {
	s := &Streams{rules: rules, closed: make(chan struct{}), byUser: map[metadata.ID]int{}}
	s.close = sync.OnceFunc(func() { close(s.closed) })
	return s
}

// Close ends all streams and refuses others. It may be called again.
func (s *Streams) Close() { s.close() }

// Count returns the number of open streams.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Grown is called when the audit log has grown, and that is on stable storage.
func (s *Streams) Grown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// growth is closed when the log grows from now on.
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

// Stream is one caller's. It is for one goroutine. The caller of Open closes it.
type Stream struct {
	streams *Streams
	caller  auth.Principal
	epoch   metadata.EpochID
	next    uint64 // number of the entry that was not looked at yet
	shown   string // the ID of the batch before
	reload  bool   // what comes next is that event
	begun   bool   // the first batch was returned
	read    time.Time
}

// Open begins a stream: after the event with an id, or from now where that is "". An id of another
// epoch, of the future, from too far back or of another form begins with Reload, then from now.
// Errors: CodeTooManyStreams, of the kind TooManyRequests where the user has MaxPerUser, and
// Unavailable where the service has MaxStreams.
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

// reserve counts a stream.
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
			Message: fmt.Sprintf("you follow %d streams of events already; close one first", MaxPerUser)}
	}
	if s.open >= MaxStreams {
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeTooManyStreams,
			Message: fmt.Sprintf("the service has %d streams of events, and no more at a time", MaxStreams)}
	}
	s.open++
	s.byUser[user]++
	return nil
}

// Close ends the stream. It is called once.
func (st *Stream) Close() {
	s, user := st.streams, st.caller.UserID
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// begin finds the position behind an id.
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

// Next returns what comes next: at once for the first time, then when there are events, or a
// heartbeat. It fails when the caller has no stream any more, when ctx or the Streams have ended,
// and when the log cannot be read; the stream is to be closed then.
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

// wait returns when the log has grown and the stream may read again, or when the heartbeat is due.
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

// load reads the next events; more is whether there are entries beyond them.
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

// id names the entry before a position.
func (st *Stream) id(next uint64) string {
	if next == 0 {
		return ""
	}
	return fmt.Sprintf("%s.%d", st.epoch, next-1)
}

// hear adds the event of an entry, if the caller may hear of it. An epoch begins only while the
// service is stopped: a stream that meets that entry was begun with an id that nobody was given.
func (st *Stream) hear(tx *metadata.Tx, p auth.Principal, number uint64, b *Batch) (reload bool, err error) {
	e, epoch, err := rows.ReadEntry(tx, number, st.epoch)
	if err != nil || epoch != st.epoch || e.Action == audit.EpochBegin {
		return err == nil, err
	}
	in, err := rows.ContainersOf(tx, e)
	if err != nil || e.Action.String() == "" {
		return false, err
	}
	allowed, err := st.mayHear(tx, p, e, in.Dataspace)
	if err == nil && allowed {
		b.Events = append(b.Events, Event{
			ID: st.id(number + 1), Kind: e.Action.String(), Object: e.Object, Dataspace: in.Dataspace, Set: in.Set,
		})
	}
	return false, err
}

// mayHear tells whether the caller may hear of an entry: of dataspaces, their roles, sets and
// resources whoever may read them; of keys and sessions their own user; of everything else
// sysadmins only.
func (st *Stream) mayHear(tx *metadata.Tx, p auth.Principal, e audit.Entry, dataspace metadata.ID) (bool, error) {
	if p.Sysadmin {
		return true, nil
	}
	switch e.Object.Kind {
	case audit.Dataspace, audit.Set, audit.Resource:
		return st.streams.rules.MayRead(tx, p, dataspace)
	case audit.Key:
		return e.Subject == p.UserID, nil
	}
	session := e.Action == audit.SessionBegin || e.Action == audit.SessionEnd
	return session && e.User == p.UserID, nil
}
