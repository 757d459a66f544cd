package metadatatest

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// access is the mode of a transaction. The transaction may change the maps that it has copied.
type access struct {
	writes bool
	copied map[any]bool
}

func (a access) mustWrite() {
	if !a.writes {
		panic("metadatatest: a write in a read transaction")
	}
}

// table contains the rows of one noun by key, in a map of a state.
type table[K comparable, R any] struct {
	access
	rows *map[K]R
	key  func(R) K
}

func tableOf[K comparable, R any](mode access, rows *map[K]R, key func(R) K) table[K, R] {
	return table[K, R]{mode, rows, key}
}

// own returns a map that may be changed. It copies the map, since states share maps.
func (t table[K, R]) own() map[K]R {
	t.mustWrite()
	if !t.copied[t.rows] {
		own := make(map[K]R, len(*t.rows)+1)
		maps.Copy(own, *t.rows)
		*t.rows, t.copied[t.rows] = own, true
	}
	return *t.rows
}

func (t table[K, R]) Get(key K) (R, error) {
	row, ok := (*t.rows)[key]
	if !ok {
		return row, metadata.ErrNotFound
	}
	return row, nil
}

func (t table[K, R]) Put(row R) error {
	t.own()[t.key(row)] = row
	return nil
}

func (t table[K, R]) Remove(key K) error {
	delete(t.own(), key)
	return nil
}

// All yields the rows after a key, or all rows if the key is zero.
func (t table[K, R]) All(after K) iter.Seq2[R, error] {
	var none K
	return t.all(func(row R) bool { return after == none || compareKeys(t.key(row), after) > 0 }, t.byKey)
}

// Before yields the rows with the same first part before a key, backwards.
func (t table[K, R]) Before(key K) iter.Seq2[R, error] {
	before := func(row R) bool { return sameFirst(t.key(row), key) && compareKeys(t.key(row), key) < 0 }
	return t.all(before, func(a, b R) int { return t.byKey(b, a) })
}

// From yields the rows with the same first part from a key on.
func (t table[K, R]) From(key K) iter.Seq2[R, error] {
	return t.all(func(row R) bool { return sameFirst(t.key(row), key) && compareKeys(t.key(row), key) >= 0 }, t.byKey)
}

func (t table[K, R]) byKey(a, b R) int { return compareKeys(t.key(a), t.key(b)) }

// one returns the matching row.
func (t table[K, R]) one(matches func(R) bool) (row R, err error) {
	for _, row := range *t.rows {
		if matches(row) {
			return row, nil
		}
	}
	return row, metadata.ErrNotFound
}

// all yields the matching rows, in order.
func (t table[K, R]) all(matches func(R) bool, order func(a, b R) int) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var rows []R
		for _, row := range *t.rows {
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

// split returns the parts of the key that a pointer points to: an id or a digest, then a string or
// a number.
func split(key any) (first []byte, text string, number uint64) {
	switch key := key.(type) {
	case *metadata.ID:
		return key[:], "", 0
	case *blobs.Digest:
		return key[:], "", 0
	case *metadata.VersionKey:
		return key.Resource[:], "", uint64(key.Version)
	case *metadata.DeliveryKey:
		return key.Webhook[:], "", key.Number
	case *metadata.SchemaVersionKey:
		return key.Schema[:], "", uint64(key.Number)
	case *metadata.EditEntry:
		return key.EditID[:], "", key.Number
	case *usageKey:
		return key.dataspace[:], "", uint64(int64(key.day)) ^ 1<<63
	case *metadata.FolderKey:
		return key.SetID[:], key.Path, 0
	case *metadata.ObjectKey:
		return key.Digest[:], key.Object, 0
	case *metadata.SessionKey:
		return key.User[:], string(key.Digest[:]), 0
	case *string:
		return nil, *key, 0
	}
	panic(fmt.Sprintf("metadatatest: %T is no key", key))
}

func compareKeys[K any](a, b K) int {
	if a, ok := any(&a).(*metadata.ID); ok { // most keys
		return a.Compare(*any(&b).(*metadata.ID))
	}
	first, text, number := split(&a)
	otherFirst, otherText, otherNumber := split(&b)
	return cmp.Or(bytes.Compare(first, otherFirst), cmp.Compare(text, otherText), cmp.Compare(number, otherNumber))
}

func sameFirst[K any](a, b K) bool {
	first, _, _ := split(&a)
	other, _, _ := split(&b)
	return bytes.Equal(first, other)
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
	made table[metadata.FolderKey, metadata.Folder]
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

// Page clears the borrowed resource after fn returns.
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

// at returns a resource at the position.
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

type sessions struct {
	table[metadata.SessionKey, metadata.Session]
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

// usageKey is a dataspace and a day.
type usageKey struct {
	dataspace metadata.ID
	day       metadata.Day
}

type usage struct {
	table[usageKey, usageRow]
	latest table[metadata.ID, metadata.Counters]
}

func (t usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return (*t.latest.rows)[dataspace], nil
}

func (t usage) Put(dataspace metadata.ID, day metadata.Day, c metadata.Counters) error {
	t.latest.own()[dataspace] = c
	return t.table.Put(usageRow{dataspace, day, c})
}

func (t usage) Days(dataspace metadata.ID) iter.Seq2[metadata.DayCounters, error] {
	days := t.all(func(row usageRow) bool { return row.Dataspace == dataspace }, t.byKey)
	return fields(days, func(row usageRow) metadata.DayCounters {
		return metadata.DayCounters{Day: row.Day, Counters: row.Counters}
	})
}

type blobRows struct {
	table[blobs.Digest, blobs.Blob]
	resources resources
	versions  table[metadata.VersionKey, metadata.Version]
}

type unreferenced struct {
	table[blobs.Digest, metadata.Unreferenced]
}

func (t unreferenced) Total() (total metadata.BlobCount, err error) {
	for _, row := range *t.rows {
		total.Blobs++
		total.Bytes += row.Bytes
	}
	return total, nil
}
