package nodes

import (
	"context"
	"errors"
	"sync"
	"time"

	"labshelf/metadata"
	"labshelf/repository/internal/background"
)

const (
	tick         = time.Second     // minimum time between two renewals
	releaseAfter = 2 * time.Second // time limit for releasing a lease; then it expires
)

// ErrHeld reports that another node holds a lease.
var ErrHeld = errors.New("another node has this lease")

// Wanted describes a lease to take.
type Wanted struct {
	Name   string
	Lasts  time.Duration // without a renewal; the same for all leases with one name
	Detail string

	// Admit, if not nil, can refuse the lease. It is called in the transaction that takes the
	// lease, after the lease is known to be free. now is the clock of the store.
	Admit func(tx *metadata.Tx, now metadata.Stamp) error
	// Alive reports whether to renew the lease. If nil, it is renewed until it is released.
	Alive func() bool
	// Lost, if not nil, is called when another node has the lease, perhaps some time after that
	// node has taken it.
	Lost func()
}

// Lease is a lease that this node has taken. A nil Lease stands for the lease of a store that is
// not shared; it is never lost.
type Lease struct {
	node    *Node
	wanted  Wanted
	fence   metadata.Stamp
	renewed time.Time     // by the clock of this process
	lost    chan struct{} // closed when another node has it
}

// Take takes a lease that is free or has ended. The caller must release it. Take returns ErrHeld,
// the error of Admit, or the error of writing to the store.
func (n *Node) Take(ctx context.Context, w Wanted) (*Lease, error) {
	if n == nil {
		return nil, nil
	}
	l := &Lease{node: n, wanted: w, renewed: time.Now(), lost: make(chan struct{})}
	err := n.meta.Update(ctx, func(tx *metadata.Tx) error {
		now := tx.Now()
		row, err := tx.Leases.Get(w.Name)
		switch {
		case err == nil && Runs(row, w.Lasts, now):
			return ErrHeld
		case err != nil && !errors.Is(err, metadata.ErrNotFound):
			return err
		}
		if w.Admit != nil {
			if err := w.Admit(tx, now); err != nil {
				return err
			}
		}
		l.fence = tx.Stamp()
		return tx.Leases.Put(l.row(now))
	})
	if err != nil {
		return nil, err
	}
	n.leases.add(l)
	return l, nil
}

// Runs reports whether a lease has not ended. A lease whose end is too far ahead was written under
// a clock that has since been set back, and counts as ended.
func Runs(row metadata.Lease, lasts time.Duration, now metadata.Stamp) bool {
	return row.Ends > now && row.Ends <= now+micros(lasts)
}

func micros(d time.Duration) metadata.Stamp { return metadata.Stamp(d / time.Microsecond) }

func (l *Lease) row(now metadata.Stamp) metadata.Lease {
	return metadata.Lease{Name: l.wanted.Name, Holder: l.node.instance, Fence: l.fence, Ends: now + micros(l.wanted.Lasts), Detail: l.wanted.Detail}
}

// verify returns background.ErrLost if another lease, or no lease, has taken the place of this one.
func (l *Lease) verify(tx *metadata.Tx) error {
	row, err := tx.Leases.Get(l.wanted.Name)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && row.Fence != l.fence {
		return background.ErrLost
	}
	return err
}

// Release gives the lease back. All work under it must have ended. Release may be called again.
func (l *Lease) Release() {
	if l == nil || !l.node.leases.remove(l) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseAfter)
	defer cancel()
	_ = l.node.meta.Update(ctx, func(tx *metadata.Tx) error { // on failure, the lease expires
		if err := l.verify(tx); err != nil {
			return err
		}
		return tx.Leases.Remove(l.wanted.Name)
	})
}

// held is a lease in a context, linked to the leases that the context had before.
type held struct {
	*Lease
	before *held
}

type heldKey struct{}

// With returns a context for work under the lease.
func (l *Lease) With(ctx context.Context) context.Context {
	if l == nil {
		return ctx
	}
	before, _ := ctx.Value(heldKey{}).(*held)
	return context.WithValue(ctx, heldKey{}, &held{l, before})
}

// Verified wraps fn so that it first verifies every lease in the context. If one of them is lost,
// it returns background.ErrLost without calling fn.
func Verified(ctx context.Context, fn func(*metadata.Tx) error) func(*metadata.Tx) error {
	last, _ := ctx.Value(heldKey{}).(*held)
	if last == nil {
		return fn
	}
	return func(tx *metadata.Tx) error {
		for h := last; h != nil; h = h.before {
			if err := h.verify(tx); err != nil {
				return err
			}
		}
		return fn(tx)
	}
}

// Fence returns the fencing number of the innermost lease in the context, or 0 without a lease.
func Fence(ctx context.Context) metadata.Stamp {
	if last, _ := ctx.Value(heldKey{}).(*held); last != nil {
		return last.fence
	}
	return 0
}

// leases are the leases that a node holds and renews. They are safe for concurrent use.
type leases struct {
	meta   metadata.Writer
	worker *background.Worker

	mu   sync.Mutex
	held map[*Lease]bool
}

func startLeases(meta metadata.Writer) *leases {
	ls := &leases{meta: meta, held: map[*Lease]bool{}}
	ls.worker = background.Start(background.Idle(), ls.renew)
	return ls
}

func (ls *leases) add(l *Lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.held[l] = true
	if len(ls.held) == 1 {
		ls.worker.Wake()
	}
}

// remove reports whether the lease was held.
func (ls *leases) remove(l *Lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	was := ls.held[l]
	delete(ls.held, l)
	return was
}

// due returns the leases that must be renewed now, and whether the node holds any lease.
func (ls *leases) due() (due []*Lease, any bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.held {
		if time.Since(l.renewed) >= l.wanted.Lasts/4 && (l.wanted.Alive == nil || l.wanted.Alive()) {
			due = append(due, l)
		}
	}
	return due, len(ls.held) > 0
}

// renew renews the leases that are due, in one commit. A lease that could not be renewed before its
// end counts as lost, too: its holder must not continue its other work for ever.
func (ls *leases) renew(ctx context.Context) background.Next {
	due, any := ls.due()
	if !any {
		return background.Idle()
	}
	begun := time.Now()
	var lost map[*Lease]bool
	err := error(nil)
	if len(due) > 0 {
		err = ls.meta.Update(ctx, func(tx *metadata.Tx) error {
			lost = map[*Lease]bool{}
			for _, l := range due {
				switch err := l.verify(tx); {
				case errors.Is(err, background.ErrLost):
					lost[l] = true
					continue
				case err != nil:
					return err
				}
				if err := tx.Leases.Put(l.row(tx.Now())); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ls.settle(due, begun, func(l *Lease) bool {
		return err == nil && lost[l] || err != nil && begun.Sub(l.renewed) >= l.wanted.Lasts
	}, err == nil)
	return background.After(tick)
}

// settle records the outcome of a renewal, and calls Lost for the leases that are lost.
func (ls *leases) settle(due []*Lease, begun time.Time, lost func(*Lease) bool, renewed bool) {
	for _, l := range due {
		switch {
		case lost(l):
			if !ls.remove(l) {
				continue
			}
			close(l.lost)
			if l.wanted.Lost != nil {
				l.wanted.Lost()
			}
		case renewed:
			ls.mu.Lock()
			l.renewed = begun
			ls.mu.Unlock()
		}
	}
}
