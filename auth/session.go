package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/oklog/ulid/v2"
)

// SessionPrefix begins every token of a session.
const SessionPrefix = "lss_"

// sessionLength is that of a token: SessionPrefix, and 64 characters of base64 for the user and 32
// random bytes.
const sessionLength = len(SessionPrefix) + 64

// SessionDigest is the SHA-256 of the token of a session; see KeyDigest. It is a type of its own,
// so that a token is never taken for a key.
type SessionDigest [sha256.Size]byte

// NewSession makes the token of a session of a user. It is a secret that says whose it claims to
// be.
func NewSession(user ulid.ULID) (token string, digest SessionDigest) {
	var secret [48]byte
	copy(secret[:], user[:])
	rand.Read(secret[len(user):]) // never fails: the program ends if the system has no randomness
	token = SessionPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// ParseSession returns the user whom a token claims, and its digest. A text of another form is not
// ok.
func ParseSession(token string) (user ulid.ULID, digest SessionDigest, ok bool) {
	var text [sessionLength]byte // and not a copy elsewhere: each request of a page comes this way
	if copy(text[:], token) != len(token) || len(token) != sessionLength || token[:len(SessionPrefix)] != SessionPrefix {
		return user, digest, false
	}
	var secret [48]byte
	if _, err := base64.RawURLEncoding.Decode(secret[:], text[len(SessionPrefix):]); err != nil {
		return user, digest, false
	}
	return ulid.ULID(secret[:16]), sha256.Sum256(text[:]), true
}
