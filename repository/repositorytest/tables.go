package repositorytest

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/paging"
	"labshelf/repository"
)

// access is what a transaction may do.
type access struct{ writes bool }

func (a access) mustWrite() {
	if !a.writes {
		panic("repositorytest: a write in a read transaction")
	}
}

// table is the rows of one kind.
type table[T any] struct {
	access
	rows map[repository.ID]T
	id   func(T) repository.ID
}

func newTable[T any](mode access, rows map[repository.ID]T, id func(T) repository.ID) table[T] {
	return table[T]{mode, rows, id}
}

func (t table[T]) Get(id repository.ID) (T, error) {
	row, ok := t.rows[id]
	if !ok {
		return row, repository.ErrNotFound
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
	return row, repository.ErrNotFound
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
func (t table[T]) All(after repository.ID) iter.Seq2[T, error] {
	return t.all(func(row T) bool { return t.id(row).Compare(after) > 0 }, t.byID)
}

type dataspaces struct{ table[repository.Dataspace] }

func (t dataspaces) ByName(name string) (repository.ID, error) {
	d, err := t.one(func(d repository.Dataspace) bool { return d.Name == name })
	return d.ID, err
}

func (t dataspaces) Public(after repository.ID) iter.Seq2[repository.ID, error] {
	return func(yield func(repository.ID, error) bool) {
		public := func(d repository.Dataspace) bool { return d.Visibility == repository.Public && d.ID.Compare(after) > 0 }
		for d, err := range t.all(public, t.byID) {
			if !yield(d.ID, err) {
				return
			}
		}
	}
}

type sets struct{ table[repository.Set] }

func (t sets) ByName(name string) (repository.ID, error) {
	s, err := t.one(func(s repository.Set) bool { return s.Name == name })
	return s.ID, err
}

func (t sets) Range(q repository.SetRange) iter.Seq2[repository.Set, error] {
	keep := func(s repository.Set) bool {
		return within(q.Dataspaces, s.DataspaceID) && has(q.States, s.State) && s.ID.Compare(q.After) > 0
	}
	return t.all(keep, t.byID)
}

func within(dataspaces []repository.ID, id repository.ID) bool {
	return dataspaces == nil || slices.Contains(dataspaces, id)
}

func has(states paging.States, state repository.State) bool {
	return state == repository.Active && states&paging.Active != 0 ||
		state == repository.Deleted && states&paging.Deleted != 0
}

type resources struct{ table[repository.Resource] }

func (t resources) Range(q repository.ResourceRange) iter.Seq2[repository.Resource, error] {
	order := orderOf(q.Order)
	keep := func(r repository.Resource) bool {
		return inContainer(q, r) && has(q.States, r.State) &&
			r.Modified > q.Since && (q.Until == 0 || r.Modified < q.Until) &&
			(q.Name == nil || r.Name == *q.Name) && strings.HasPrefix(r.Name, q.NamePrefix) &&
			(q.After == paging.Position{} || order(r, at(q.After)) > 0)
	}
	return t.all(keep, order)
}

// Page lends a resource that means nothing any more once fn has returned.
func (t resources) Page(q repository.ResourceRange, fn func(*repository.Resource) (more bool)) error {
	var lent repository.Resource
	for row, err := range t.Range(q) {
		if err != nil {
			return err
		}
		lent = row
		more := fn(&lent)
		lent = repository.Resource{}
		if !more {
			return nil
		}
	}
	return nil
}

func inContainer(q repository.ResourceRange, r repository.Resource) bool {
	if q.Set != (repository.ID{}) {
		return r.SetID == q.Set
	}
	return within(q.Dataspaces, r.DataspaceID)
}

func orderOf(order paging.Order) func(a, b repository.Resource) int {
	switch order {
	case paging.ByName:
		return func(a, b repository.Resource) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID)) }
	case paging.Newest:
		return func(a, b repository.Resource) int {
			return cmp.Or(cmp.Compare(b.Modified, a.Modified), b.ID.Compare(a.ID))
		}
	default:
		return func(a, b repository.Resource) int {
			return cmp.Or(cmp.Compare(a.Modified, b.Modified), a.ID.Compare(b.ID))
		}
	}
}

// at returns a resource that would be at the position.
func at(p paging.Position) repository.Resource {
	return repository.Resource{Record: repository.Record{ID: p.ID, Modified: repository.Stamp(p.Stamp)}, Name: p.Name}
}

type users struct{ table[repository.User] }

func (t users) ByName(username string) (repository.ID, error) {
	u, err := t.one(func(u repository.User) bool { return strings.EqualFold(u.Username, username) })
	return u.ID, err
}

type keys struct{ table[repository.Key] }

func (t keys) Get(user, key repository.ID) (repository.Key, error) {
	return t.one(func(k repository.Key) bool { return k.UserID == user && k.ID == key })
}

