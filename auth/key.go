// Package auth knows who may call and what a role permits: keys and their digests, principals,
// roles as sets of actions. It stores nothing and reads no clock.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/oklog/ulid/v2"
)

// KeyPrefix begins every key that this service makes, so that people and secret scanners recognise
// one.
const KeyPrefix = "lsk_"

// shownPrefix is how much of a key is kept in clear to tell keys apart in a list: KeyPrefix and 4
// of 43 characters.
const shownPrefix = len(KeyPrefix) + 4

// minChosenKey is the least length of a key that an operator chooses instead of having it made.
const minChosenKey = 32

// KeyDigest is the SHA-256 of a key. Keys carry 256 random bits, so a plain digest cannot be
// reversed or guessed, and a look-up by digest takes the same time whether or not any part of the
// key was right.
type KeyDigest [sha256.Size]byte

// NewKey makes a key: KeyPrefix and 43 characters of URL-safe base64 (32 random bytes).
func NewKey() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: the program ends if the system has no randomness
	return KeyPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
}

// DigestKey returns the digest under which a key is stored. White space around the key does not
// count, in whatever way it is sent.
func DigestKey(key string) KeyDigest {
	var short [64]byte // the keys made here fit, and cost no allocation
	return sha256.Sum256(append(short[:0], strings.TrimSpace(key)...))
}

// ShownPrefix returns the beginning of a key that may be shown after the key itself no longer is.
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

// Origin is where a request comes from, for the audit log.
type Origin struct {
	Request [16]byte // the id of the request; zero: there is none
	Address string   // of the client; "": not known
}

// Principal is the user in whose name a request runs. The zero Principal is a caller without a key.
type Principal struct {
	UserID   ulid.ULID
	KeyID    ulid.ULID // the key of the request; zero: none
	Username string
	Sysadmin bool

	Anonymous bool // nobody in particular: the request has no credentials, and all else is zero

	Origin

	Session SessionDigest // the session of that key; zero: the request has the key itself

	Expires int64  // when key or session does, in microseconds since 1970; 0: never
	AsOf    uint64 // the state of what decides access in which the rest is true; 0: it has to be looked up

	// Presumed: nobody has looked whether AsOf is the present state. The first transaction does.
	Presumed bool
}
