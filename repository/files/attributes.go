package files

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// The attributes of a file are the modification time set by a client, and checksums other than
// SHA-256. They are not part of the record: changing them makes no stamp and no event. A version
// without its own modification time uses the time of its record.

// Checksums are the checksums that clients of ownCloud and Nextcloud compare.
type Checksums struct {
	SHA1 [sha1.Size]byte
	MD5  [md5.Size]byte
}

// The range of modification times is the range of HTTP dates.
var (
	firstModified = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastModified  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// SetModified sets the modification time of a version. field is the field that the time came from.
func SetModified(a *metadata.FileAttributes, field string, version uint32, at time.Time) error {
	if at.Before(firstModified) || at.After(lastModified) {
		return core.Invalid(field, "a modification time must be in the years 1 to 9999")
	}
	a.Timed, a.Modified, a.Version = true, at.UnixMicro(), version
	return nil
}

// Attributes are the attributes that arrive with the body of an upload.
type Attributes struct {
	Modified  *time.Time // nil without one
	Field     string     // the field of the request that has the time
	Checksums *Checksums // of the body; nil if unknown
}

// Check returns an error if the attributes cannot be stored.
func (a Attributes) Check() error {
	if a.Modified == nil {
		return nil
	}
	return SetModified(&metadata.FileAttributes{}, a.Field, 0, *a.Modified)
}

// Store stores the attributes of the version of the file that has just been written.
func (a Attributes) Store(tx *metadata.Tx, r metadata.Resource) error {
	if a.Modified == nil && a.Checksums == nil {
		return nil
	}
	row, err := tx.FileProperties.Get(r.ID)
	if err := errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return err
	}
	row.ResourceID = r.ID
	if a.Modified != nil {
		if err := SetModified(&row.Attributes, a.Field, r.Version, *a.Modified); err != nil {
			return err
		}
	}
	if a.Checksums != nil {
		row.Attributes.Digest, row.Attributes.SHA1, row.Attributes.MD5 = r.Digest, a.Checksums.SHA1, a.Checksums.MD5
	}
	return tx.FileProperties.Put(row)
}

// ComputeChecksums reads files without checksums and stores the checksums. most limits the number
// of bytes that it reads. It skips unreadable files. It returns how many bytes it has read and for
// how many files it has stored checksums.
func (s *Files) ComputeChecksums(
	ctx context.Context, p auth.Principal, files []metadata.ID, most int64,
) (read int64, stored int, err error) {
	if err := s.core.View(ctx, p, func(*metadata.Tx, auth.Principal) error { return nil }); err != nil {
		return 0, 0, err // the caller is no longer valid
	}
	if s.core.Stores.Meta.Health().ReadOnly != nil {
		return 0, 0, nil // checksums could not be stored
	}
	ticket, err := s.checksums.Enter(admission.User(p.UserID))
	if err != nil {
		return 0, 0, nil // many requests of this caller are computing them
	}
	defer ticket.Leave()
	if err := ticket.Acquire(ctx); err != nil {
		return 0, 0, err
	}
	computed := map[metadata.ID]metadata.FileAttributes{}
	for _, id := range files {
		sums, bytes, err := s.computeChecksums(ctx, p, id, most-read)
		if read += bytes; ctx.Err() != nil {
			return read, 0, ctx.Err()
		}
		if err == nil && sums.Digest != (blobs.Digest{}) {
			computed[id] = sums
		}
	}
	if len(computed) == 0 {
		return read, 0, nil
	}
	return read, len(computed), s.core.Stores.Meta.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		for id, sums := range computed {
			row, err := tx.FileProperties.Get(id)
			if err := errs.Ignore(err, metadata.ErrNotFound); err != nil {
				return err
			}
			row.ResourceID = id
			row.Attributes.Digest, row.Attributes.SHA1, row.Attributes.MD5 = sums.Digest, sums.SHA1, sums.MD5
			if err := tx.FileProperties.Put(row); err != nil {
				return err
			}
		}
		return nil
	})
}

const hashedAtOnce = 1 << 20

// computeChecksums reads one file, unless it is longer than most bytes.
func (s *Files) computeChecksums(
	ctx context.Context, p auth.Principal, id metadata.ID, most int64,
) (a metadata.FileAttributes, read int64, err error) {
	r, file, err := s.OpenResource(ctx, p, id.String())
	if err != nil {
		return a, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if r.Bytes > most {
		return a, 0, nil
	}
	content, whole, first, second := unverified(file), sha256.New(), sha1.New(), md5.New()
	for all := io.MultiWriter(whole, first, second); err == nil && ctx.Err() == nil; {
		var n int64
		n, err = io.CopyN(all, content, hashedAtOnce)
		read += n
	}
	if err != io.EOF || [sha256.Size]byte(whole.Sum(nil)) != r.Digest {
		return a, read, errs.Ignore(err, io.EOF) // a damaged file gets no checksums
	}
	a.Digest, a.SHA1, a.MD5 = r.Digest, [sha1.Size]byte(first.Sum(nil)), [md5.Size]byte(second.Sum(nil))
	return a, read, nil
}
