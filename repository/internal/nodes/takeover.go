package nodes

import (
	"context"
	"time"

	"labshelf/metadata"
)

const (
	// BackgroundLease is the name of the lease of the node that does the background work.
	BackgroundLease = "background"

	backgroundLasts = 8 * time.Second
)

// Works reports whether this node does the background work.
func (n *Node) Works() bool { return n == nil || n.onDuty() != nil }

func (n *Node) onDuty() *Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.duty
}

// mayBeFree reports whether to try to take the background lease: no node holds it, its row has not
// changed for as long as it lasts, or this is the first check.
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

// begin sets or clears the background lease, and wakes all workers.
func (n *Node) begin(duty *Lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.duty = duty
	for _, w := range n.workers {
		w.Wake()
	}
}
