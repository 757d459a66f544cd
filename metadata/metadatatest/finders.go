package metadatatest

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

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

type users struct {
	table[metadata.ID, metadata.User]
}

func (t users) ByName(username string) (metadata.ID, error) {
	u, err := t.one(func(u metadata.User) bool { return strings.EqualFold(u.Username, username) })
	return u.ID, err
}

// userKey is the user of a key, and its id.
type userKey struct{ User, ID metadata.ID }

type keys struct {
	table[userKey, metadata.Key]
}

func (t keys) Get(user, key metadata.ID) (metadata.Key, error) {
	return t.table.Get(userKey{user, key})
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

// usageRow, latestRow and bodyRow are the rows of tables without a row type.
type (
	usageRow struct {
		usageKey
		Counters metadata.Counters
	}
	usageKey struct {
		Dataspace metadata.ID
		Day       metadata.Day
	}
	latestRow struct {
		Dataspace metadata.ID
		Counters  metadata.Counters
	}
	bodyRow struct {
		metadata.VersionKey
		Body string
	}
)

type usage struct {
	table[usageKey, usageRow]
}

func (t usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return rowsOf[metadata.ID, latestRow](t.state)[dataspace].Counters, nil
}

func (t usage) Put(dataspace metadata.ID, day metadata.Day, c metadata.Counters) error {
	latest := table[metadata.ID, latestRow]{t.transaction, func(row latestRow) metadata.ID { return row.Dataspace }}
	return errors.Join(latest.Put(latestRow{dataspace, c}), t.table.Put(usageRow{usageKey{dataspace, day}, c}))
}

func (t usage) Days(dataspace metadata.ID) iter.Seq2[metadata.DayCounters, error] {
	days := t.all(func(row usageRow) bool { return row.Dataspace == dataspace }, t.byKey)
	return fields(days, func(row usageRow) metadata.DayCounters {
		return metadata.DayCounters{Day: row.Day, Counters: row.Counters}
	})
}

type blobRows struct {
	table[blobs.Digest, blobs.Blob]
}

type unreferenced struct {
	table[blobs.Digest, metadata.Unreferenced]
}

func (t unreferenced) Total() (total metadata.BlobCount, err error) {
	for _, row := range t.rows() {
		total.Blobs++
		total.Bytes += row.Bytes
	}
	return total, nil
}

type schemas struct {
	table[metadata.ID, metadata.Schema]
}

func (t schemas) OfDataspace(dataspace metadata.ID, states paging.States) iter.Seq2[metadata.Schema, error] {
	return t.all(func(s metadata.Schema) bool { return s.DataspaceID == dataspace && has(states, s.State) }, t.byKey)
}

type edits struct {
	table[metadata.ID, metadata.BulkEdit]
}

func (t edits) OfSet(set, before metadata.ID) iter.Seq2[metadata.BulkEdit, error] {
	older := func(e metadata.BulkEdit) bool {
		return e.SetID == set && (before == metadata.ID{} || e.ID.Compare(before) < 0)
	}
	return t.all(older, func(a, b metadata.BulkEdit) int { return t.byKey(b, a) })
}

type links struct {
	table[metadata.ID, metadata.Link]
}

func (t links) ByDigest(digest auth.LinkDigest) (metadata.Link, error) {
	for l, err := range t.all(func(l metadata.Link) bool { return l.Digest == digest }, t.byKey) {
		return l, err
	}
	return metadata.Link{}, metadata.ErrNotFound
}

func (t links) Range(q metadata.LinkRange) iter.Seq2[metadata.Link, error] {
	return t.all(func(l metadata.Link) bool {
		in := q.Dataspace == l.DataspaceID
		if q.Dataspace == (metadata.ID{}) {
			in = q.Owner == (metadata.ID{}) || q.Owner == l.OwnerID
		}
		return in && l.ID.Compare(q.After) > 0
	}, t.byKey)
}

type leases struct {
	table[string, metadata.Lease]
}

func (t leases) Under(prefix string) iter.Seq2[metadata.Lease, error] {
	return t.all(func(l metadata.Lease) bool { return strings.HasPrefix(l.Name, prefix) }, t.byKey)
}

type trashed struct {
	table[metadata.ObjectKey, metadata.TrashedObject]
}

func (t trashed) Of(digest blobs.Digest) iter.Seq2[metadata.TrashedObject, error] {
	return t.all(func(o metadata.TrashedObject) bool { return o.Digest == digest }, t.byKey)
}

func (t trashed) Named(object string) (bool, error) {
	for _, b := range rowsOf[blobs.Digest, blobs.Blob](t.state) {
		if b.Object == object {
			return object != "", nil
		}
	}
	for _, o := range t.rows() {
		if o.Object == object {
			return true, nil
		}
	}
	return false, nil
}

// Refs yields the versions of both tables.
func (t blobRows) Refs(of blobs.Digest) iter.Seq2[metadata.VersionKey, error] {
	keys := map[metadata.VersionKey]bool{}
	for _, r := range rowsOf[metadata.ID, metadata.Resource](t.state) {
		if r.Digest == of && r.Body == metadata.InBlob {
			keys[r.VersionKey()] = true
		}
	}
	for _, v := range rowsOf[metadata.VersionKey, metadata.Version](t.state) {
		if v.Digest == of && v.Body == metadata.InBlob {
			keys[v.Key()] = true
		}
	}
	return func(yield func(metadata.VersionKey, error) bool) {
		for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, b metadata.VersionKey) int { return compareKeys(a, b) }) {
			if !yield(key, nil) {
				return
			}
		}
	}
}

// bodies are stored as strings, so that callers cannot change them.
type bodies struct {
	table[metadata.VersionKey, bodyRow]
}

func (t bodies) Get(of metadata.VersionKey) ([]byte, error) {
	row, err := t.table.Get(of)
	return []byte(row.Body), err
}

func (t bodies) Put(of metadata.VersionKey, body []byte) error {
	return t.table.Put(bodyRow{of, string(body)})
}

func (t bodies) All(after metadata.VersionKey) iter.Seq2[metadata.VersionKey, error] {
	return fields(t.table.All(after), func(row bodyRow) metadata.VersionKey { return row.VersionKey })
}

func (t bodies) Total() (total metadata.BodyCount, err error) {
	for _, row := range t.rows() {
		total.Bodies++
		total.Bytes += int64(len(row.Body))
	}
	return total, nil
}
