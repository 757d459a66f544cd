package quota

import (
	"context"
	"io"
	"sync"

	"labshelf/metadata"
)

const (
	// step is how many bytes an upload reserves ahead, at most: as many as have come.
	step = 1 << 20
	// most is the greatest single reservation, so that sums do not overflow: the commit asks for
	// the rest.
	most = 1 << 46
)

// Ledger is what uploads under way have reserved. It is safe for concurrent use.
type Ledger struct {
	view   func(context.Context, func(*metadata.Tx) error) error
	shared bool

	mu       sync.Mutex
	reserved map[metadata.ID]int64        // in each dataspace, and for each user
	settling map[metadata.ID]int64        // of that, by commits that are under way
	uploads  map[metadata.ID]*Reservation // of resumable uploads
	settled  chan struct{}                // is closed when a commit has ended
}

// NewLedger returns an empty one, which reads counters by view. Where the counters are shared with
// other processes, whose uploads it does not know, nothing is reserved: an upload may be refused
// when it ends.
func NewLedger(view func(context.Context, func(*metadata.Tx) error) error, shared bool) *Ledger {
	return &Ledger{
		view: view, shared: shared, reserved: map[metadata.ID]int64{}, settling: map[metadata.ID]int64{}, uploads: map[metadata.ID]*Reservation{},
		settled: make(chan struct{}),
	}
}

// Reservation is what one upload has reserved. A nil one has nothing, and what it is asked for is
// granted. It is not safe for concurrent use.
type Reservation struct {
	ledger   *Ledger
	at       Place
	bytes    int64
	settling bool
}

// Begin returns a reservation of nothing, which the caller ends with Release.
func (l *Ledger) Begin(at Place) *Reservation {
	return &Reservation{ledger: l, at: at}
}

// Check is the function Check, in which what uploads have reserved counts as used. It is for what
// adds bytes without a reservation.
func (l *Ledger) Check(tx *metadata.Tx, at Place, bytes int64) error {
	all, err := limits(tx, at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err, _ = l.room(all, &Reservation{}, bytes)
	return err
}

// room returns how many bytes a reservation may have, or why not so many as it needs, and whether a
// commit under way may change that.
func (l *Ledger) room(all []limit, r *Reservation, need int64) (free int64, refused error, wait bool) {
	free = most
	for _, limit := range all {
		others := l.reserved[limit.of] - r.bytes
		if l.shared {
			others = 0
		}
		room := limit.quota - limit.used - others
		if free = min(free, room); need > room {
			return free, limit.exceeded(need, others), need <= room+l.settling[limit.of]
		}
	}
	return free, nil, false
}

// Grow reserves need bytes in all, and up to want if there is room for them, or returns the
// refusal.
func (r *Reservation) Grow(ctx context.Context, need, want int64) error {
	return r.ask(ctx, need, func(free int64) { r.ledger.set(r, min(max(need, want), free)) })
}

// Fits returns the refusal of an upload of so many bytes, and reserves nothing: a client can
// announce any length.
func (r *Reservation) Fits(ctx context.Context, bytes int64) error {
	return r.ask(ctx, bytes, func(int64) {})
}

// ask calls grant, under the lock of the ledger, if there is room for need bytes in all, or
// returns the refusal. Bytes that a commit adds at this moment may be in the counters and still be
// reserved: if the answer depends on them, ask waits for the end of the commit.
func (r *Reservation) ask(ctx context.Context, need int64, grant func(free int64)) error {
	if r == nil || need <= r.bytes {
		return nil
	}
	l := r.ledger
	for {
		var all []limit
		err := l.view(ctx, func(tx *metadata.Tx) (err error) {
			all, err = limits(tx, r.at)
			return err
		})
		if err != nil {
			return err
		}
		l.mu.Lock()
		free, refused, wait := l.room(all, r, need)
		settled := l.settled
		if refused == nil {
			grant(free)
		}
		l.mu.Unlock()
		if !wait {
			return refused
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return refused
		}
	}
}

// set changes what is reserved.
func (l *Ledger) set(r *Reservation, bytes int64) {
	for _, of := range [...]metadata.ID{r.at.Dataspace, r.at.User} {
		if l.reserved[of] += bytes - r.bytes; l.reserved[of] == 0 {
			delete(l.reserved, of)
		}
		if !r.settling {
			continue
		}
		if l.settling[of] += bytes - r.bytes; l.settling[of] == 0 {
			delete(l.settling, of)
		}
	}
	r.bytes = bytes
}

// Settle reserves the length of a file that has come, and says that the commit which adds it to the
// counters begins. It ends with Release, or with Keep where the upload goes on.
func (r *Reservation) Settle(ctx context.Context, bytes int64) error {
	if err := r.Grow(ctx, bytes, bytes); err != nil || r == nil {
		return err
	}
	r.change(true, min(bytes, most))
	return nil
}

// Keep says that the commit has failed.
func (r *Reservation) Keep() {
	if r != nil {
		r.change(false, r.bytes)
	}
}

// Shrink reserves no more than so many bytes.
func (r *Reservation) Shrink(bytes int64) {
	if r == nil {
		return
	}
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	if bytes < r.bytes {
		r.ledger.set(r, bytes)
	}
}

// Release gives back what is reserved. Calling it again does nothing.
func (r *Reservation) Release() {
	if r != nil {
		r.change(false, 0)
	}
}

func (r *Reservation) change(settling bool, bytes int64) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(r, 0)
	if r.settling && !settling {
		close(l.settled)
		l.settled = make(chan struct{})
	}
	r.settling = settling
	l.set(r, bytes)
}

// Reader returns a body that reserves what it reads of an upload of which so many bytes have come
// before. It ends with the refusal if there is no more room.
func (r *Reservation) Reader(ctx context.Context, body io.Reader, before int64) io.Reader {
	if r == nil {
		return body
	}
	return &reader{Reader: body, read: before, grow: func(read int64) error { return r.Grow(ctx, read, read+min(read, step)) }}
}

type reader struct {
	io.Reader
	grow func(read int64) error
	read int64
}

func (b *reader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += int64(n)
	if refused := b.grow(b.read); refused != nil {
		return 0, refused
	}
	return n, err
}

// Hold keeps the reservation of a resumable upload for OfUpload.
func (l *Ledger) Hold(upload metadata.ID, r *Reservation) {
	if l.shared { // it may end in another process
		r.Release()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uploads[upload] = r
}

// OfUpload returns the reservation of a resumable upload, nil where it has none.
func (l *Ledger) OfUpload(upload metadata.ID) *Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uploads[upload]
}

// Ended releases the reservation of a resumable upload.
func (l *Ledger) Ended(upload metadata.ID) {
	r := l.OfUpload(upload)
	r.Release()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.uploads, upload)
}

// Restore reserves what has come of a resumable upload that a service has taken over from one
// before, whether or not there is room.
func (l *Ledger) Restore(upload metadata.ID, at Place, bytes int64) {
	r := l.Begin(at)
	r.change(false, min(bytes, most))
	l.Hold(upload, r)
}

// Reserved returns how many bytes are reserved in a dataspace, or for a user.
func (l *Ledger) Reserved(of metadata.ID) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved[of]
}
