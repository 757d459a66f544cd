package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
)

type dataspaces struct{ *tx }

func (d dataspaces) Get(id metadata.ID) (metadata.Dataspace, error) {
	return dataspaceTable.get(d.tx, idKey(id))
}

func (d dataspaces) ByName(name string) (metadata.ID, error) {
	return idIn(d.tx, dataspaceNames, nameKey(name))
}

func (d dataspaces) Put(row metadata.Dataspace) error { return dataspaceTable.put(d.tx, row) }

func (d dataspaces) All(after metadata.ID) iter.Seq2[metadata.Dataspace, error] {
	return dataspaceTable.all(d.tx, idSpan(nil, after))
}

func (d dataspaces) Public(after metadata.ID) iter.Seq2[metadata.ID, error] {
	return listing{index: dataspacesPublic, spans: []span{idSpan(nil, after)}}.ids(d.tx)
}

type sets struct{ *tx }

func (s sets) Get(id metadata.ID) (metadata.Set, error) { return setTable.get(s.tx, idKey(id)) }

func (s sets) ByName(name string) (metadata.ID, error) { return idIn(s.tx, setNames, nameKey(name)) }

func (s sets) Put(row metadata.Set) error { return setTable.put(s.tx, row) }

func (s sets) Range(r metadata.SetRange) iter.Seq2[metadata.Set, error] {
	l := listing{index: setsByDataspace, spans: idSpan(nil, r.After).inScopes(r.Dataspaces, r.States)}
	if r.Dataspaces == nil {
		l.index = setsByState
	}
	return sequence(func(fn func(*metadata.Set) bool) error { return each(s.tx, &setTable, l, &codec{}, fn) })
}

type users struct{ *tx }

func (u users) Get(id metadata.ID) (metadata.User, error) { return userTable.get(u.tx, idKey(id)) }

func (u users) ByName(username string) (metadata.ID, error) {
	return idIn(u.tx, usernames, usernameKey(username))
}

func (u users) Put(row metadata.User) error { return userTable.put(u.tx, row) }

func (u users) All(after metadata.ID) iter.Seq2[metadata.User, error] {
	return userTable.all(u.tx, idSpan(nil, after))
}

type keys struct{ *tx }

func (k keys) Get(user, key metadata.ID) (metadata.Key, error) {
	digest := k.get(keysByUser, pairKey(user, key))
	if digest == nil {
		return metadata.Key{}, notFound{keysByUser, string(pairKey(user, key))}
	}
	return keyTable.get(k.tx, digest)
}

func (k keys) ByDigest(digest auth.KeyDigest) (metadata.Key, error) {
	return keyTable.get(k.tx, keyDigestKey(digest))
}

// Put takes out the row under the key's former digest, if that was another one: it is the same key all the same. When a key was
// last used decides nothing, and is written every minute.
func (k keys) Put(row metadata.Key) error {
	k.mustWrite()
	own, digest := pairKey(row.UserID, row.ID), keyDigestKey(row.Digest)
	present, err := keyTable.get(k.tx, digest)
	if err == nil && !bytes.Equal(pairKey(present.UserID, present.ID), own) {
		return fmt.Errorf("bolt: %s %x: %w", keysBucket, digest, errTaken)
	}
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	if former := k.get(keysByUser, own); former != nil && !bytes.Equal(former, digest) {
		k.delete(keysBucket, former)
		k.delete(keysByUser, own)
	}
	present.LastUsed = row.LastUsed
	decided := k.decided || present != row
	err = keyTable.put(k.tx, row)
	k.decided = decided
	return err
}

func (k keys) OfUser(user, after metadata.ID) iter.Seq2[metadata.Key, error] {
	return keyTable.pointed(k.tx, keysByUser, idSpan(idKey(user), after))
}

type sessions struct{ *tx }

func (s sessions) Get(user metadata.ID, digest auth.SessionDigest) (metadata.Session, error) {
	return sessionTable.get(s.tx, sessionKey(user, digest))
}

