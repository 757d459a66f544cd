package metadatatest

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// access is what a transaction may do.
type access struct{ writes bool }

func (a access) mustWrite() {
	if !a.writes {
		panic("metadatatest: a write in a read transaction")
	}
}

// table is the rows of one kind.
type table[T any] struct {
	access
	rows map[metadata.ID]T
	id   func(T) metadata.ID
}

func newTable[T any](mode access, rows map[metadata.ID]T, id func(T) metadata.ID) table[T] {
	return table[T]{mode, rows, id}
}

func (t table[T]) Get(id metadata.ID) (T, error) {
	row, ok := t.rows[id]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t table[T]) Put(row T) error {
	t.mustWrite()
	t.rows[t.id(row)] = row
	return nil
}

// one returns the row that is meant.
func (t table[T]) one(meant func(T) bool) (row T, err error) {
	for _, row := range t.rows {
		if meant(row) {
			return row, nil
		}
	}
	return row, metadata.ErrNotFound
}

// all yields the rows to keep, in order.
func (t table[T]) all(keep func(T) bool, order func(a, b T) int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var rows []T
		for _, row := range t.rows {
			if keep(row) {
				rows = append(rows, row)
			}
		}
		slices.SortFunc(rows, order)
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (t table[T]) byID(a, b T) int { return t.id(a).Compare(t.id(b)) }

// All yields the rows after an id.
func (t table[T]) All(after metadata.ID) iter.Seq2[T, error] {
	return t.all(func(row T) bool { return t.id(row).Compare(after) > 0 }, t.byID)
}

type dataspaces struct{ table[metadata.Dataspace] }

func (t dataspaces) ByName(name string) (metadata.ID, error) {
	d, err := t.one(func(d metadata.Dataspace) bool { return d.Name == name })
	return d.ID, err
}

func (t dataspaces) Public(after metadata.ID) iter.Seq2[metadata.ID, error] {
	return func(yield func(metadata.ID, error) bool) {
		public := func(d metadata.Dataspace) bool { return d.Visibility == metadata.Public && d.ID.Compare(after) > 0 }
		for d, err := range t.all(public, t.byID) {
			if !yield(d.ID, err) {
				return
			}
		}
	}
}

type sets struct{ table[metadata.Set] }

func (t sets) ByName(name string) (metadata.ID, error) {
	s, err := t.one(func(s metadata.Set) bool { return s.Name == name })
	return s.ID, err
}

func (t sets) Range(q metadata.SetRange) iter.Seq2[metadata.Set, error] {
	keep := func(s metadata.Set) bool {
		return within(q.Dataspaces, s.DataspaceID) && has(q.States, s.State) && s.ID.Compare(q.After) > 0
	}
	return t.all(keep, t.byID)
}

func within(dataspaces []metadata.ID, id metadata.ID) bool {
	return dataspaces == nil || slices.Contains(dataspaces, id)
}

func has(states paging.States, state metadata.State) bool {
	return state == metadata.Active && states&paging.Active != 0 ||
		state == metadata.Deleted && states&paging.Deleted != 0
}

type resources struct{ table[metadata.Resource] }

func (t resources) Range(q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	order := orderOf(q.Order)
	keep := func(r metadata.Resource) bool {
		return inContainer(q, r) && has(q.States, r.State) &&
			r.Modified > q.Since && (q.Until == 0 || r.Modified < q.Until) &&
			(q.Name == nil || r.Name == *q.Name) && strings.HasPrefix(r.Name, q.NamePrefix) &&
			(q.After == paging.Position{} || order(r, at(q.After)) > 0)
	}
	return t.all(keep, order)
}

// Page lends a resource that means nothing any more once fn has returned.
func (t resources) Page(q metadata.ResourceRange, fn func(*metadata.Resource) (more bool)) error {
	var lent metadata.Resource
	for row, err := range t.Range(q) {
		if err != nil {
			return err
		}
		lent = row
		more := fn(&lent)
		lent = metadata.Resource{}
		if !more {
			return nil
		}
	}
	return nil
}

func inContainer(q metadata.ResourceRange, r metadata.Resource) bool {
	if q.Set != (metadata.ID{}) {
		return r.SetID == q.Set
	}
	return within(q.Dataspaces, r.DataspaceID)
}

func orderOf(order paging.Order) func(a, b metadata.Resource) int {
	switch order {
	case paging.ByName:
		return func(a, b metadata.Resource) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID)) }
	case paging.Newest:
		return func(a, b metadata.Resource) int {
			return cmp.Or(cmp.Compare(b.Modified, a.Modified), b.ID.Compare(a.ID))
		}
	default:
		return func(a, b metadata.Resource) int {
			return cmp.Or(cmp.Compare(a.Modified, b.Modified), a.ID.Compare(b.ID))
		}
	}
}

// at returns a resource that would be at the position.
func at(p paging.Position) metadata.Resource {
	return metadata.Resource{Record: metadata.Record{ID: p.ID, Modified: metadata.Stamp(p.Stamp)}, Name: p.Name}
}

type users struct{ table[metadata.User] }

func (t users) ByName(username string) (metadata.ID, error) {
	u, err := t.one(func(u metadata.User) bool { return strings.EqualFold(u.Username, username) })
	return u.ID, err
}

type keys struct{ table[metadata.Key] }

func (t keys) Get(user, key metadata.ID) (metadata.Key, error) {
	return t.one(func(k metadata.Key) bool { return k.UserID == user && k.ID == key })
}

