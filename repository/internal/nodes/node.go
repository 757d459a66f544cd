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
	poll          = time.Second      // between two checks of the log and the lease
	announceEvery = 20 * time.Second // between two announcements that the node is running
	sweepEvery    = 10 * time.Minute // between removals of ended leases
	runsAfter     = time.Minute      // without an announcement, a node counts as gone
)

// Config describes a node, and holds the functions that it calls.
type Config struct {
	Name    string // if empty, the host name
	Version string
	// Moved is called when the audit log has grown, perhaps only by commits of this node. It must
	// return soon.
	Moved func()
	// Failed is called with the result of each round; nil means success.
	Failed func(error)
}

// Node is this process as one of the nodes that share a store. A nil Node stands for a store that
// is not shared. It is safe for concurrent use.
type Node struct {
	meta     metadata.Transactions
	config   Config
	instance metadata.ID
	schema   uint32
	leases   *leases
	watcher  *background.Worker

	// Only the watcher uses these fields.
	size      uint64         // number of entries in the log at the last check
	since     metadata.Stamp // when this node first announced itself; 0 if it has not
	announced time.Time      // when it last announced itself
	swept     time.Time
	row       metadata.Lease // the background lease at the last check
	seen      time.Time      // since when row is unchanged; zero before the first check

	mu      sync.Mutex
	duty    *Lease // the background lease; nil if another node may hold it
	workers []*background.Worker
}

// Start registers this process as a node. It returns nil if the store is not shared. The caller
// must call Close.
func Start(meta metadata.Store, c Config) *Node {
	engine := meta.Engine()
	if !engine.Shared {
		return nil
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // "" if the machine has no name
	}
	n := &Node{meta: meta, config: c, instance: metadata.NewID(metadata.Stamp(time.Now().UnixMicro())), schema: engine.Schema, leases: startLeases(meta)}
	n.watcher = background.Start(background.Next{}, n.watch)
	return n
}

// Close releases everything that the node holds, so that other nodes can take over immediately.
// Before the call, all background work and all work under leases must have ended.
func (n *Node) Close() {
	if n == nil {
		return
	}
	n.watcher.Close()
	n.onDuty().Release()
	n.leases.worker.Close()
	ctx, cancel := context.WithTimeout(context.Background(), releaseAfter)
	defer cancel()
	_ = n.meta.Update(ctx, func(tx *metadata.Tx) error { return tx.Nodes.Remove(n.instance) }) // on failure, other nodes remove it later
}

// Shared reports whether the store may have other nodes.
func (n *Node) Shared() bool { return n != nil }

// Work is background.Start for a task that only one node runs at a time. It first runs when this
// node takes over the background work, and then as the task schedules. The context of a run carries
// the lease, and ends when another node has taken over.
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

// watch checks the shared state, and announces that this node is running.
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

// maxSwept is the maximum number of leases that one commit removes.
const maxSwept = 500

// sweep removes ended leases, which their holders have not released.
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

// announce records that this node is running, and removes nodes that have not announced themselves
// for runsAfter.
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
			if other.Seen < now-micros(runsAfter) || other.Seen > now+micros(runsAfter) { // clock was set back
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

// Seen returns the nodes seen at most a minute before the node that was seen last, in no particular
// order.
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
