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

// uploadBody is a body that has come in to its end: staged as a file, or, where that is nil, in
// memory.
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

// location is where the bytes will be.
func (b *uploadBody) location() metadata.BodyLocation {
	if b.staged != nil {
		return metadata.InBlob
	}
	return metadata.Inline
}

// receive reads a body to its end. One that is short enough stays in memory, any other one is
// brought to stable storage as a file; so is one whose blob is known to be damaged, which that file
// replaces. length is how long it is; negative: that is not known.
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

// discard releases what the body occupies, unless it was committed.
func (s *Uploads) discard(b *uploadBody) error {
	if b.staged != nil {
		return b.staged.Discard()
	}
	s.core.Inline.Return(b.buffer)
	return nil
}

// commitFile commits the received file before the transaction. What is to be done is checked before
// that, too, so that what is refused leaves no file behind. The blob is pinned until the commit is
// done, so that no purge takes it away in between. A file that is there already is replaced: nobody
// has read it just now, and the received one is known to be complete.
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
	if err != nil && !errors.Is(err, metadata.ErrOutcomeUnknown) && u.with == nil { // a resumable upload has nothing else for its next try
		release()
		u.withdraw(context.WithoutCancel(ctx))
	}
	return err
}

// withdraw takes a file away again whose record could not be written: on a full disk it would be in
// the way until a purge. What does not work here is left to that purge.
func (u *Upload) withdraw(ctx context.Context) {
	_ = u.received.staged.Withdraw(func() error { return u.service.core.Stores.Orphaned(ctx, u.file.Blob) })
}
