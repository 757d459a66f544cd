package metadatatest

import (
	"fmt"
	"iter"

	"pgregory.net/rapid"

	"labshelf/metadata"
	"labshelf/paging"
)

// reads draws listings and single rows.
func (m *machine) reads(rt *rapid.T, s *session, most int) {
	for range rapid.IntRange(most/2, most).Draw(rt, "reads") {
		s.do(m.read(rt, s))
	}
}

func (m *machine) read(rt *rapid.T, s *session) op {
	few := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "items")
	switch rapid.IntRange(0, 15).Draw(rt, "read") {
	case 0, 1, 2, 3, 4, 5:
		return m.resources(rt, s, few)
	case 6, 7:
		q := metadata.SetRange{Dataspaces: m.someDataspaces(rt)}
		q.After = rapid.SampledFrom(append(withZero(m.pool.sets), m.pool.resources[0])).Draw(rt, "after")
		q.States = rapid.SampledFrom(states()).Draw(rt, "states")
		seq := func(tx *metadata.Tx) iter.Seq2[metadata.Set, error] { return tx.Sets.Range(q) }
		return rowsOp(fmt.Sprintf("Sets.Range %+v", q), few, seq)
	case 8:
		by := m.moment(rt, "by")
		return rowsOp("Uploads.Ended", few, func(tx *metadata.Tx) iter.Seq2[metadata.ID, error] { return tx.Uploads.Ended(by) })
	default:
		q := rapid.SampledFrom(m.questions).Draw(rt, "question")
		nth := rapid.IntRange(0, q.args-1).Draw(rt, "argument")
		return op{fmt.Sprintf("%s, up to %d", q.text(nth), few), func(tx *metadata.Tx) (any, error) { return q.ask(tx, nth, few) }}
	}
}

// resources draws a listing of resources.
func (m *machine) resources(rt *rapid.T, s *session, few int) op {
	q := m.resourceRange(rt, s)
	q.Keys = rapid.Bool().Draw(rt, "keys alone")
	if q.Order.ByNames() && rapid.Bool().Draw(rt, "with folders") {
		return childrenOp(rt, s, q, few)
	}
	if rapid.Bool().Draw(rt, "borrowed") {
		seq := func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return Paged(tx, q) }
		return rowsOp(fmt.Sprintf("Resources.Page %+v", q), few, seq)
	}
	seq := func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return tx.Resources.Range(q) }
	return rowsOp(fmt.Sprintf("Resources.Range %+v", q), few, seq)
}

// childrenOp lists the children of a range, from the beginning or after one of them.
func childrenOp(rt *rapid.T, s *session, q metadata.ResourceRange, few int) op {
	q.Name, q.After = nil, paging.Position{}
	if all, err := list(childrenOf(s.tx.Resources, q)); err == nil && len(all) > 0 && rapid.Bool().Draw(rt, "after one") {
		q.After = rapid.SampledFrom(all).Draw(rt, "child").Position()
	}
	seq := func(tx *metadata.Tx) iter.Seq2[Child, error] { return childrenOf(tx.Resources, q) }
	return rowsOp(fmt.Sprintf("Resources.Children %+v", q), few, seq)
}

// someDataspaces draws dataspaces in any order, an empty list, or nil.
func (m *machine) someDataspaces(rt *rapid.T) []metadata.ID {
	if rapid.Bool().Draw(rt, "of all dataspaces") {
		return nil
	}
	n := rapid.IntRange(0, len(m.pool.dataspaces)).Draw(rt, "dataspaces")
	return rapid.Permutation(m.pool.dataspaces).Draw(rt, "of dataspaces")[:n]
}

// resourceRange draws a range. The range usually contains a certain resource, or has bounds at it
// or next to it.
func (m *machine) resourceRange(rt *rapid.T, s *session) (q metadata.ResourceRange) {
	near := metadata.Resource{Record: metadata.Record{ID: m.pool.resources[0], State: metadata.Active, Modified: 1}, Name: "a", SetID: m.pool.sets[0]}
	if rows, err := list(s.tx.Resources.Range(metadata.ResourceRange{States: paging.All})); err == nil && len(rows) > 0 {
		near = rapid.SampledFrom(rows).Draw(rt, "near")
	}
	q.States = rapid.SampledFrom([]paging.States{paging.All, paging.States(near.State), paging.Active, paging.Deleted}).Draw(rt, "states")
	q.Order = rapid.SampledFrom([]paging.Order{paging.Oldest, paging.Newest, paging.ByName, paging.ByNameDown}).Draw(rt, "order")
	if q.Order.ByNames() || rapid.Bool().Draw(rt, "of a set") {
		q.Set = rapid.SampledFrom(append(m.pool.sets, near.SetID, near.SetID)).Draw(rt, "set")
	} else {
		q.Dataspaces = m.someDataspaces(rt)
	}
	if q.Order.ByNames() {
		m.nameBounds(rt, &q, near)
		return q
	}
	if rapid.Bool().Draw(rt, "after a position") {
		offset := rapid.SampledFrom([]int64{0, 0, 0, -1, 1}).Draw(rt, "offset")
		q.After = paging.Position{Stamp: int64(near.Modified) + offset, ID: near.ID}
	}
	bound := rapid.SampledFrom([]metadata.Stamp{0, 0, 0, near.Modified, near.Modified - 1, near.Modified + 1, m.last})
	q.Since, q.Until = bound.Draw(rt, "since"), bound.Draw(rt, "until")
	return q
}

func (m *machine) nameBounds(rt *rapid.T, q *metadata.ResourceRange, near metadata.Resource) {
	switch rapid.IntRange(0, 3).Draw(rt, "name filter") {
	case 0:
		q.Name = &near.Name
	case 1:
		q.NamePrefix = near.Name[:rapid.IntRange(0, min(2, len(near.Name))).Draw(rt, "prefix length")]
	}
	if rapid.Bool().Draw(rt, "after a position") {
		q.After = paging.Position{Name: near.Name, ID: rapid.SampledFrom(append(m.pool.resources, near.ID, near.ID, near.ID)).Draw(rt, "after id")}
	}
}
