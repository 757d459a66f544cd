// Package digest defines the name of a blob: the SHA-256 of its bytes.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest is the SHA-256 of a blob and its name in every store.
type Digest [sha256.Size]byte

// String returns the digest as 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns what String returns, for JSON.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText parses the form of Parse.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = Parse(string(text))
	return err
}

// Parse parses a digest from exactly 64 hexadecimal digits in any case. The error does not repeat
// the text.
func Parse(text string) (Digest, error) {
	var d Digest
	if len(text) != hex.EncodedLen(len(d)) {
		return Digest{}, fmt.Errorf("a SHA-256 digest has %d hexadecimal digits, not %d characters", hex.EncodedLen(len(d)), len(text))
	}
	if _, err := hex.Decode(d[:], []byte(text)); err != nil {
		return Digest{}, fmt.Errorf("a SHA-256 digest has only hexadecimal digits: %w", err)
	}
	return d, nil
}
