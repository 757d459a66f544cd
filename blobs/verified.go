package blobs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// errContent is the error of a blob whose bytes do not match its digest.
var errContent = fmt.Errorf("%w: the content does not have the recorded SHA-256", ErrDamaged)

// Verified is an open blob that compares its bytes with the digest. The comparison needs the whole
// blob in order from its start: other parts are not verified. Reading from the start again compares
// again. A Verified is not safe for concurrent use.
type Verified struct {
	io.ReadSeekCloser // the blob without the comparison, for a reader that compares it itself

	blob       Blob
	hash       hash.Hash // nil before the first Read
	at, hashed int64
}

// NewVerified returns an open blob that compares its bytes. Its position must be the start.
func NewVerified(file io.ReadSeekCloser, b Blob) *Verified {
	return &Verified{ReadSeekCloser: file, blob: b}
}

// Seek implements [io.Seeker].
func (v *Verified) Seek(offset int64, whence int) (at int64, err error) {
	v.at, err = v.ReadSeekCloser.Seek(offset, whence)
	return v.at, err
}

// Read implements [io.Reader]. If the digest is wrong, Read withholds the last byte and returns an
// ErrDamaged, so that no reader takes the bytes for a complete blob. A blob that ends too early is
// an ErrDamaged, too.
func (v *Verified) Read(p []byte) (int, error) {
	n, err := v.ReadSeekCloser.Read(p)
	switch {
	case v.at == 0 && v.hash == nil:
		v.hash = sha256.New()
	case v.at == 0:
		v.hash.Reset()
		v.hashed = 0
	case v.at != v.hashed:
		v.at += int64(n)
		return n, err
	}
	v.hash.Write(p[:n]) // never fails
	v.at += int64(n)
	v.hashed = v.at
	switch {
	case n > 0 && v.at >= v.blob.Size && Digest(v.hash.Sum(nil)) != v.blob.Digest:
		return n - 1, errContent
	case err == io.EOF && v.at < v.blob.Size:
		return n, fmt.Errorf("%w: it has %d bytes, not %d", ErrDamaged, v.at, v.blob.Size)
	}
	return n, err
}

// ReadWhole reads the blob from its start into a slice of its size, and compares the digest. After
// a mismatch it reads once more, because a byte may have changed in transit. The error is an
// ErrDamaged if the digest is wrong again, and io.ErrUnexpectedEOF if the blob ends too early.
func (v *Verified) ReadWhole(into []byte) error {
	err := v.readWhole(into)
	if !errors.Is(err, errContent) {
		return err
	}
	if _, err := v.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return v.readWhole(into)
}

func (v *Verified) readWhole(into []byte) error {
	n, err := io.ReadFull(v.ReadSeekCloser, into)
	v.at += int64(n)
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err == nil && sha256.Sum256(into) != v.blob.Digest:
		return errContent
	}
	return err
}
