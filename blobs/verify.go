package blobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// verifyBuffer is the number of bytes that are read and hashed at a time.
const verifyBuffer = 256 << 10

// Verify reads a blob to its end and hashes it. On Linux it reads a file from the disk rather than
// from memory, which would hide changes of the disk.
//
// A blob counts as damaged if two consecutive reads find it so: a byte that changes in transit says
// nothing about the store. The second read begins at the start.
//
// Errors: ErrNotFound; ErrDamaged with the kind of damage, or with the cause if the blob cannot be
// read; ErrUnavailable; the error of ctx, which is checked between reads.
func Verify(ctx context.Context, r Reader, b Blob) error {
	err := verifyOnce(ctx, r, b)
	if errors.Is(err, ErrDamaged) {
		err = verifyOnce(ctx, r, b)
	}
	return err
}

func verifyOnce(ctx context.Context, r Reader, b Blob) error {
	f, err := r.Open(ctx, b)
	switch {
	case err == nil:
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged), errors.Is(err, ErrUnavailable), ended(ctx, err):
		return err
	default:
		return unreadable(b.Digest, err)
	}
	dropPageCache(f)
	err = VerifyReader(ctx, f, b.Digest, b.Size)
	dropPageCache(f) // data that are read once should not replace data that are read often
	if closed := f.Close(); closed != nil && err == nil {
		err = unreadable(b.Digest, closed)
	}
	return err
}

// VerifyReader is like Verify for any content of a blob. It reads r to its end, or one byte more
// than size. An error of r also results in ErrDamaged, which wraps it.
func VerifyReader(ctx context.Context, r io.Reader, digest Digest, size int64) error {
	hash := sha256.New()
	chunk := make([]byte, max(1, min(verifyBuffer, size+1)))
	for read := int64(0); ; {
		n, err := ReadFull(ctx, r, chunk)
		hash.Write(chunk[:n]) // never fails
		read += int64(n)
		switch {
		case read > size:
			return fmt.Errorf("%w: %s has more than %d bytes", ErrDamaged, digest, size)
		case err == nil:
		case err == io.EOF && read < size:
			return fmt.Errorf("%w: %s has %d bytes, not %d", ErrDamaged, digest, read, size)
		case err == io.EOF:
			return compare(digest, hash.Sum(nil))
		case ended(ctx, err), errors.Is(err, ErrNotFound), errors.Is(err, ErrUnavailable):
			return err
		default:
			return unreadable(digest, err)
		}
	}
}

// ended reports whether an error means that ctx has ended.
func ended(ctx context.Context, err error) bool { return ctx.Err() != nil && errors.Is(err, ctx.Err()) }

func compare(digest Digest, sum []byte) error {
	if got := Digest(sum); got != digest {
		return fmt.Errorf("%w: the content of %s has the SHA-256 %s", ErrDamaged, digest, got)
	}
	return nil
}

func unreadable(digest Digest, err error) error {
	return fmt.Errorf("%w: %s cannot be read: %w", ErrDamaged, digest, err)
}

// ReadFull reads as Stage does: until buf is full (nil), r ends (io.EOF, also with the last byte),
// r fails or ctx ends. It checks ctx before each Read.
func ReadFull(ctx context.Context, r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}
