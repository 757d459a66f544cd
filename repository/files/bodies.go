package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// uploadBody is a completely received body: a staged file or, if staged is nil, bytes in memory.
type uploadBody struct {
	staged blobs.Staged
	buffer *[]byte // borrowed
	bytes  []byte
	digest blobs.Digest
}

func (b *uploadBody) size() int64 {
	if b.staged != nil {
		return b.staged.Content().Size
	}
	return int64(len(b.bytes))
}

func (b *uploadBody) head() []byte {
	if b.staged != nil {
		return b.staged.Content().Head
	}
	return b.bytes[:min(len(b.bytes), blobs.HeadSize)]
}

// location returns where the bytes are going to be stored.
func (b *uploadBody) location() metadata.BodyLocation {
	if b.staged != nil {
		return metadata.InBlob
	}
	return metadata.Inline
}

// receive reads a body to its end. A short body stays in memory. Any other body is written to
// stable storage as a file, and so is a short one whose blob is known to be damaged, so that the
// file replaces the blob. length is the length of the body, negative if unknown.
func (s *Uploads) receive(ctx context.Context, body io.Reader, length int64) (*uploadBody, error) {
	if buffer := s.core.Inline.Borrow(); buffer != nil {
		n, err := blobs.ReadFull(ctx, body, *buffer)
		begin := (*buffer)[:n]
		body = io.MultiReader(bytes.NewReader(begin), body)
		if err == io.EOF && n < len(*buffer) {
			digest := blobs.Digest(sha256.Sum256(begin))
			if wrong, err := s.core.Stores.Damage(ctx, digest); err != nil || wrong == "" {
				return &uploadBody{buffer: buffer, bytes: begin, digest: digest}, nil
			}
			body = bytes.NewReader(begin)
		}
		defer s.core.Inline.Return(buffer)
		if err != nil && err != io.EOF {
			return nil, s.core.Stores.BlobError(fmt.Errorf("read the body: %w", err))
		}
	}
	if length >= 0 {
		body = blobs.WithLength(body, length)
	}
	staged, err := s.core.Files.Stage(ctx, body, s.config.MaxUpload)
	if err != nil {
		return nil, s.core.Stores.BlobError(err)
	}
	return &uploadBody{staged: staged, digest: staged.Content().Digest}, nil
}

// discard releases the resources of a body that was not committed.
func (s *Uploads) discard(b *uploadBody) error {
	if b.staged != nil {
		return b.staged.Discard()
	}
	s.core.Inline.Return(b.buffer)
	return nil
}

// commitFile commits the received file before the transaction. It first runs check in a read
// transaction, so that a refused upload leaves no file behind. The blob is pinned until the
// transaction is done, so that a purge cannot remove it in between. The commit replaces an existing
// file, which has not been verified now, by the received file, which is known to be intact.
func (u *Upload) commitFile(ctx context.Context, check core.Intent) error {
	s, digest := u.service, u.received.digest
	err := s.core.View(ctx, u.caller, check.Only)
	if err != nil {
		return err
	}
	release := s.core.Files.Pin(digest)
	defer release()
	u.file, err = u.received.staged.Commit(ctx)
	if s.core.Stores.Objects != nil && errors.Is(err, blobs.ErrNotFound) {
		err = errors.Join(rows.ErrStale, err)
	}
	if err != nil {
		return s.core.Stores.BlobError(err)
	}
	s.core.Stores.Verifications.Committed(digest)
	err = s.core.Update(ctx, u.caller, check.AndWrite)
	if err != nil && !errors.Is(err, metadata.ErrOutcomeUnknown) && u.with == nil { // a resumable upload needs the file for the next attempt
		release()
		u.withdraw(context.WithoutCancel(ctx))
	}
	return err
}

// withdraw removes a file whose record could not be written. On a full disk it would otherwise take
// up space until a purge. If the removal fails, the purge removes the file.
func (u *Upload) withdraw(ctx context.Context) {
	_ = u.received.staged.Withdraw(func() error { return u.service.core.Stores.Orphaned(ctx, u.file.Blob) })
}
