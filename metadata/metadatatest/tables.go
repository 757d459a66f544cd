package metadatatest

import (
	"cmp"
	"iter"
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

// ordered is a key of a table.
type ordered[K any] interface {
	comparable
	Compare(K) int
}

// table is the rows of one kind, by their key.
type table[K ordered[K], T any] struct {
	access
	rows map[K]T
	key  func(T) K
}

func (t table[K, T]) Get(key K) (T, error) {
	row, ok := t.rows[key]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t table[K, T]) Put(row T) error {
	t.mustWrite()
	t.rows[t.key(row)] = row
	return nil
}

func (t table[K, T]) Remove(key K) error {
	t.mustWrite()
	delete(t.rows, key)
	return nil
}

// one returns the row that matches.
func (t table[K, T]) one(matches func(T) bool) (row T, err error) {
	for _, row := range t.rows {
		if matches(row) {
			return row, nil
		}
	}
	return row, metadata.ErrNotFound
}

// all yields the rows that match, in order.
func (t table[K, T]) all(matches func(T) bool, order func(a, b T) int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var rows []T
		for _, row := range t.rows {
			if matches(row) {
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

func (t table[K, T]) byKey(a, b T) int { return t.key(a).Compare(t.key(b)) }

// All yields the rows after a key.
func (t table[K, T]) All(after K) iter.Seq2[T, error] {
	return t.all(func(row T) bool { return t.key(row).Compare(after) > 0 }, t.byKey)
}

// every yields all rows.
func (t table[K, T]) every() iter.Seq2[T, error] {
	return t.all(func(T) bool { return true }, t.byKey)
}

// fields yields one field of each row.
func fields[T, F any](rows iter.Seq2[T, error], field func(T) F) iter.Seq2[F, error] {
	return func(yield func(F, error) bool) {
		for row, err := range rows {
			if !yield(field(row), err) {
				return
			}
		}
	}
}

type dataspaces struct {
	table[metadata.ID, metadata.Dataspace]
}

func (t dataspaces) ByName(name string) (metadata.ID, error) {
	d, err := t.one(func(d metadata.Dataspace) bool { return d.Name == name })
	return d.ID, err
}

func (t dataspaces) Public(after metadata.ID) iter.Seq2[metadata.ID, error] {
	public := func(d metadata.Dataspace) bool { return d.Visibility.ToUsers() && d.ID.Compare(after) > 0 }
	return fields(t.all(public, t.byKey), func(d metadata.Dataspace) metadata.ID { return d.ID })
}

type sets struct {
	table[metadata.ID, metadata.Set]
}

func (t sets) ByName(name string) (metadata.ID, error) {
	s, err := t.one(func(s metadata.Set) bool { return s.Name == name })
	return s.ID, err
}

func (t sets) Range(q metadata.SetRange) iter.Seq2[metadata.Set, error] {
	matches := func(s metadata.Set) bool {
		return within(q.Dataspaces, s.DataspaceID) && has(q.States, s.State) && s.ID.Compare(q.After) > 0
	}
	return t.all(matches, t.byKey)
}

func within(dataspaces []metadata.ID, id metadata.ID) bool {
	return dataspaces == nil || slices.Contains(dataspaces, id)
}

func has(states paging.States, state metadata.State) bool {
	return state == metadata.Active && states&paging.Active != 0 ||
		state == metadata.Deleted && states&paging.Deleted != 0
}

type resources struct {
	table[metadata.ID, metadata.Resource]
	made folders
}

func (t resources) Range(q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	order := orderOf(q.Order)
	matches := func(r metadata.Resource) bool {
		return inContainer(q, r) && has(q.States, r.State) &&
			r.Modified > q.Since && (q.Until == 0 || r.Modified < q.Until) &&
			(q.Name == nil || r.Name == *q.Name) && strings.HasPrefix(r.Name, q.NamePrefix) &&
			(q.After == paging.Position{} || order(r, at(q.After)) > 0)
	}
	all := t.all(matches, order)
	if q.Keys {
		return keysOf(all, q.Order)
	}
	return all
}

// Page clears the borrowed resource once fn has returned.
func (t resources) Page(q metadata.ResourceRange, fn func(*metadata.Resource) (more bool)) error {
	var borrowed metadata.Resource
	for row, err := range t.Range(q) {
		if err != nil {
			return err
		}
		borrowed = row
		more := fn(&borrowed)
		borrowed = metadata.Resource{}
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
	case paging.ByNameDown:
		return func(a, b metadata.Resource) int { return orderOf(paging.ByName)(b, a) }
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

type users struct {
	table[metadata.ID, metadata.User]
}

func (t users) ByName(username string) (metadata.ID, error) {
	u, err := t.one(func(u metadata.User) bool { return strings.EqualFold(u.Username, username) })
	return u.ID, err
}

type keys struct {
	table[metadata.ID, metadata.Key]
}

func (t keys) Get(user, key metadata.ID) (metadata.Key, error) {
	return t.one(func(k metadata.Key) bool { return k.UserID == user && k.ID == key })
}

func (t keys) ByDigest(digest auth.KeyDigest) (metadata.Key, error) {
	return t.one(func(k metadata.Key) bool { return k.Digest == digest })
}

func (t keys) OfUser(user, after metadata.ID) iter.Seq2[metadata.Key, error] {
	return t.all(func(k metadata.Key) bool { return k.UserID == user && k.ID.Compare(after) > 0 }, t.byKey)
}

// sessionKey is by what a session is found.
type sessionKey struct {
	user   metadata.ID
	digest auth.SessionDigest
}

func (k sessionKey) Compare(o sessionKey) int {
	return cmp.Or(k.user.Compare(o.user), slices.Compare(k.digest[:], o.digest[:]))
}

type sessions struct {
	table[sessionKey, metadata.Session]
}

func (t sessions) Get(user metadata.ID, digest auth.SessionDigest) (metadata.Session, error) {
	return t.table.Get(sessionKey{user, digest})
}

func (t sessions) Remove(user metadata.ID, digest auth.SessionDigest) error {
	return t.table.Remove(sessionKey{user, digest})
}

func (t sessions) OfUser(user metadata.ID) iter.Seq2[metadata.Session, error] {
	return t.all(func(s metadata.Session) bool { return s.UserID == user }, t.byKey)
}

type uploads struct {
	table[metadata.ID, metadata.ResumableUpload]
}

func (t uploads) Ended(by metadata.Stamp) iter.Seq2[metadata.ID, error] {
	ended := t.all(func(u metadata.ResumableUpload) bool { return u.Expires <= by }, func(a, b metadata.ResumableUpload) int {
		return cmp.Or(cmp.Compare(a.Expires, b.Expires), a.ID.Compare(b.ID))
	})
	return fields(ended, func(u metadata.ResumableUpload) metadata.ID { return u.ID })
}

func (t uploads) Awaited(digest blobs.Digest) (bool, error) {
	_, err := t.one(func(u metadata.ResumableUpload) bool { return u.Pending() && u.Digest == digest })
	return err == nil, nil
}

type privileges struct {
	table[metadata.ID, metadata.Privilege]
}

func (t privileges) Of(user, dataspace metadata.ID) (metadata.Privilege, error) {
	return t.one(func(p metadata.Privilege) bool { return p.UserID == user && p.DataspaceID == dataspace })
}

func (t privileges) OfUser(user, after metadata.ID) iter.Seq2[metadata.Privilege, error] {
	matches := func(p metadata.Privilege) bool { return p.UserID == user && p.DataspaceID.Compare(after) > 0 }
	return t.all(matches, func(a, b metadata.Privilege) int { return a.DataspaceID.Compare(b.DataspaceID) })
}

func (t privileges) OfDataspace(dataspace metadata.ID) iter.Seq2[metadata.Privilege, error] {
	matches := func(p metadata.Privilege) bool { return p.DataspaceID == dataspace }
	return t.all(matches, func(a, b metadata.Privilege) int { return a.UserID.Compare(b.UserID) })
}

type cascades struct {
	table[metadata.ID, metadata.Cascade]
}

func (t cascades) All() iter.Seq2[metadata.Cascade, error] { return t.every() }

// usageKey is a dataspace and a day.
type usageKey struct {
	dataspace metadata.ID
	day       metadata.Day
}

func (k usageKey) Compare(o usageKey) int {
	return cmp.Or(k.dataspace.Compare(o.dataspace), cmp.Compare(k.day, o.day))
}

type usage struct {
	table[usageKey, usageRow]
	latest map[metadata.ID]metadata.Counters
}

func (t usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return t.latest[dataspace], nil
}

func (t usage) Put(dataspace metadata.ID, day metadata.Day, c metadata.Counters) error {
	err := t.table.Put(usageRow{dataspace, day, c})
	t.latest[dataspace] = c
	return err
}

func (t usage) Days(dataspace metadata.ID) iter.Seq2[metadata.DayCounters, error] {
	days := t.all(func(row usageRow) bool { return row.Dataspace == dataspace }, t.byKey)
	return fields(days, func(row usageRow) metadata.DayCounters {
		return metadata.DayCounters{Day: row.Day, Counters: row.Counters}
	})
}

// afterDigest yields the rows of a table after a digest; nil: all.
func afterDigest[T any](t table[digest, T], after *blobs.Digest) iter.Seq2[T, error] {
	if after == nil {
		return t.every()
	}
	return t.All(digest(*after))
}

// digest is one that can be ordered.
type digest blobs.Digest

func (d digest) Compare(o digest) int { return slices.Compare(d[:], o[:]) }

type blobRows struct {
	table[digest, blobs.Blob]
	resources resources
	versions  versions
}

func (t blobRows) Get(of blobs.Digest) (blobs.Blob, error) { return t.table.Get(digest(of)) }

func (t blobRows) Remove(of blobs.Digest) error { return t.table.Remove(digest(of)) }

func (t blobRows) All(after *blobs.Digest) iter.Seq2[blobs.Blob, error] {
	return afterDigest(t.table, after)
}

type damages struct {
	table[digest, metadata.Damage]
}

func (t damages) Get(of blobs.Digest) (metadata.Damage, error) { return t.table.Get(digest(of)) }

func (t damages) Remove(of blobs.Digest) error { return t.table.Remove(digest(of)) }

func (t damages) All() iter.Seq2[metadata.Damage, error] { return t.every() }

type unreferenced struct {
	table[digest, metadata.Unreferenced]
}

func (t unreferenced) Get(of blobs.Digest) (metadata.Unreferenced, error) {
	return t.table.Get(digest(of))
}

func (t unreferenced) Remove(of blobs.Digest) error { return t.table.Remove(digest(of)) }

func (t unreferenced) All(after *blobs.Digest) iter.Seq2[metadata.Unreferenced, error] {
	return afterDigest(t.table, after)
}

func (t unreferenced) Total() (total metadata.BlobCount, err error) {
	for _, row := range t.rows {
		total.Blobs++
		total.Bytes += row.Bytes
	}
	return total, nil
}
