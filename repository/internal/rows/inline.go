package rows

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"labshelf/metadata"
)

// ReadInline reads the inline body of a resource. An ErrRecordDamaged describes what is wrong with
// it.
func ReadInline(tx *metadata.Tx, r metadata.Resource) ([]byte, error) {
	body, err := tx.InlineBodies.Get(r.VersionKey())
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		err = fmt.Errorf("%w: it is missing", metadata.ErrRecordDamaged)
	case err == nil && int64(len(body)) != r.Bytes:
		err = fmt.Errorf("%w: it has %d bytes, not %d", metadata.ErrRecordDamaged, len(body), r.Bytes)
	}
	return body, err
}

// VerifyInline is like ReadInline, but it also compares the digest.
func VerifyInline(tx *metadata.Tx, r metadata.Resource) ([]byte, error) {
	body, err := ReadInline(tx, r)
	if err == nil && sha256.Sum256(body) != r.Digest {
		err = fmt.Errorf("%w: it does not match its SHA-256", metadata.ErrRecordDamaged)
	}
	return body, err
}
