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
	tick         = time.Second     // between two renewals, at least
	releaseAfter = 2 * time.Second // for which giving back a lease may take, before it is left to end by itself
)

// ErrHeld says that another node has a lease.
var ErrHeld = errors.New("another node has this lease")

// Wanted says which lease to take.
type Wanted struct {
	Name   string
	Lasts  time.Duration // without a renewal; the same for all leases of a name
	Detail string

	// Admit refuses in the transaction that takes the lease, after it is known to be free; nil:
	// nothing does. now is the clock of the store.
	Admit func(tx *metadata.Tx, now metadata.Stamp) error
	// Alive tells whether the lease is to be renewed still; nil: until it is released.
	Alive func() bool
	// Lost is called when another node has the lease, perhaps some time after it has taken it; nil:
	// nobody hears of that.
	Lost func()
}

// Lease is one that this node has taken. A nil Lease is that of a store which is not shared: it is
// never lost.
type Lease struct {
	node    *Node
	wanted  Wanted
	fence   metadata.Stamp
	renewed time.Time     // by the clock of this process
	lost    chan struct{} // closed when another node has it
}

// Take takes a lease that no node has, or one that has ended. The caller releases it. It returns
// ErrHeld, the refusal of Admit, or why the store could not be written.
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

// Runs tells whether a lease has not ended. One that ends later than it could is that of a clock
// that was set back.
func Runs(row metadata.Lease, lasts time.Duration, now metadata.Stamp) bool {
	return row.Ends > now && row.Ends <= now+micros(lasts)
}

func micros(d time.Duration) metadata.Stamp { return metadata.Stamp(d / time.Microsecond) }

func (l *Lease) row(now metadata.Stamp) metadata.Lease {
	return metadata.Lease{Name: l.wanted.Name, Holder: l.node.instance, Fence: l.fence, Ends: now + micros(l.wanted.Lasts), Detail: l.wanted.Detail}
}

// verify returns background.ErrLost where the lease is not this one any more.
func (l *Lease) verify(tx *metadata.Tx) error {
	row, err := tx.Leases.Get(l.wanted.Name)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && row.Fence != l.fence {
		return background.ErrLost
	}
	return err
}

// Release gives the lease back. What is done under it has ended. It may be called again.
func (l *Lease) Release() {
	if l == nil || !l.node.leases.remove(l) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseAfter)
	defer cancel()
	_ = l.node.meta.Update(ctx, func(tx *metadata.Tx) error { // or it ends by itself
		if err := l.verify(tx); err != nil {
			return err
		}
		return tx.Leases.Remove(l.wanted.Name)
	})
}

// held is a lease in a context, with those that the context had before.
type held struct {
	*Lease
	before *held
}

type heldKey struct{}

// With returns a context for what is done under the lease.
func (l *Lease) With(ctx context.Context) context.Context {
	if l == nil {
		return ctx
	}
	before, _ := ctx.Value(heldKey{}).(*held)
	return context.WithValue(ctx, heldKey{}, &held{l, before})
}

// Verified returns fn, which then fails with background.ErrLost, before it does anything, where one
// of the leases in the context is lost.
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

// Fence returns the fencing number of the lease under which something is done; 0: of none.
func Fence(ctx context.Context) metadata.Stamp {
	if last, _ := ctx.Value(heldKey{}).(*held); last != nil {
		return last.fence
	}
	return 0
}

// leases are what a node has taken, and renews. They are safe for concurrent use.
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

// remove tells whether the lease was held.
func (ls *leases) remove(l *Lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	was := ls.held[l]
	delete(ls.held, l)
	return was
}

// due returns the leases to be renewed, and whether there are any at all.
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

// renew renews what is due, in one commit. A lease that could not be renewed until it ended is
// lost, too: what its holder does besides commits is not to go on for ever.
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

// settle notes what has become of a renewal, and tells the holders of those that are lost.
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
