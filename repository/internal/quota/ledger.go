package quota

import (
	"context"
	"io"
	"sync"

	"labshelf/metadata"
)

const (
	// step is the maximum number of bytes that an upload reserves ahead; it reserves no more ahead
	// than it has received.
	step = 1 << 20
	// most is the maximum of a single reservation, so that sums do not overflow. The commit checks
	// the full length.
	most = 1 << 46
)

// Ledger holds the reservations of uploads in progress. It is safe for concurrent use.
type Ledger struct {
	view   func(context.Context, func(*metadata.Tx) error) error
	shared bool

	mu       sync.Mutex
	reserved map[metadata.ID]int64        // by dataspace and by user
	settling map[metadata.ID]int64        // the part of reserved that commits in progress are adding
	uploads  map[metadata.ID]*Reservation // by resumable upload
	settled  chan struct{}                // closed when a commit has ended
}

// NewLedger returns an empty ledger that reads counters through view. With shared, other processes
// add to the same counters, and the ledger does not know their uploads. It then ignores
// reservations, and an upload may be refused only at its end.
func NewLedger(view func(context.Context, func(*metadata.Tx) error) error, shared bool) *Ledger {
	return &Ledger{
		view: view, shared: shared, reserved: map[metadata.ID]int64{}, settling: map[metadata.ID]int64{}, uploads: map[metadata.ID]*Reservation{},
		settled: make(chan struct{}),
	}
}

// Reservation is the space that one upload has reserved. A nil Reservation reserves nothing and
// grants every request. A Reservation is not safe for concurrent use.
type Reservation struct {
	ledger   *Ledger
	at       Place
	bytes    int64
	settling bool
}

// Begin returns an empty reservation. The caller must release it.
func (l *Ledger) Begin(at Place) *Reservation {
	return &Reservation{ledger: l, at: at}
}

// Check is the function Check, but it counts reserved bytes as used. It is for changes that add
// bytes without a reservation.
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

// room returns how many bytes a reservation may have. If that is less than it needs, room returns
// the refusal, and whether a commit in progress may change the result.
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

// Grow reserves need bytes in total, and up to want if there is room. It returns an error if need
// bytes do not fit.
func (r *Reservation) Grow(ctx context.Context, need, want int64) error {
	return r.ask(ctx, need, func(free int64) { r.ledger.set(r, min(max(need, want), free)) })
}

// Fits returns an error if an upload of this length does not fit. It reserves nothing, since a
// client can announce any length.
func (r *Reservation) Fits(ctx context.Context, bytes int64) error {
	return r.ask(ctx, bytes, func(int64) {})
}

// ask calls grant, under the lock of the ledger, if there is room for need bytes in total.
// Otherwise it returns the refusal. The bytes of a commit in progress may be in the counters and
// still be reserved. If the result depends on them, ask waits for the end of the commit.
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

// set changes the size of a reservation.
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

// Settle reserves the full length of a received file, and marks the beginning of the commit that
// adds it to the counters. Release marks its end, or Keep if the upload continues.
func (r *Reservation) Settle(ctx context.Context, bytes int64) error {
	if err := r.Grow(ctx, bytes, bytes); err != nil || r == nil {
		return err
	}
	r.change(true, min(bytes, most))
	return nil
}

// Keep marks a commit as failed and keeps the reservation.
func (r *Reservation) Keep() {
	if r != nil {
		r.change(false, r.bytes)
	}
}

// Shrink reduces the reservation to at most this many bytes.
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

// Release gives up the reservation. It may be called again.
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

// Reader returns a body that reserves the bytes it reads. before is the number of bytes of the
// upload that were received earlier. Read fails with the refusal if there is no more room.
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

// Hold stores the reservation of a resumable upload for OfUpload.
func (l *Ledger) Hold(upload metadata.ID, r *Reservation) {
	if l.shared { // the upload may end in another process
		r.Release()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uploads[upload] = r
}

// OfUpload returns the reservation of a resumable upload, or nil.
func (l *Ledger) OfUpload(upload metadata.ID) *Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uploads[upload]
}

// Ended releases and removes the reservation of a resumable upload.
func (l *Ledger) Ended(upload metadata.ID) {
	r := l.OfUpload(upload)
	r.Release()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.uploads, upload)
}

// Restore reserves the received bytes of a resumable upload that began before a restart of the
// service, even if they do not fit.
func (l *Ledger) Restore(upload metadata.ID, at Place, bytes int64) {
	r := l.Begin(at)
	r.change(false, min(bytes, most))
	l.Hold(upload, r)
}

// Reserved returns the number of bytes reserved in a dataspace, or for a user.
func (l *Ledger) Reserved(of metadata.ID) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved[of]
}
