package tables

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// Only this file builds and splits keys. Every field has a fixed width, and its encoding makes the
// order of bytes equal to the order of values. A field of variable length comes last, followed by a
// NUL, which it cannot contain, and an id. The layouts are frozen: a change needs a migration.

const (
	idSize     = len(metadata.ID{})
	digestSize = len(blobs.Digest{})
	nameEnd    = 0 // follows a name, and sorts before every longer name
)

// appendStamp appends 8 bytes. It inverts the sign bit, so that the order also holds before 1970.
func appendStamp(key []byte, s metadata.Stamp) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(s)^(1<<63))
}

func appendName(key []byte, name string) []byte {
	return append(append(key, name...), nameEnd)
}

func idKey(id metadata.ID) []byte { return id[:] }

// borrowedKey is like idKey without a copy. The key is valid as long as the row.
func borrowedKey(id *metadata.ID) []byte { return id[:] }

func blobKey(d blobs.Digest) []byte { return d[:] }

// objectKey returns the key of an object that had the bytes of a blob.
func objectKey(of metadata.ObjectKey) []byte {
	return append(append(make([]byte, 0, digestSize+len(of.Object)), of.Digest[:]...), of.Object...)
}

func keyDigestKey(d auth.KeyDigest) []byte { return d[:] }

// sessionKey returns the key of a session. Sessions are ordered by user.
func sessionKey(of metadata.SessionKey) []byte {
	return append(append(make([]byte, 0, idSize+digestSize), of.User[:]...), of.Digest[:]...)
}

func nameKey(name string) []byte { return []byte(name) }

// usernameKey returns the same key for usernames that differ only in case. Usernames are ASCII.
func usernameKey(name string) []byte { return []byte(strings.ToLower(name)) }

// pairKey returns a key of two ids, for indexes with at most one entry for each pair.
func pairKey(first, second metadata.ID) []byte {
	return append(first[:], second[:]...)
}

// stateScope returns the first bytes of the keys with one state in an index over everything.
func stateScope(state metadata.State) []byte { return []byte{byte(state)} }

// containerScope returns the first bytes of the keys with one state in an index by dataspace or
// set.
func containerScope(container metadata.ID, state metadata.State) []byte {
	return append(container[:], byte(state))
}

// idIndexKey returns a key of an index ordered by id, within a scope.
func idIndexKey(scope []byte, id metadata.ID) []byte {
	return append(scope, id[:]...)
}

// timeIndexKey returns a key of an index ordered by stamp, then id, within a scope.
func timeIndexKey(scope []byte, stamp metadata.Stamp, id metadata.ID) []byte {
	return append(appendStamp(scope, stamp), id[:]...)
}

// nameIndexKey returns a key of an index ordered by the bytes of the name, then id, within a scope.
func nameIndexKey(scope []byte, name string, id metadata.ID) []byte {
	return append(appendName(scope, name), id[:]...)
}

// blobRefKey returns the key of the reference from a version of a resource to its blob.
func blobRefKey(d blobs.Digest, resource metadata.ID, version uint32) []byte {
	return binary.BigEndian.AppendUint32(append(d[:], resource[:]...), version)
}

// versionKey returns the key of a version of a resource, and of its body.
func versionKey(of metadata.VersionKey) []byte {
	return binary.BigEndian.AppendUint32(of.Resource[:], of.Version)
}

// splitVersionKey is the inverse of versionKey.
func splitVersionKey(key []byte) (of metadata.VersionKey, ok bool) {
	if len(key) != idSize+4 {
		return of, false
	}
	return metadata.VersionKey{Resource: metadata.ID(key[:idSize]), Version: binary.BigEndian.Uint32(key[idSize:])}, true
}

// deliveryKey returns the key of a delivery of a webhook.
func deliveryKey(of metadata.DeliveryKey) []byte {
	return binary.BigEndian.AppendUint64(of.Webhook[:], of.Number)
}

// schemaVersionKey returns the key of a version of a schema.
func schemaVersionKey(of metadata.SchemaVersionKey) []byte {
	return binary.BigEndian.AppendUint32(of.Schema[:], of.Number)
}

// editEntryKey returns the key of an entry of a bulk edit.
func editEntryKey(of metadata.EditEntry) []byte {
	return binary.BigEndian.AppendUint64(of.EditID[:], of.Number)
}

// splitEditEntryKey is the inverse of editEntryKey.
func splitEditEntryKey(key []byte) (of metadata.EditEntry, ok bool) {
	if len(key) != idSize+8 {
		return of, false
	}
	return metadata.EditEntry{EditID: metadata.ID(key[:idSize]), Number: binary.BigEndian.Uint64(key[idSize:])}, true
}