func (t keys) ByDigest(digest auth.KeyDigest) (repository.Key, error) {
	return t.one(func(k repository.Key) bool { return k.Digest == digest })
}

func (t keys) OfUser(user, after repository.ID) iter.Seq2[repository.Key, error] {
	return t.all(func(k repository.Key) bool { return k.UserID == user && k.ID.Compare(after) > 0 }, t.byID)
}

type privileges struct{ table[repository.Privilege] }

func (t privileges) Of(user, dataspace repository.ID) (repository.Privilege, error) {
	return t.one(func(p repository.Privilege) bool { return p.UserID == user && p.DataspaceID == dataspace })
}

func (t privileges) OfUser(user, after repository.ID) iter.Seq2[repository.Privilege, error] {
	keep := func(p repository.Privilege) bool { return p.UserID == user && p.DataspaceID.Compare(after) > 0 }
	return t.all(keep, func(a, b repository.Privilege) int { return a.DataspaceID.Compare(b.DataspaceID) })
}

func (t privileges) OfDataspace(dataspace repository.ID) iter.Seq2[repository.Privilege, error] {
	keep := func(p repository.Privilege) bool { return p.DataspaceID == dataspace }
	return t.all(keep, func(a, b repository.Privilege) int { return a.UserID.Compare(b.UserID) })
}

type steps struct{ table[repository.Step] }

func (t steps) Remove(container repository.ID) error {
	t.mustWrite()
	delete(t.rows, container)
	return nil
}

func (t steps) All() iter.Seq2[repository.Step, error] {
	return t.table.All(repository.ID{})
}

type usage struct {
	access
	latest map[repository.ID]repository.Counters
	days   map[dayOf]repository.Counters
}

func (t usage) Get(dataspace repository.ID) (repository.Counters, error) {
	return t.latest[dataspace], nil
}

func (t usage) Put(dataspace repository.ID, day repository.Day, c repository.Counters) error {
	t.mustWrite()
	t.latest[dataspace] = c
	t.days[dayOf{dataspace, day}] = c
	return nil
}

func (t usage) Days(dataspace repository.ID) iter.Seq2[repository.DayCounters, error] {
	return func(yield func(repository.DayCounters, error) bool) {
		var days []repository.DayCounters
		for of, c := range t.days {
			if of.dataspace == dataspace {
				days = append(days, repository.DayCounters{Day: of.day, Counters: c})
			}
		}
		slices.SortFunc(days, func(a, b repository.DayCounters) int { return cmp.Compare(a.Day, b.Day) })
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
	resources map[repository.ID]repository.Resource
}

func (t sizes) Size(digest blobs.Digest) (int64, error) {
	size, ok := t.of[digest]
	if !ok {
		return 0, repository.ErrNotFound
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

func (t sizes) All(after *blobs.Digest) iter.Seq2[repository.Blob, error] {
	return func(yield func(repository.Blob, error) bool) {
		for _, digest := range inDigestOrder(t.of) {
			if after != nil && bytes.Compare(digest[:], after[:]) <= 0 {
				continue
			}
			if !yield(repository.Blob{Digest: digest, Bytes: t.of[digest]}, nil) {
				return
			}
		}
	}
}

func inDigestOrder[T any](rows map[blobs.Digest]T) []blobs.Digest {
	return slices.SortedFunc(maps.Keys(rows), func(a, b blobs.Digest) int { return bytes.Compare(a[:], b[:]) })
}

func (t sizes) Refs(digest blobs.Digest) iter.Seq2[repository.ID, error] {
	return func(yield func(repository.ID, error) bool) {
		for _, id := range slices.SortedFunc(maps.Keys(t.resources), repository.ID.Compare) {
			if r := t.resources[id]; r.Digest == digest && r.Body == repository.Filed && !yield(id, nil) {
				return
			}
		}
	}
}

type damages struct {
	access
	rows map[blobs.Digest]repository.Damage
}

func (t damages) Get(digest blobs.Digest) (repository.Damage, error) {
	row, ok := t.rows[digest]
	if !ok {
		return row, repository.ErrNotFound
	}
	return row, nil
}

func (t damages) Put(row repository.Damage) error {
	t.mustWrite()
	t.rows[row.Digest] = row
	return nil
}

func (t damages) Remove(digest blobs.Digest) error {
	t.mustWrite()
	delete(t.rows, digest)
	return nil
}

func (t damages) All() iter.Seq2[repository.Damage, error] {
	return func(yield func(repository.Damage, error) bool) {
		for _, digest := range inDigestOrder(t.rows) {
			if !yield(t.rows[digest], nil) {
				return
			}
		}
	}
}

type scrub struct {
	access
	state *repository.ScrubState
}

func (t scrub) Get() (repository.ScrubState, error) { return *t.state, nil }

func (t scrub) Put(state repository.ScrubState) error {
	t.mustWrite()
	*t.state = state
	return nil
}
