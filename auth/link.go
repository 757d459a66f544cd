package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// LinkDigest is the SHA-256 of the token of a link; see KeyDigest. The separate type prevents
// confusion with keys.
type LinkDigest [sha256.Size]byte

// linkBytes is the number of random bytes of a token.
const linkBytes = 16

// NewLink makes the token of a link: 22 characters of URL-safe base64. It has no prefix, because
// people may have to read it aloud.
func NewLink() (token string, digest LinkDigest) {
	var secret [linkBytes]byte
	rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// ParseLink returns the digest of a token. ok is false for a text of another form.
func ParseLink(token string) (digest LinkDigest, ok bool) {
	secret, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return sha256.Sum256([]byte(token)), err == nil && len(secret) == linkBytes
}
