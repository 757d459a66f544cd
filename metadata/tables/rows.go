package tables

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

type dataspaces struct {
	rows[metadata.ID, metadata.Dataspace, dataspaceNoun]
}

func (d dataspaces) ByName(name string) (metadata.ID, error) {
	return idIn(d.Tx, dataspaceNames, nameKey(name))
}

func (d dataspaces) Public(after metadata.ID) iter.Seq2[metadata.ID, error] {
	return listing{index: dataspacesPublic, spans: []span{idSpan(nil, after)}}.ids(d.Tx)
}

type sets struct {
	rows[metadata.ID, metadata.Set, setNoun]
}

func (s sets) ByName(name string) (metadata.ID, error) { return idIn(s.Tx, setNames, nameKey(name)) }

func (s sets) Range(r metadata.SetRange) iter.Seq2[metadata.Set, error] {
	l := listing{index: setsByDataspace, spans: idSpan(nil, r.After).inScopes(r.Dataspaces, r.States)}
	if r.Dataspaces == nil {
		l.index = setsByState
	}
	return sequence(func(fn func(*metadata.Set) bool) error { return each(s.Tx, &setTable, l, &codec{}, fn) })
}

type resources struct{ *Tx }

func (r resources) Get(id metadata.ID) (metadata.Resource, error) {
	return resourceTable.get(r.Tx, idKey(id))
}

func (r resources) Put(row metadata.Resource) error { return resourceTable.put(r.Tx, row) }

// Range yields copies of the rows.
func (r resources) Range(q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	return sequence(func(fn func(*metadata.Resource) bool) error { return r.read(q, &codec{}, fn) })
}

// Page yields borrowed rows: their strings are views of the file.
func (r resources) Page(q metadata.ResourceRange, fn func(*metadata.Resource) (more bool)) error {
	return r.read(q, &codec{views: true}, fn)
}

var errNoListing = errors.New("tables: resources have no such order there")

// Children yields borrowed rows, like Page.
func (r resources) Children(q metadata.ResourceRange, file func(*metadata.Resource) (more bool), folder func(string) (more bool)) error {
	l, ok := resourceListing(q, childrenSpan)
	if !ok || l.index != resourcesByName {
		return errNoListing
	}
	c := children{Tx: r.Tx, listing: l, base: len(q.NamePrefix), file: file, folder: folder, keys: q.Keys}
	return c.run(q)
}

// resourceListing returns the spans and the index of a range. For an order by name, the function
// named computes the bounds. ok is false if no index has the range.
func resourceListing(q metadata.ResourceRange, named func(metadata.ResourceRange) span) (l listing, ok bool) {
	containers, bounds := q.Dataspaces, timeSpan
	byName := q.Order.ByNames()
	switch none := (metadata.ID{}); {
	case byName && q.Set == none, !byName && q.Order != paging.Oldest && q.Order != paging.Newest:
		return l, false
	case byName:
		l.index, containers, bounds = resourcesByName, []metadata.ID{q.Set}, named
	case q.Set != none:
		l.index, containers = resourcesBySet, []metadata.ID{q.Set}
	case q.Dataspaces == nil:
		l.index = resourcesByTime
	default:
		l.index = resourcesByDataspace
	}
	l.backwards = q.Order == paging.Newest || q.Order == paging.ByNameDown
	l.spans = bounds(q).inScopes(containers, q.States)
	return l, true
}

// scan calls fn for the rows of a range. Its cost depends only on the number of these calls.
func (r resources) scan(q metadata.ResourceRange, c *codec, fn func(*metadata.Resource) (more bool)) error {
	l, ok := resourceListing(q, nameSpan)
	if !ok {
		return errNoListing
	}
	return each(r.Tx, &resourceTable, l, c, fn)
}

type users struct {
	rows[metadata.ID, metadata.User, userNoun]
}

func (u users) ByName(username string) (metadata.ID, error) {
	return idIn(u.Tx, usernames, usernameKey(username))
}

type keys struct{ *Tx }

func (k keys) Get(user, key metadata.ID) (metadata.Key, error) {
	digest := k.get(keysByUser, pairKey(user, key))
	if digest == nil {
		return metadata.Key{}, notFound{keysByUser, string(pairKey(user, key))}
	}
	return keyTable.get(k.Tx, digest)
}

func (k keys) ByDigest(digest auth.KeyDigest) (metadata.Key, error) {
	return keyTable.get(k.Tx, keyDigestKey(digest))
}