func (t keys) ByDigest(digest auth.KeyDigest) (metadata.Key, error) {
	return t.one(func(k metadata.Key) bool { return k.Digest == digest })
}

func (t keys) OfUser(user, after metadata.ID) iter.Seq2[metadata.Key, error] {
	return t.all(func(k metadata.Key) bool { return k.UserID == user && k.ID.Compare(after) > 0 }, t.byID)
}

type privileges struct{ table[metadata.Privilege] }

func (t privileges) Of(user, dataspace metadata.ID) (metadata.Privilege, error) {
	return t.one(func(p metadata.Privilege) bool { return p.UserID == user && p.DataspaceID == dataspace })
}

func (t privileges) OfUser(user, after metadata.ID) iter.Seq2[metadata.Privilege, error] {
	keep := func(p metadata.Privilege) bool { return p.UserID == user && p.DataspaceID.Compare(after) > 0 }
	return t.all(keep, func(a, b metadata.Privilege) int { return a.DataspaceID.Compare(b.DataspaceID) })
}

func (t privileges) OfDataspace(dataspace metadata.ID) iter.Seq2[metadata.Privilege, error] {
	keep := func(p metadata.Privilege) bool { return p.DataspaceID == dataspace }
	return t.all(keep, func(a, b metadata.Privilege) int { return a.UserID.Compare(b.UserID) })
}

type steps struct{ table[metadata.Step] }

func (t steps) Remove(container metadata.ID) error {
	t.mustWrite()
	delete(t.rows, container)
	return nil
}

func (t steps) All() iter.Seq2[metadata.Step, error] {
	return t.table.All(metadata.ID{})
}

type usage struct {
	access
	latest map[metadata.ID]metadata.Counters
	days   map[dayOf]metadata.Counters
}

func (t usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return t.latest[dataspace], nil
}

func (t usage) Put(dataspace metadata.ID, day metadata.Day, c metadata.Counters) error {
	t.mustWrite()
	t.latest[dataspace] = c
	t.days[dayOf{dataspace, day}] = c
	return nil
}

func (t usage) Days(dataspace metadata.ID) iter.Seq2[metadata.DayCounters, error] {
	return func(yield func(metadata.DayCounters, error) bool) {
		var days []metadata.DayCounters
		for of, c := range t.days {
			if of.dataspace == dataspace {
				days = append(days, metadata.DayCounters{Day: of.day, Counters: c})
			}
		}
		slices.SortFunc(days, func(a, b metadata.DayCounters) int { return cmp.Compare(a.Day, b.Day) })
		for _, day := range days {
			if !yield(day, nil) {
				return
			}
		}
	}
}

type sizes struct {
	access
	of        map[blobs.Digest]int64
	resources map[metadata.ID]metadata.Resource
}

func (t sizes) Size(digest blobs.Digest) (int64, error) {
	size, ok := t.of[digest]
	if !ok {
		return 0, metadata.ErrNotFound
	}
	return size, nil
}

func (t sizes) Put(digest blobs.Digest, size int64) error {
	t.mustWrite()
	t.of[digest] = size
	return nil
}

func (t sizes) Remove(digest blobs.Digest) error {
	t.mustWrite()
	delete(t.of, digest)
	return nil
}

func (t sizes) All(after *blobs.Digest) iter.Seq2[metadata.Blob, error] {
	return func(yield func(metadata.Blob, error) bool) {
		for _, digest := range inDigestOrder(t.of) {
			if after != nil && bytes.Compare(digest[:], after[:]) <= 0 {
				continue
			}
			if !yield(metadata.Blob{Digest: digest, Bytes: t.of[digest]}, nil) {
				return
			}
		}
	}
}

func inDigestOrder[T any](rows map[blobs.Digest]T) []blobs.Digest {
	return slices.SortedFunc(maps.Keys(rows), func(a, b blobs.Digest) int { return bytes.Compare(a[:], b[:]) })
}

func (t sizes) Refs(digest blobs.Digest) iter.Seq2[metadata.ID, error] {
	return func(yield func(metadata.ID, error) bool) {
		for _, id := range slices.SortedFunc(maps.Keys(t.resources), metadata.ID.Compare) {
			if r := t.resources[id]; r.Digest == digest && r.Body == metadata.Filed && !yield(id, nil) {
				return
			}
		}
	}
}

type damages struct {
	access
	rows map[blobs.Digest]metadata.Damage
}

func (t damages) Get(digest blobs.Digest) (metadata.Damage, error) {
	row, ok := t.rows[digest]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t damages) Put(row metadata.Damage) error {
	t.mustWrite()
	t.rows[row.Digest] = row
	return nil
}

func (t damages) Remove(digest blobs.Digest) error {
	t.mustWrite()
	delete(t.rows, digest)
	return nil
}

func (t damages) All() iter.Seq2[metadata.Damage, error] {
	return func(yield func(metadata.Damage, error) bool) {
		for _, digest := range inDigestOrder(t.rows) {
			if !yield(t.rows[digest], nil) {
				return
			}
		}
	}
}

type scrub struct {
	access
	state *metadata.ScrubState
}

func (t scrub) Get() (metadata.ScrubState, error) { return *t.state, nil }

func (t scrub) Put(state metadata.ScrubState) error {
	t.mustWrite()
	*t.state = state
	return nil
}