// folderKey returns the key of a folder of a set.
func folderKey(of metadata.FolderKey) []byte { return append(of.SetID[:], of.Path...) }

// splitBlobRef returns the version in a key of blobRefKey.
func splitBlobRef(key []byte) (of metadata.VersionKey, ok bool) {
	return splitVersionKey(key[min(len(key), digestSize):])
}

// entryKey returns the key of an entry of the audit log.
func entryKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// splitEntryKey is the inverse of entryKey.
func splitEntryKey(key []byte) (number uint64, ok bool) {
	if len(key) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key), true
}

// digestIDKey returns a key of an index from a blob to objects: digest, then id.
func digestIDKey(d blobs.Digest, id metadata.ID) []byte { return append(d[:], id[:]...) }

// dayKey returns the key of a dataspace's counters at the end of a day. It inverts the sign bit, so
// that days before 1970 sort first.
func dayKey(dataspace metadata.ID, day metadata.Day) []byte {
	return binary.BigEndian.AppendUint32(dataspace[:], uint32(day)^(1<<31))
}

// splitDayKey returns the day in a key of dayKey.
func splitDayKey(key []byte) (day metadata.Day, ok bool) {
	if len(key) != idSize+4 {
		return 0, false
	}
	return metadata.Day(binary.BigEndian.Uint32(key[idSize:]) ^ (1 << 31)), true
}

// splitBlobKey returns the digest in a key of blobKey.
func splitBlobKey(key []byte) (digest blobs.Digest, ok bool) {
	if len(key) != digestSize {
		return digest, false
	}
	return blobs.Digest(key), true
}

// keyText formats a key for people: an id as in the API, anything else in hex.
func keyText(key []byte) string {
	if len(key) == idSize {
		return metadata.ID(key).String()
	}
	return hex.EncodeToString(key)
}

// trailingID returns the id at the end of a key.
func trailingID(key []byte) (id metadata.ID, ok bool) {
	if len(key) < idSize {
		return id, false
	}
	return metadata.ID(key[len(key)-idSize:]), true
}

// The owner of an index entry is the primary key of the row that the entry points to.
func ownerInKey(key, _ []byte) []byte     { return key[max(0, len(key)-idSize):] }
func ownerInValue(_, value []byte) []byte { return value }

// span is a range of keys in a bucket, from lo up to but excluding hi. A nil hi means no upper
// bound. All keys begin with the same scope bytes, and the rest determines the order of the
// listing.
type span struct {
	lo, hi []byte
	scope  int
}

func (s span) empty() bool { return s.hi != nil && bytes.Compare(s.lo, s.hi) >= 0 }

// contains reports whether a key is within the span. A nil key is not.
func (s span) contains(key []byte) bool {
	return key != nil && bytes.Compare(key, s.lo) >= 0 && (s.hi == nil || bytes.Compare(key, s.hi) < 0)
}

func (s span) from(lo []byte) span {
	if bytes.Compare(lo, s.lo) > 0 {
		s.lo = lo
	}
	return s
}

func (s span) upTo(hi []byte) span {
	if hi != nil && (s.hi == nil || bytes.Compare(hi, s.hi) < 0) {
		s.hi = hi
	}
	return s
}

// scopeSpan returns the span of all keys with this prefix.
func scopeSpan(scope []byte) span {
	return span{lo: scope, hi: pastPrefix(scope), scope: len(scope)}
}

// justAfter returns the smallest key greater than the given one.
func justAfter(key []byte) []byte { return append(bytes.Clone(key), 0) }