// Put also removes the row under the key's former digest if the digest has changed. LastUsed is
// written every minute and does not decide permissions, so a change of LastUsed alone does not
// change the access version.
func (k keys) Put(row metadata.Key) error {
	k.mustWrite()
	own, digest := pairKey(row.UserID, row.ID), keyDigestKey(row.Digest)
	present, err := keyTable.get(k.Tx, digest)
	if err == nil && !bytes.Equal(pairKey(present.UserID, present.ID), own) {
		return fmt.Errorf("tables: %s %x: %w", keysBucket, digest, ErrTaken)
	}
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	if former := k.get(keysByUser, own); former != nil && !bytes.Equal(former, digest) {
		k.delete(keysBucket, former)
		k.delete(keysByUser, own)
	}
	present.LastUsed = row.LastUsed
	decided := k.accessChanged || present != row
	err = keyTable.put(k.Tx, row)
	k.accessChanged = decided
	return err
}

func (k keys) OfUser(user, after metadata.ID) iter.Seq2[metadata.Key, error] {
	return keyTable.byIndex(k.Tx, keysByUser, idSpan(idKey(user), after))
}

type sessions struct {
	rows[metadata.SessionKey, metadata.Session, sessionNoun]
}

func (s sessions) OfUser(user metadata.ID) iter.Seq2[metadata.Session, error] {
	return sessionTable.all(s.Tx, scopeSpan(idKey(user)))
}

type uploads struct {
	rows[metadata.ID, metadata.ResumableUpload, uploadNoun]
}

func (t uploads) Ended(by metadata.Stamp) iter.Seq2[metadata.ID, error] {
	l := listing{index: uploadsByEnd, spans: []span{scopeSpan(nil).upTo(pastPrefix(appendStamp(nil, by)))}}
	return l.ids(t.Tx)
}

func (t uploads) Awaited(digest blobs.Digest) (bool, error) {
	for range t.walk(uploadsByDigest, scopeSpan(blobKey(digest))) {
		return true, t.failed
	}
	return false, t.failed
}

type privileges struct {
	rows[metadata.ID, metadata.Privilege, privilegeNoun]
}

func (p privileges) Of(user, dataspace metadata.ID) (row metadata.Privilege, err error) {
	id, err := idIn(p.Tx, privilegesByUser, pairKey(user, dataspace))
	if err != nil {
		return row, err
	}
	return privilegeTable.get(p.Tx, idKey(id))
}

func (p privileges) OfUser(user, after metadata.ID) iter.Seq2[metadata.Privilege, error] {
	return privilegeTable.byIndex(p.Tx, privilegesByUser, idSpan(idKey(user), after))
}

func (p privileges) OfDataspace(dataspace metadata.ID) iter.Seq2[metadata.Privilege, error] {
	return privilegeTable.byIndex(p.Tx, privilegesByDataspace, idSpan(idKey(dataspace), metadata.ID{}))
}

type usage struct{ *Tx }

func (u usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return value(u.Tx, usageBucket, idKey(dataspace), countersFields)
}

func (u usage) Put(dataspace metadata.ID, day metadata.Day, c metadata.Counters) error {
	u.mustWrite()
	total, daily := idKey(dataspace), dayKey(dataspace, day)
	u.put(usageBucket, total, seal(total, countersFields, c))
	u.put(usageByDay, daily, seal(daily, countersFields, c))
	return u.failed
}

func (u usage) Days(dataspace metadata.ID) iter.Seq2[metadata.DayCounters, error] {
	return func(yield func(metadata.DayCounters, error) bool) {
		for key, record := range u.walk(usageByDay, scopeSpan(idKey(dataspace))) {
			day, ok := splitDayKey(key)
			c, err := unseal(key, record, countersFields)
			if err != nil || !ok {
				yield(metadata.DayCounters{}, fmt.Errorf("tables: %s %x: %w", usageByDay, key, metadata.ErrRecordDamaged))
				return
			}
			if !yield(metadata.DayCounters{Day: day, Counters: c}, nil) {
				return
			}
		}
	}
}

// value returns the value under a key of a bucket, or the zero value if the key is missing.
func value[T any](t *Tx, b Bucket, key []byte, fields func(*codec, *T)) (v T, err error) {
	record := t.get(b, key)
	if record == nil {
		return v, nil
	}
	if v, err = unseal(key, record, fields); err != nil {
		err = fmt.Errorf("tables: %s %x: %w", b, key, err)
	}
	return v, err
}