func (s sessions) Put(row metadata.Session) error { return sessionTable.put(s.tx, row) }

func (s sessions) Remove(user metadata.ID, digest auth.SessionDigest) error {
	s.mustWrite()
	s.delete(sessionsBucket, sessionKey(user, digest))
	return s.failed
}

func (s sessions) OfUser(user metadata.ID) iter.Seq2[metadata.Session, error] {
	return sessionTable.all(s.tx, scopeSpan(idKey(user)))
}

type transfers struct{ *tx }

func (t transfers) Get(id metadata.ID) (metadata.Transfer, error) {
	return transferTable.get(t.tx, idKey(id))
}

func (t transfers) Put(row metadata.Transfer) error { return transferTable.put(t.tx, row) }

func (t transfers) Remove(id metadata.ID) error { return transferTable.remove(t.tx, idKey(id)) }

func (t transfers) Ended(by metadata.Stamp) iter.Seq2[metadata.ID, error] {
	l := listing{index: transfersByEnd, spans: []span{scopeSpan(nil).upTo(pastPrefix(appendStamp(nil, by)))}}
	return l.ids(t.tx)
}

func (t transfers) Wait(digest blobs.Digest) (bool, error) {
	for range t.walk(transfersByDigest, scopeSpan(blobKey(digest))) {
		return true, t.failed
	}
	return false, t.failed
}

type privileges struct{ *tx }

func (p privileges) Get(id metadata.ID) (metadata.Privilege, error) {
	return privilegeTable.get(p.tx, idKey(id))
}

func (p privileges) Of(user, dataspace metadata.ID) (row metadata.Privilege, err error) {
	id, err := idIn(p.tx, privilegesByUser, pairKey(user, dataspace))
	if err != nil {
		return row, err
	}
	return p.Get(id)
}

func (p privileges) Put(row metadata.Privilege) error { return privilegeTable.put(p.tx, row) }

func (p privileges) All(after metadata.ID) iter.Seq2[metadata.Privilege, error] {
	return privilegeTable.all(p.tx, idSpan(nil, after))
}

func (p privileges) OfUser(user, after metadata.ID) iter.Seq2[metadata.Privilege, error] {
	return privilegeTable.pointed(p.tx, privilegesByUser, idSpan(idKey(user), after))
}

func (p privileges) OfDataspace(dataspace metadata.ID) iter.Seq2[metadata.Privilege, error] {
	return privilegeTable.pointed(p.tx, privilegesByDataspace, idSpan(idKey(dataspace), metadata.ID{}))
}

type steps struct{ *tx }

func (s steps) Get(container metadata.ID) (metadata.Step, error) {
	return stepTable.get(s.tx, idKey(container))
}

func (s steps) Put(row metadata.Step) error { return stepTable.put(s.tx, row) }

func (s steps) Remove(container metadata.ID) error {
	s.mustWrite()
	s.delete(stepsBucket, idKey(container))
	return s.failed
}

func (s steps) All() iter.Seq2[metadata.Step, error] {
	return stepTable.all(s.tx, idSpan(nil, metadata.ID{}))
}

type usage struct{ *tx }

func (u usage) Get(dataspace metadata.ID) (metadata.Counters, error) {
	return value(u.tx, usageBucket, idKey(dataspace), countersFields)
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
				yield(metadata.DayCounters{}, fmt.Errorf("bolt: %s %x: %w", usageByDay, key, metadata.ErrRecordDamaged))
				return
			}
			if !yield(metadata.DayCounters{Day: day, Counters: c}, nil) {
				return
			}
		}
	}
}

// value returns what a bucket holds under key; the zero value where there is nothing.
func value[T any](t *tx, b bucket, key []byte, fields func(*codec, *T)) (v T, err error) {
	record := t.get(b, key)
	if record == nil {
		return v, nil
	}
	if v, err = unseal(key, record, fields); err != nil {
		err = fmt.Errorf("bolt: %s %x: %w", b, key, err)
	}
	return v, err
}
