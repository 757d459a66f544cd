// Package audit defines the format of the audit log: the content of an entry, the Merkle tree of
// the entries, its signed heads, and the verification of an export. docs/reference/audit-format.md
// describes it for other programs.
//
// An entry is identified by its number, from 0, which is its place in the tree. Its leaf is the
// byte string that is hashed. The leaf is stored as it was hashed, and never encoded again. It
// contains texts and client addresses only as salted digests. The texts are stored next to it,
// [Sealed], and can be erased: the tree still verifies. The tree is defined by RFC 6962 and
// implemented by golang.org/x/mod/sumdb/tlog.
package audit

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"
)

// Entry is the content of one entry, without the texts. Zero fields are not encoded.
type Entry struct {
	Action  Action
	Stamp   int64     // time of the change, in microseconds since 1970; greater than in all earlier entries, except for an EpochBegin
	User    ulid.ULID // the acting user; zero: an operator with the data directory, or the service itself
	Key     ulid.ULID // the key of the request
	Session [8]byte   // the session of that key: the beginning of the SHA-256 of its token
	Request [16]byte  // the request
	Cause   uint64    // number of the request's entry that caused this one, or 0

	Object    Object
	Dataspace ulid.ULID // dataspace of the object or role
	Set       ulid.ULID // set of the object
	Subject   ulid.ULID // the user who holds a role or a key
	Previous  uint64    // number of the object's previous entry, or 0

	Digest, Before [32]byte // of the file, new and old
	Bytes          uint64   // of the file
	Version        uint64   // number of the version that the action created or concerns, from 1
	Values         string   // values other than texts, as Changes writes them

	Texts, Address [32]byte // digests of the sealed texts
}

// Object is the object of an action. The zero Object means no object.
type Object struct {
	Kind Kind
	ID   ulid.ULID
}

// Kind is the kind of an object. The numbers are hashed, so they never change.
type Kind uint8

// The kinds.
const (
	Dataspace Kind = 1
	Set       Kind = 2
	Resource  Kind = 3
	User      Kind = 4
	Key       Kind = 5
	Webhook   Kind = 7
	Schema    Kind = 8
	Edit      Kind = 9 // a bulk edit
	Link      Kind = 10
)

var kinds = map[Kind]string{
	Dataspace: "dataspace", Set: "set", Resource: "resource", User: "user", Key: "key", Webhook: "webhook", Schema: "schema", Edit: "edit",
	Link: "link",
}

// String returns the kind as in the API.
func (k Kind) String() string { return kinds[k] }

// The tags of the fields of a leaf. A leaf consists of a format byte, the code of its action, the
// stamp in 8 bytes, and the fields that are not zero, in ascending order of their tags: tag, length
// in one byte (two, big-endian, for values), bytes. Numbers are big-endian, without leading zeros.
// The format is frozen; another format gets another first byte.
const (
	leafFormat = 1
	leafHeader = 1 + 1 + 8

	tagUser      = 1
	tagKey       = 2
	tagSession   = 3
	tagRequest   = 4
	tagCause     = 5
	tagKind      = 6
	tagObject    = 7
	tagDataspace = 8
	tagSet       = 9
	tagSubject   = 10
	tagPrevious  = 11
	tagDigest    = 12
	tagBefore    = 13
	tagBytes     = 14
	tagVersion   = 15
	tagTexts     = 16
	tagAddress   = 17
	tagValues    = 18
)

// maxValues is the length of the longest Values.
const maxValues = 1<<16 - 1

// ErrLeaf means that a byte string is not a leaf of a known format.
var ErrLeaf = errors.New("no leaf of a known format")

// field is one field of a leaf: a byte string of fixed length, or a number.
type field struct {
	tag    byte
	fixed  []byte
	number *uint64
}

