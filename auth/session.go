package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/oklog/ulid/v2"
)

// SessionPrefix begins every token of a session.
const SessionPrefix = "lss_"

// sessionLength is the length of a token: SessionPrefix, and 64 characters of base64 for the user
// and 32 random bytes.
const sessionLength = len(SessionPrefix) + 64

// SessionDigest is the SHA-256 of the token of a session; see KeyDigest. The separate type prevents
// confusion with keys.
type SessionDigest [sha256.Size]byte

// NewSession makes the token of a session of a user. The token is a secret and contains the user
// id.
func NewSession(user ulid.ULID) (token string, digest SessionDigest) {
	var secret [48]byte
	copy(secret[:], user[:])
	rand.Read(secret[len(user):]) // never fails: the program ends if the system has no randomness
	token = SessionPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// ParseSession returns the user id in a token, and the token's digest. ok is false if the string is
// not a session token.
func ParseSession(token string) (user ulid.ULID, digest SessionDigest, ok bool) {
	var text [sessionLength]byte // an array, to avoid a heap allocation: every request of a browser calls this
	if copy(text[:], token) != len(token) || len(token) != sessionLength || token[:len(SessionPrefix)] != SessionPrefix {
		return user, digest, false
	}
	var secret [48]byte
	if _, err := base64.RawURLEncoding.Decode(secret[:], text[len(SessionPrefix):]); err != nil {
		return user, digest, false
	}
	return ulid.ULID(secret[:16]), sha256.Sum256(text[:]), true
}
