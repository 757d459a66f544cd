package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/content"
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
func (s *Service) receive(ctx context.Context, body io.Reader, length int64) (*uploadBody, error) {
	if buffer := s.inline.Borrow(); buffer != nil {
		n, err := blobs.ReadFull(ctx, body, *buffer)
		begin := (*buffer)[:n]
		body = io.MultiReader(bytes.NewReader(begin), body)
		if err == io.EOF && n < len(*buffer) {
			digest := blobs.Digest(sha256.Sum256(begin))
			if wrong, err := s.stores.Damage(ctx, digest); err != nil || wrong == "" {
				return &uploadBody{buffer: buffer, bytes: begin, digest: digest}, nil
			}
			body = bytes.NewReader(begin)
		}
		defer s.inline.Return(buffer)
		if err != nil && err != io.EOF {
			return nil, s.stores.BlobError(fmt.Errorf("read the body: %w", err))
		}
	}
	if length >= 0 {
		body = blobs.WithLength(body, length)
	}
	staged, err := s.files.Stage(ctx, body, s.config.MaxUpload)
	if err != nil {
		return nil, s.stores.BlobError(err)
	}
	return &uploadBody{staged: staged, digest: staged.Content().Digest}, nil
}

// discard releases what the body occupies, unless it was committed.
func (s *Service) discard(b *uploadBody) error {
	if b.staged != nil {
		return b.staged.Discard()
	}
	s.inline.Return(b.buffer)
	return nil
}

// commitFile commits the received file before the transaction. What is to be done is checked before
// that, too, so that what is refused leaves no file behind. The blob is pinned until the commit is
// done, so that no purge takes it away in between. A file that is there already is replaced: nobody
// has read it just now, and the received one is known to be complete.
func (u *FormUpload) commitFile(ctx context.Context, check intent) error {
	s, digest := u.service, u.received.digest
	err := s.view(ctx, u.caller, check.only)
	if err != nil {
		return err
	}
	release := s.files.Pin(digest)
	defer release()
	u.file, err = u.received.staged.Commit(ctx)
	if s.stores.Objects != nil && errors.Is(err, blobs.ErrNotFound) {
		err = errors.Join(rows.ErrStale, err)
	}
	if err != nil {
		return s.stores.BlobError(err)
	}
	s.stores.Verifications.Committed(digest)
	err = s.update(ctx, u.caller, check.andWrite)
	if err != nil && !errors.Is(err, metadata.ErrOutcomeUnknown) && u.with == nil { // a resumable upload has nothing else for its next try
		release()
		u.withdraw(context.WithoutCancel(ctx))
	}
	return err
}

// withdraw takes a file away again whose record could not be written: on a full disk it would be in
// the way until a purge. What does not work here is left to that purge.
func (u *FormUpload) withdraw(ctx context.Context) {
	_ = u.received.staged.Withdraw(func() error { return u.service.stores.Orphaned(ctx, u.file.Blob) })
}

// mimeOf returns the media type of a file: the one sent, in the field that it came in, if it says
// something; else what content and name tell.
func mimeOf(sent, field string, head []byte, names ...string) (string, error) {
	const unknown = "application/octet-stream"
	if sent == "" {
		return content.Detect(head, names...), nil
	}
	media, _, err := mime.ParseMediaType(sent)
	switch {
	case err != nil || len(sent) > maxMimeBytes || !strings.Contains(media, "/"):
		return "", invalid(field, "the Content-Type of the file must be a media type such as text/csv, of up to %d bytes", maxMimeBytes)
	case media == unknown:
		return content.Detect(head, names...), nil
	}
	return sent, text{what: "the Content-Type of the file", max: maxMimeBytes}.check(field, sent)
}
