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

type leases struct{ *Tx }

func (l leases) Get(name string) (metadata.Lease, error) { return leaseTable.get(l.Tx, nameKey(name)) }

func (l leases) Put(row metadata.Lease) error { return leaseTable.put(l.Tx, row) }

func (l leases) Remove(name string) error { return leaseTable.remove(l.Tx, nameKey(name)) }

func (l leases) Under(prefix string) iter.Seq2[metadata.Lease, error] {
	return leaseTable.all(l.Tx, scopeSpan(nameKey(prefix)))
}

type nodes struct{ *Tx }

func (n nodes) Put(row metadata.Node) error { return nodeTable.put(n.Tx, row) }

func (n nodes) Remove(instance metadata.ID) error { return nodeTable.remove(n.Tx, idKey(instance)) }

func (n nodes) All(after metadata.ID) iter.Seq2[metadata.Node, error] {
	return nodeTable.all(n.Tx, idSpan(nil, after))
}
