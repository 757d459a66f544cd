package tables

import (
	"iter"

	"labshelf/metadata"
)

func leaseFields(c *codec, l *metadata.Lease) {
	c.text(&l.Name)
	c.fixed(l.Holder[:])
	c.stamp(&l.Fence)
	c.stamp(&l.Ends)
	c.text(&l.Detail)
}

func nodeFields(c *codec, n *metadata.Node) {
	c.fixed(n.Instance[:])
	c.text(&n.Name)
	c.text(&n.Version)
	c.uint32(&n.Schema)
	c.stamp(&n.Since)
	c.stamp(&n.Seen)
}

type leases struct {
	rows[string, metadata.Lease, leaseNoun]
}

func (l leases) Under(prefix string) iter.Seq2[metadata.Lease, error] {
	return leaseTable.all(l.Tx, scopeSpan(nameKey(prefix)))
}
