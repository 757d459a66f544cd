package metadatatest

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

type leases struct {
	table[string, metadata.Lease]
}

func (t leases) Under(prefix string) iter.Seq2[metadata.Lease, error] {
	return t.all(func(l metadata.Lease) bool { return strings.HasPrefix(l.Name, prefix) }, t.byKey)
}

// putNode is put for leases and nodes.
func putNode(tx *metadata.Tx, row any) error {
	switch row := row.(type) {
	case metadata.Lease:
		return tx.Leases.Put(row)
	case metadata.Node:
		return tx.Nodes.Put(row)
	}
	return fmt.Errorf("no table holds a %T", row)
}

// waysToNodes is waysTo for the rows of putNode.
func waysToNodes(row any) []way {
	switch row := row.(type) {
	case metadata.Lease:
		return []way{{"Leases.Get", func(tx *metadata.Tx) (any, error) { return tx.Leases.Get(row.Name) }}}
	case metadata.Node:
		return []way{{"Nodes.All", func(tx *metadata.Tx) (any, error) {
			for node, err := range tx.Nodes.All(metadata.ID{}) {
				if err != nil || node.Instance == row.Instance {
					return node, err
				}
			}
			return nil, metadata.ErrNotFound
		}}}
	}
	return nil
}

func leaseNames() []string { return []string{"a", "a/b", "a0", "\xff", strings.Repeat("n", 200)} }

func (a *answers) askNodes(tx *metadata.Tx, p probe) {
	for _, of := range append(leaseNames(), p.names...) {
		if of == "" {
			continue
		}
		row, err := tx.Leases.Get(of)
		note(a, fmt.Sprintf("Leases.Get %.40q", of), row, err)
		noteAll(a, fmt.Sprintf("Leases.Under %.40q", of), tx.Leases.Under(of))
	}
	noteAll(a, "Leases.Under all", tx.Leases.Under(""))
	noteAll(a, "Nodes.All", tx.Nodes.All(metadata.ID{}))
	for _, id := range p.ids {
		noteAll(a, "Nodes.All after "+id.String(), tx.Nodes.All(id))
	}
}

func (m *machine) lease(rt *rapid.T, _ *session) any {
	return metadata.Lease{
		Name: rapid.SampledFrom(leaseNames()).Draw(rt, "lease"), Holder: rapid.SampledFrom(m.pool.users).Draw(rt, "holder"), Fence: m.last,
		Ends: m.last + 9, Detail: rapid.SampledFrom(texts()).Draw(rt, "detail"),
	}
}

func (m *machine) node(rt *rapid.T, _ *session) any {
	return metadata.Node{
		Instance: rapid.SampledFrom(m.pool.users).Draw(rt, "instance"), Name: rapid.SampledFrom(containerNames()).Draw(rt, "name"),
		Version: rapid.SampledFrom(texts()).Draw(rt, "version"), Schema: 7, Since: m.last, Seen: m.last,
	}
}

func (m *machine) removeNode(rt *rapid.T, s *session) {
	of, instance := rapid.SampledFrom(leaseNames()).Draw(rt, "lease"), rapid.SampledFrom(m.pool.users).Draw(rt, "instance")
	s.do(op{"Leases.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Leases.Remove(of) }})
	s.do(op{"Nodes.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Nodes.Remove(instance) }})
}

// sizesOfNodes returns the smallest and largest lease and node.
func sizesOfNodes(long string) []any {
	return []any{
		metadata.Lease{Name: "l"},
		metadata.Lease{Name: strings.Repeat("n", 1000), Holder: maxID(), Ends: math.MaxInt64, Detail: long},
		metadata.Node{Instance: id(17)},
		metadata.Node{Instance: maxID(), Name: long, Version: long, Schema: math.MaxUint32, Since: math.MaxInt64, Seen: math.MaxInt64},
	}
}

// testLeases tests that leases are found by a prefix of their names, in byte order. A removed lease
// is gone, and removing it again is no error.
func testLeases(t *testing.T, s *store) {
	for _, of := range []string{"b", "a/2", "a/1", "a", "a0", "a/\xff"} {
		s.put(t, metadata.Lease{Name: of, Fence: 1})
	}
	s.put(t, metadata.Lease{Name: "a/1", Fence: 2})
	s.update(t, func(tx *metadata.Tx) error { return errors.Join(tx.Leases.Remove("a/2"), tx.Leases.Remove("a/2")) })
	under := func(prefix string) []string {
		all := view(t, s, func(tx *metadata.Tx) ([]metadata.Lease, error) { return list(tx.Leases.Under(prefix)) })
		return mapped(all, func(l metadata.Lease) string { return fmt.Sprint(l.Name, " ", l.Fence) })
	}
	same(t, "under a/", under("a/"), []string{"a/1 2", "a/\xff 1"})
	same(t, "all", under(""), []string{"a 1", "a/1 2", "a/\xff 1", "a0 1", "b 1"})
	same(t, "under what there is not", len(under("c")), 0)
}

// testClock tests that Now returns the clock, even if it is behind the last stamp.
func testClock(t *testing.T, s *store) {
	last := s.stamp(t)
	s.clock.move(-time.Hour)
	s.update(t, func(tx *metadata.Tx) error {
		if now, want := tx.Now(), metadata.Stamp(s.clock.now().UnixMicro()); now != want {
			return fmt.Errorf("now is %d, want %d", now, want)
		}
		if next := tx.Stamp(); next <= last {
			return fmt.Errorf("stamp %d follows %d", next, last)
		}
		return nil
	})
}
