// Package auth defines callers and permissions: keys and their digests, principals, and roles as
// sets of actions. It stores nothing and reads no clock.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/oklog/ulid/v2"
)

// KeyPrefix begins every key of this service, so that people and secret scanners recognise keys.
const KeyPrefix = "lsk_"

// shownPrefix is the length of the part of a key that is stored in clear to identify it in a list:
// KeyPrefix and 4 of 43 characters.
const shownPrefix = len(KeyPrefix) + 4

// minChosenKey is the minimum length of a key that an operator chooses.
const minChosenKey = 32

// KeyDigest is the SHA-256 of a key. Keys contain 256 random bits, so a plain digest cannot be
// reversed or guessed. A lookup by digest takes the same time whether or not any part of the key
// was right.
type KeyDigest [sha256.Size]byte

// NewKey makes a key: KeyPrefix and 43 characters of URL-safe base64 (32 random bytes).
func NewKey() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: the program ends if the system has no randomness
	return KeyPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
}

// DigestKey returns the digest under which a key is stored. It ignores white space around the key.
func DigestKey(key string) KeyDigest {
	var short [64]byte // generated keys fit, without an allocation
	return sha256.Sum256(append(short[:0], strings.TrimSpace(key)...))
}

// ShownPrefix returns the part of a key that lists can show.
func ShownPrefix(key string) string {
	if len(key) < minChosenKey {
		return ""
	}
	return key[:shownPrefix]
}

// ValidChosenKey reports whether key may be set by an operator: at least 32 printable ASCII
// characters, no space.
func ValidChosenKey(key string) bool {
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(key) >= minChosenKey && !strings.ContainsFunc(key, unprintable)
}

// FromHeader returns the key in the value of an Authorization header: the key as it is, or after
// "Bearer " in any case. It returns "" if the value has no key.
func FromHeader(value string) string {
	value = strings.TrimSpace(value)
	scheme, key, _ := strings.Cut(value, " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(key)
	}
	return value
}

// Origin is the origin of a request, for the audit log.
type Origin struct {
	Request [16]byte   // the id of the request; zero if unknown
	Address netip.Addr // of the client; invalid if unknown
}

// Principal is the user on whose behalf a request runs. The zero Principal is a caller without a
// key.
type Principal struct {
	UserID   ulid.ULID
	KeyID    ulid.ULID // the key of the request; zero: none
	Username string
	Sysadmin bool // the user is a sysadmin, and the key of the request is not narrow
	// Everywhere means that the user is a sysadmin, who needs no role in a dataspace. Limits apply.
	Everywhere bool
	Limits     Limits // of the key

	Anonymous bool // the request has no credentials, and all other fields are zero

	Origin

	Session SessionDigest // the session of that key; zero: the request has the key itself

	Expires int64  // of the key or session, in microseconds since 1970; 0: never
	AsOf    uint64 // the access state for which the other fields are valid; 0: it has to be looked up

	// Presumed means that AsOf is not yet confirmed as the current state. The first transaction
	// confirms it.
	Presumed bool
}

// WithRights returns the principal with the rights of its user, as far as its limits permit them.
func (p Principal) WithRights(sysadmin bool) Principal {
	p.Everywhere, p.Sysadmin = sysadmin, sysadmin && !p.Limits.Narrow()
	return p
}
