package nodes

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
)

const (
	// BackgroundLease is the lease of the node that works in the background.
	BackgroundLease = "background"

	backgroundLasts = 8 * time.Second
	poll            = time.Second      // between two looks at the log and the lease
	announceEvery   = 20 * time.Second // and then the node says that it runs
	sweepEvery      = 10 * time.Minute // and then the leases that have ended are removed
	runsAfter       = time.Minute      // after which a node that has not said so counts as gone
)

// Config is what a node says of itself, and what it calls.
type Config struct {
	Name    string // "": that of the machine
	Version string
	// Moved is called when the audit log has grown, perhaps by commits of this node alone. It
	// returns soon.
	Moved func()
	// Failed hears how taking part goes; a nil error: well.
	Failed func(error)
}

// Node is this process among those that share a store. A nil Node is that of a store which is not
// shared. It is safe for concurrent use.
type Node struct {
	meta     metadata.Transactions
	config   Config
	instance metadata.ID
	schema   uint32
	leases   *leases
	watcher  *background.Worker

	// Of the watcher alone.
	size      uint64         // entries of the log when it was looked at last
	since     metadata.Stamp // when this node said first that it runs; 0: it has not
	announced time.Time      // when it said so last
	swept     time.Time
	row       metadata.Lease // of the background, as it was seen last
	seen      time.Time      // since when it has been so; zero: it was not looked at

	mu      sync.Mutex
	duty    *Lease // of the background; nil: another node may have it
	workers []*background.Worker
}

// Start begins to take part; nil where the store is not shared. The caller ends it with Close.
func Start(meta metadata.Store, c Config) *Node {
	engine := meta.Engine()
	if !engine.Shared {
		return nil
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // "" where it has none
	}
	n := &Node{meta: meta, config: c, instance: metadata.NewID(metadata.Stamp(time.Now().UnixMicro())), schema: engine.Schema, leases: startLeases(meta)}
	n.watcher = background.Start(background.Next{}, n.watch)
	return n
}

// Close gives everything back, so that other nodes go on at once. What works in the background has
// ended, and what holds a lease.
func (n *Node) Close() {
	if n == nil {
		return
	}
	n.watcher.Close()
	n.onDuty().Release()
	n.leases.worker.Close()
	ctx, cancel := context.WithTimeout(context.Background(), releaseAfter)
	defer cancel()
	_ = n.meta.Update(ctx, func(tx *metadata.Tx) error { return tx.Nodes.Remove(n.instance) }) // or others remove it later
}

// Shared tells whether there may be other nodes.
func (n *Node) Shared() bool { return n != nil }

