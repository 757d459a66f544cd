package blobs

import "labshelf/blobs/digest"

// Digest is the SHA-256 of a blob and its name in every store.
type Digest = digest.Digest

// ParseDigest parses a digest from exactly 64 hexadecimal digits in any case. The error does not
// repeat the text.
func ParseDigest(text string) (Digest, error) { return digest.Parse(text) }