// fields returns all fields of a leaf except the values, in the order of their tags.
func (e *Entry) fields(kind *[1]byte) [tagAddress]field {
	return [...]field{
		{tagUser, e.User[:], nil}, {tagKey, e.Key[:], nil}, {tagSession, e.Session[:], nil}, {tagRequest, e.Request[:], nil},
		{tagCause, nil, &e.Cause}, {tagKind, kind[:], nil}, {tagObject, e.Object.ID[:], nil},
		{tagDataspace, e.Dataspace[:], nil}, {tagSet, e.Set[:], nil}, {tagSubject, e.Subject[:], nil}, {tagPrevious, nil, &e.Previous},
		{tagDigest, e.Digest[:], nil}, {tagBefore, e.Before[:], nil}, {tagBytes, nil, &e.Bytes}, {tagVersion, nil, &e.Version},
		{tagTexts, e.Texts[:], nil}, {tagAddress, e.Address[:], nil},
	}
}

// Leaf returns the byte string that is hashed.
func (e Entry) Leaf() ([]byte, error) {
	if len(e.Values) > maxValues {
		return nil, fmt.Errorf("audit: the values have %d bytes; at most %d are allowed", len(e.Values), maxValues)
	}
	leaf := make([]byte, 0, 256)
	leaf = append(leaf, leafFormat, byte(e.Action))
	leaf = binary.BigEndian.AppendUint64(leaf, uint64(e.Stamp))
	var number [8]byte
	for _, f := range e.fields(&[1]byte{byte(e.Object.Kind)}) {
		value := f.fixed
		if f.number != nil {
			binary.BigEndian.PutUint64(number[:], *f.number)
			value = trimmed(number[:])
		}
		if len(trimmed(value)) == 0 {
			continue
		}
		leaf = append(append(leaf, f.tag, byte(len(value))), value...)
	}
	if e.Values != "" {
		leaf = append(leaf, tagValues)
		leaf = append(binary.BigEndian.AppendUint16(leaf, uint16(len(e.Values))), e.Values...)
	}
	return leaf, nil
}

// trimmed returns a number without leading zeros.
func trimmed(number []byte) []byte {
	for len(number) > 0 && number[0] == 0 {
		number = number[1:]
	}
	return number
}

// Parse decodes a leaf. The error wraps ErrLeaf. Each entry has exactly one valid leaf.
func Parse(leaf []byte) (e Entry, err error) {
	if len(leaf) < leafHeader || leaf[0] != leafFormat {
		return e, ErrLeaf
	}
	e.Action, e.Stamp = Action(leaf[1]), int64(binary.BigEndian.Uint64(leaf[2:]))
	var kind [1]byte
	rest := leaf[leafHeader:]
	for _, f := range e.fields(&kind) {
		if len(rest) < 2 || rest[0] != f.tag {
			continue
		}
		length := int(rest[1])
		if len(rest) < 2+length {
			return Entry{}, ErrLeaf
		}
		if !f.set(rest[2 : 2+length]) {
			return Entry{}, fmt.Errorf("%w: field %d", ErrLeaf, f.tag)
		}
		rest = rest[2+length:]
	}
	e.Object.Kind = Kind(kind[0])
	if len(rest) > 3 && rest[0] == tagValues && len(rest) == 3+int(binary.BigEndian.Uint16(rest[1:])) {
		e.Values, rest = string(rest[3:]), nil
	}
	if len(rest) > 0 {
		return Entry{}, fmt.Errorf("%w: field %d", ErrLeaf, rest[0])
	}
	return e, nil
}

// set decodes the value of a field. It is not ok for a value that Leaf never writes.
func (f field) set(value []byte) (ok bool) {
	if f.number == nil {
		return copy(f.fixed, value) == len(value) && len(value) == len(f.fixed) && len(trimmed(value)) > 0
	}
	if len(value) == 0 || len(value) > 8 || value[0] == 0 {
		return false
	}
	for _, b := range value {
		*f.number = *f.number<<8 | uint64(b)
	}
	return true
}
