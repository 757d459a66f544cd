package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// LinkDigest is the SHA-256 of the token of a link; see KeyDigest. It is a type of its own, so that
// a token is never taken for a key.
type LinkDigest [sha256.Size]byte

// linkBytes is how many random bytes a token has.
const linkBytes = 16

// NewLink makes the token of a link: 22 characters of URL-safe base64. It has no prefix, since
// people may have to read it aloud.
func NewLink() (token string, digest LinkDigest) {
	var secret [linkBytes]byte
	rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// ParseLink returns the digest of a token. A text of another form is not ok.
func ParseLink(token string) (digest LinkDigest, ok bool) {
	secret, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return sha256.Sum256([]byte(token)), err == nil && len(secret) == linkBytes
}