// Work is background.Start for a task that one node does at a time. It runs when this node begins
// to work in the background, then as it asks for itself. Its context ends when another node has
// taken over, and carries the lease.
func (n *Node) Work(first background.Next, task background.Task) *background.Worker {
	if n == nil {
		return background.Start(first, task)
	}
	w := background.Start(background.Next{}, func(ctx context.Context) background.Next {
		duty := n.onDuty()
		if duty == nil {
			return background.Idle() // until this node takes over
		}
		ctx, cancel := context.WithCancel(duty.With(ctx))
		defer cancel()
		go func() {
			select {
			case <-duty.lost:
				cancel()
			case <-ctx.Done():
			}
		}()
		return task(ctx)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.workers = append(slices.DeleteFunc(n.workers, ended), w)
	return w
}

func ended(w *background.Worker) bool {
	select {
	case <-w.Done():
		return true
	default:
		return false
	}
}

// Works tells whether this node works in the background.
func (n *Node) Works() bool { return n == nil || n.onDuty() != nil }

func (n *Node) onDuty() *Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.duty
}

// watch looks at what other nodes do, and says that this one runs.
func (n *Node) watch(ctx context.Context) background.Next {
	err := n.look(ctx)
	if err == nil && (n.announced.IsZero() || time.Since(n.announced) >= announceEvery) {
		err = n.announce(ctx)
	}
	if err == nil && n.onDuty() != nil && time.Since(n.swept) >= sweepEvery {
		err = n.sweep(n.onDuty().With(ctx))
	}
	n.config.Failed(err)
	return background.After(poll)
}

// maxSwept is how many leases one commit removes.
const maxSwept = 500

// sweep removes leases that have ended: those whose holder is gone, and those that nobody releases.
func (n *Node) sweep(ctx context.Context) error {
	n.swept = time.Now()
	for more := true; more; {
		err := n.meta.UpdateBackground(ctx, Verified(ctx, func(tx *metadata.Tx) error {
			var over []string
			for l, err := range tx.Leases.Under("") {
				if err != nil {
					return err
				}
				if l.Ends <= tx.Now() {
					over = append(over, l.Name)
				}
				if len(over) == maxSwept {
					break
				}
			}
			more = len(over) == maxSwept
			for _, name := range over {
				if err := tx.Leases.Remove(name); err != nil {
					return err
				}
			}
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) look(ctx context.Context) error {
	var size uint64
	var row metadata.Lease
	err := n.meta.View(ctx, func(tx *metadata.Tx) error {
		tx.Prefetch(func() {
			_, _ = tx.Audit.State()
			_, _ = tx.Leases.Get(BackgroundLease)
		})
		log, err := tx.Audit.State()
		if err != nil {
			return err
		}
		size = log.Size
		row, err = tx.Leases.Get(BackgroundLease)
		return errs.Ignore(err, metadata.ErrNotFound)
	})
	if err != nil {
		return err
	}
	if size != n.size {
		n.size = size
		n.config.Moved()
	}
	if n.onDuty() != nil || !n.mayBeFree(row) {
		return nil
	}
	return errs.Ignore(n.takeOver(ctx), ErrHeld)
}

// mayBeFree tells whether it is time to ask for the lease of the background: nobody has it, or its
// row has not changed for as long as it lasts, or it was not looked at before.
func (n *Node) mayBeFree(row metadata.Lease) bool {
	known := !n.seen.IsZero()
	if !known || row != n.row {
		n.row, n.seen = row, time.Now()
	}
	return !known || row == metadata.Lease{} || time.Since(n.seen) >= backgroundLasts
}

func (n *Node) takeOver(ctx context.Context) error {
	duty, err := n.Take(ctx, Wanted{Name: BackgroundLease, Lasts: backgroundLasts, Lost: func() { n.begin(nil) }})
	if err == nil {
		n.begin(duty)
	}
	return err
}

// begin begins or ends work in the background.
func (n *Node) begin(duty *Lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.duty = duty
	for _, w := range n.workers {
		w.Wake()
	}
}

// announce says that this node runs, and removes nodes that have not said so for long.
func (n *Node) announce(ctx context.Context) error {
	begun := time.Now()
	err := n.meta.Update(ctx, func(tx *metadata.Tx) error {
		now := tx.Now()
		if n.since == 0 {
			n.since = now
		}
		var gone []metadata.ID
		for other, err := range tx.Nodes.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			if other.Seen < now-micros(runsAfter) || other.Seen > now+micros(runsAfter) { // by a clock that was set back
				gone = append(gone, other.Instance)
			}
		}
		for _, instance := range gone {
			if err := tx.Nodes.Remove(instance); err != nil {
				return err
			}
		}
		return tx.Nodes.Put(metadata.Node{
			Instance: n.instance, Name: n.config.Name, Version: n.config.Version, Schema: n.schema, Since: n.since, Seen: now,
		})
	})
	if err == nil {
		n.announced = begun
	}
	return err
}

// Seen returns the nodes that were seen in the minute before one of them was seen last, in no
// particular order.
func Seen(tx *metadata.Tx) ([]metadata.Node, error) {
	var all []metadata.Node
	var last metadata.Stamp
	for node, err := range tx.Nodes.All(metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, node)
		last = max(last, node.Seen)
	}
	return slices.DeleteFunc(all, func(node metadata.Node) bool { return node.Seen < last-micros(runsAfter) }), nil
}
