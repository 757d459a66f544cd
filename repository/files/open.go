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

// openTries is how often OpenResource tries again when a file is not where its record says: it may
// have been replaced meanwhile.
const openTries = 3

// OpenResource returns the file of one resource, with its record. The caller closes the file; it
// stays readable to its end also when the resource is replaced, deleted or purged meanwhile. A file
// that is not there or has another length than it must is recorded as damaged; what only shows
// while it is read is for the caller to report with NoteDamage.
func (s *Files) OpenResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	return s.Open(ctx, p, id, ActiveFile)
}

// OpenAs returns a resource as it is, or was, whose file is to be opened, or why that may not be.
type OpenAs func(*metadata.Tx, core.ResolvedResource) (metadata.Resource, error)

// ActiveFile is the file of a resource that is active.
func ActiveFile(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
	shown, err := presentFile(tx, r)
	if err == nil && shown.State == metadata.Deleted {
		err = resourceGone()
	}
	return shown, err
}

// presentFile is the file of a resource that may be deleted, but not yet purged.
func presentFile(_ *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
	if r.Body == metadata.Purged {
		return metadata.Resource{}, resourceGone()
	}
	return r.Shown(), nil
}

func resourceGone() error {
	return &errs.Error{Kind: errs.Gone, Code: errs.CodeResourceGone, Message: "the resource is deleted; restore it to read its file"}
}

// Open is OpenResource for the resource as it is returned by as.
func (s *Files) Open(ctx context.Context, p auth.Principal, id string, as OpenAs) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	for range openTries {
		var b blobs.Blob
		if r, b, file, err = s.openable(ctx, p, id, as); err != nil || file != nil {
			return r, file, err
		}
		file, err = s.core.Stores.Blobs.Open(ctx, b)
		if !errors.Is(err, blobs.ErrNotFound) && !errors.Is(err, blobs.ErrDamaged) {
			return r, file, s.core.Stores.BlobError(err)
		}
		if wrong, _ := s.core.Stores.Verify(context.WithoutCancel(ctx), b); wrong != "" {
			break // whether it could be written down or is remembered: the answer is the same
		}
	}
	return metadata.Resource{}, nil, storage.DamagedError("resource "+r.ID.String(), err)
}

// presignValid is how long a presigned address is valid.
const presignValid = time.Minute

// PresignResource returns an address from which anybody gets the file of one resource for a minute,
// as an attachment, with its record; "" where it has none: it is inline, or in folders. The errors
// are those of OpenResource, but whether the bytes are there is not asked.
func (s *Files) PresignResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, address string, err error) {
	r, b, held, err := s.openable(ctx, p, id, ActiveFile)
	presigner, ok := s.core.Files.(blobs.Presigner)
	if err != nil || held != nil || !ok {
		return r, "", err // what is held is in memory
	}
	address, err = presigner.Presign(ctx, b, blobs.Attachment{Filename: DownloadName(r), MediaType: r.MimeType, Valid: presignValid})
	return r, address, s.core.Stores.BlobError(err)
}

// openable reads the record of a resource whose file may be read, and its blob, or the file itself
// where it is inline.
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

// sound returns an error where the blob of a resource is known to be damaged.
func (s *Files) sound(tx *metadata.Tx, r metadata.Resource) error {
	wrong, err := s.core.Stores.DamageOf(tx, r.Digest)
	if err == nil && wrong != "" {
		err = storage.DamagedError("resource "+r.ID.String(), errors.New(wrong))
	}
	return err
}

// NoteDamage is called when the file of a resource, as OpenResource gave it, could not be read to
// its end or had other content than its digest says. It reads the file once more, from the disk,
// and only if that says the same the blob is recorded as damaged: reading it is refused from then
// on, and the next upload of the same content brings it back. It returns when that is done, also
// when ctx ends before.
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
		s.core.Stores.Background.Note(background.TaskDamage, fmt.Errorf("%s: %w; and it could not be looked at again: %w", digest, cause, err))
	}
}

// MayStillRead refuses a caller that may not read a resource any more while its file is sent. What
// becomes of the resource meanwhile does not matter.
func (s *Files) MayStillRead(ctx context.Context, p auth.Principal, id metadata.ID) error {
	return core.Revoked(s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := core.ReadableResource(tx, p, id.String())
		return err
	}))
}
