package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"labshelf/blobs"
	"labshelf/metadata"
)

// uploadBody is a body that has come in to its end: staged as a file, or, where that is nil, in memory.
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

// receive reads a body to its end. One that is short enough stays in memory, any other one is brought to stable storage as a file; so is
// one whose blob is known to be damaged, which that file replaces.
func (s *Service) receive(ctx context.Context, body io.Reader) (*uploadBody, error) {
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
