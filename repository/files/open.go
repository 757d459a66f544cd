package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/inline"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/storage"
)

// openTries is the number of attempts to open a file. If the file is not where its record says, it
// may have been replaced in the meantime.
const openTries = 3

// OpenResource returns the file of an active resource, and its record. The caller must close the
// file. The file stays readable to its end even if the resource is replaced, deleted or purged in
// the meantime. A file that is missing or has a wrong length is recorded as damaged.
//
// A file of up to VerifyReads bytes is a *[blobs.Verified] unless it is inline: a wrong digest is a
// [blobs.ErrDamaged] before the last byte. The caller must report damage found during reading with
// NoteDamage.
func (s *Files) OpenResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	return s.Open(ctx, p, id, ActiveFile)
}

// OpenAs returns the resource whose file is to be opened, in a present or former state, or an
// error.
type OpenAs func(*metadata.Tx, core.ResolvedResource) (metadata.Resource, error)

// ActiveFile returns an active resource, or an error if it is deleted.
func ActiveFile(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
	shown, err := presentFile(tx, r)
	if err == nil && shown.State == metadata.Deleted {
		err = resourceGone()
	}
	return shown, err
}

// presentFile returns a resource that may be deleted, but not purged.
func presentFile(_ *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
	if r.Body == metadata.Purged {
		return metadata.Resource{}, resourceGone()
	}
	return r.Shown(), nil
}

func resourceGone() error {
	return &errs.Error{Kind: errs.Gone, Code: errs.CodeResourceGone, Message: "the resource is deleted; restore it to read its file"}
}

// Open is like OpenResource for the resource that as returns.
func (s *Files) Open(ctx context.Context, p auth.Principal, id string, as OpenAs) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	for range openTries {
		var b blobs.Blob
		if r, b, file, err = s.openable(ctx, p, id, as); err != nil || file != nil {
			return r, file, err
		}
		file, err = s.core.Stores.Open(ctx, b)
		if !errors.Is(err, blobs.ErrNotFound) && !errors.Is(err, blobs.ErrDamaged) {
			return r, file, s.core.Stores.BlobError(err)
		}
		if wrong, _ := s.core.Stores.Verify(context.WithoutCancel(ctx), b); wrong != "" {
			break // the response is the same whether the damage could be recorded or not
		}
	}
	return metadata.Resource{}, nil, storage.DamagedError("resource "+r.ID.String(), err)
}

// unverified returns a file for a reader that compares the digest itself.
func unverified(file io.ReadSeekCloser) io.ReadSeekCloser {
	if verified, is := file.(*blobs.Verified); is {
		return verified.ReadSeekCloser
	}
	return file
}

// presignValid is the validity of a presigned URL.
const presignValid = time.Minute

// Presign returns a URL from which anyone can download the file of a resource as an
// attachment for a minute, and the record. The URL is "" for an inline file and if the files are in
// folders. It returns the errors of OpenResource, but Presign does not check that the bytes
// exist.
func (s *Files) Presign(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, address string, err error) {
	r, b, held, err := s.openable(ctx, p, id, ActiveFile)
	presigner, ok := s.core.Files.(blobs.Presigner)
	if err != nil || held != nil || !ok {
		return r, "", err // an inline file is in memory
	}
	address, err = presigner.Presign(ctx, b, blobs.Attachment{Filename: DownloadName(r), MediaType: r.MimeType, Valid: presignValid})
	return r, address, s.core.Stores.BlobError(err)
}

// openable reads the record of a resource whose file may be read, and its blob or its inline file.
func (s *Files) openable(ctx context.Context, p auth.Principal, id string, as OpenAs) (r metadata.Resource, b blobs.Blob, held io.ReadSeekCloser, err error) {
	s.core.Inline.Reading()
	err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.ReadableResource(tx, p, id)
		if err != nil {
			return err
		}
		if r, err = as(tx, resolved); err != nil {
			return err
		}
		if r.Body == metadata.Inline {
			held, err = inline.Open(tx, r)
			return err
		}
		if err := s.sound(tx, r); err != nil {
			return err
		}
		b, err = s.core.Stores.BlobOf(tx, r)
		return err
	})
	if err != nil {
		return metadata.Resource{}, b, nil, err
	}
	return r, b, held, nil
}

// sound returns an error if the blob of a resource is known to be damaged.
func (s *Files) sound(tx *metadata.Tx, r metadata.Resource) error {
	wrong, err := s.core.Stores.DamageOf(tx, r.Digest)
	if err == nil && wrong != "" {
		err = storage.DamagedError("resource "+r.ID.String(), errors.New(wrong))
	}
	return err
}

// NoteDamage must be called if the file from OpenResource could not be read to its end or did not
// match its digest. NoteDamage reads the file from the disk again. If that fails, too, it records
// the blob as damaged: reading it is then refused, and the next upload of the same content replaces
// it. NoteDamage returns when it is done, even if ctx ends before.
func (s *Files) NoteDamage(ctx context.Context, digest blobs.Digest, cause error) {
	ctx = context.WithoutCancel(ctx)
	var b blobs.Blob
	err := s.core.Stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		b, err = tx.Blobs.Get(digest)
		return err
	})
	if err == nil {
		_, err = s.core.Stores.Verify(ctx, b)
	}
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		s.core.Stores.Background.Note(background.TaskDamage, fmt.Errorf("%s: %w; it could not be examined again: %w", digest, cause, err))
	}
}

// MayStillRead returns an error if the caller may no longer read a resource whose file is being
// sent. The resource may have been deleted or changed.
func (s *Files) MayStillRead(ctx context.Context, p auth.Principal, id metadata.ID) error {
	return core.Revoked(s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := core.ReadableResource(tx, p, id.String())
		return err
	}))
}