// pastPrefix returns the smallest key greater than all keys with this prefix, or nil if no such key
// exists.
func pastPrefix(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

// idSpan returns the part of a scope with ids greater than the given one. The zero id selects the
// whole scope.
func idSpan(scope []byte, after metadata.ID) span {
	s := scopeSpan(scope)
	if after == (metadata.ID{}) {
		return s
	}
	return s.from(justAfter(idIndexKey(bytes.Clone(scope), after)))
}

// greatestID is the greatest possible id.
var greatestID = metadata.ID(bytes.Repeat([]byte{0xff}, idSize))

// timeSpan converts the bounds of a range to a span of an index by time. Its keys lack the scope.
func timeSpan(r metadata.ResourceRange) span {
	s := span{lo: justAfter(timeIndexKey(nil, r.Since, greatestID))}
	if r.Until != 0 {
		s = s.upTo(appendStamp(nil, r.Until))
	}
	if r.After == (paging.Position{}) {
		return s
	}
	after := timeIndexKey(nil, metadata.Stamp(r.After.Stamp), r.After.ID)
	if r.Order == paging.Newest {
		return s.upTo(after)
	}
	return s.from(justAfter(after))
}

// nameSpan converts the bounds of a range to a span of an index by name. Its keys lack the scope.
// No name contains a NUL, so a range with a NUL in the name is empty.
func nameSpan(r metadata.ResourceRange) (s span) {
	if r.Name != nil {
		s = s.within(appendName(nil, *r.Name))
	}
	if r.NamePrefix != "" {
		s = s.within([]byte(r.NamePrefix))
	}
	if r.Name != nil && strings.IndexByte(*r.Name, nameEnd) >= 0 || strings.IndexByte(r.NamePrefix, nameEnd) >= 0 {
		s.hi = s.lo
	}
	if r.After == (paging.Position{}) {
		return s
	}
	after := nameIndexKey(nil, r.After.Name, r.After.ID)
	if r.Order == paging.ByNameDown {
		return s.upTo(after)
	}
	return s.from(justAfter(after))
}

// childrenSpan is like nameSpan, for a range with folders. If the range continues after a position
// without an id, the span begins after all names with that prefix.
func childrenSpan(r metadata.ResourceRange) span {
	if r.After.ID != (metadata.ID{}) || r.After.Name == "" {
		return nameSpan(r)
	}
	folder := []byte(r.After.Name)
	r.After = paging.Position{}
	if r.Order == paging.ByNameDown {
		return nameSpan(r).upTo(folder)
	}
	return nameSpan(r).from(pastPrefix(folder))
}

// folderSpan converts bounds of the index by name to bounds of the folders of the set.
func (s span) folderSpan(set metadata.ID) span {
	within := scopeSpan(idKey(set))
	folders := span{lo: append(idKey(set), s.lo...), hi: within.hi, scope: idSize}
	if s.hi != nil {
		folders.hi = append(idKey(set), s.hi...)
	}
	return folders
}

// nameInKey returns the name in a key of the index by name, without its scope. ok is false if the
// key has no name.
func nameInKey(key []byte) (name []byte, ok bool) {
	end := len(key) - idSize - 1
	if end < 0 || key[end] != nameEnd {
		return nil, false
	}
	return key[:end], true
}

// splitNameEntry is the inverse of nameIndexKey, without the scope.
func splitNameEntry(ordered []byte) (name []byte, id metadata.ID, ok bool) {
	if name, ok = nameInKey(ordered); ok {
		id, ok = trailingID(ordered)
	}
	return name, id, ok
}

// splitTimeEntry is the inverse of timeIndexKey, without the scope.
func splitTimeEntry(ordered []byte) (stamp metadata.Stamp, id metadata.ID, ok bool) {
	if len(ordered) != 8+idSize {
		return 0, id, false
	}
	return metadata.Stamp(binary.BigEndian.Uint64(ordered) ^ 1<<63), metadata.ID(ordered[8:]), true
}

// within narrows the span to the keys with this prefix.
func (s span) within(prefix []byte) span {
	return s.from(prefix).upTo(pastPrefix(prefix))
}

// inScopes returns one span for each state and container, or one for each state if containers is
// nil. Each contains the keys whose part after the scope is in the span s. All bounds share one
// allocation, because starting is most of the cost of merging 50 containers.
func (s span) inScopes(containers []metadata.ID, states paging.States) []span {
	all := make([]span, 0, 2*max(1, len(containers)))
	buffer := make([]byte, 0, cap(all)*(2*(idSize+1)+len(s.lo)+len(s.hi)))
	bound := func(container []byte, state metadata.State, then []byte) []byte {
		begin := len(buffer)
		buffer = append(append(append(buffer, container...), byte(state)), then...)
		return buffer[begin:len(buffer):len(buffer)]
	}
	add := func(container []byte, state metadata.State) {
		past := state
		if s.hi == nil {
			past++
		}
		all = append(all, span{bound(container, state, s.lo), bound(container, past, s.hi), len(container) + 1})
	}
	for _, state := range [...]metadata.State{metadata.Active, metadata.Deleted} {
		if states&paging.States(state) == 0 {
			continue
		}
		if containers == nil {
			add(nil, state)
		}
		for i := range containers {
			add(containers[i][:], state)
		}
	}
	return all
}
