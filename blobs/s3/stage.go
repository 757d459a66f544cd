package s3

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"math"
	"time"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
)

const (
	chunkSize = 256 << 10 // bytes read at a time
	maxAtOnce = 5 << 30   // bytes put by one request
)

// Stage implements [blobs.Writer]. A body of unknown length may have up to 156 GiB, since it cannot
// determine the size of the parts. A longer one fails with ErrTooLarge. If a body of more than one
// part has another length than announced, Stage fails with io.ErrUnexpectedEOF, because the length
// is sent before the bytes.
func (s *Store) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	length, announced := blobs.LengthOf(r)
	if limit < 0 || limit > 0 && length > limit {
		return nil, blobs.ErrTooLarge
	}
	from := &body{r: r, limit: limit, hash: sha256.New()}
	staged := &staged{store: s}
	var err error
	if announced && length > stagePart && length <= maxAtOnce {
		err = staged.stream(ctx, from, length)
	} else {
		err = staged.inParts(ctx, from, length)
	}
	if err != nil {
		_ = staged.Discard() // a sweep removes the rest
		if errors.Is(err, blobs.ErrNotFound) {
			err = fmt.Errorf("%w: the object that was sent does not exist: %v", blobs.ErrUnavailable, err)
		}
		return nil, err
	}
	staged.content.Digest, staged.content.Size, staged.content.Head = from.digest(), from.size, from.head
	return staged, nil
}

// body is the body that Stage reads.
type body struct {
	r     io.Reader
	limit int64
	size  int64 // bytes read so far
	head  []byte
	hash  hash.Hash
}

// read reads until buf is full or the body ends; then it returns io.EOF. Its other errors are
// errors of the body.
func (b *body) read(ctx context.Context, buf []byte) (int, error) {
	if b.limit > 0 {
		buf = buf[:1+min(int64(len(buf))-1, b.limit-b.size)]
	}
	n, err := blobs.ReadFull(ctx, b.r, buf)
	b.hash.Write(buf[:n]) // never fails
	b.head = append(b.head, buf[:min(n, blobs.HeadSize-len(b.head))]...)
	b.size += int64(n)
	switch {
	case b.limit > 0 && b.size > b.limit:
		return n, blobs.ErrTooLarge
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("s3: read the body: %w", err)
	}
	return n, err
}

func (b *body) digest() blobs.Digest { return blobs.Digest(b.hash.Sum(nil)) }

// staged is an object with its future content.
type staged struct {
	store   *Store
	content blobs.Content
	upload  string // id of its multipart upload; "": put by one request
	sum     string // its checksum
	partial bool   // named by a checkpoint
	ended   bool
}

// stream puts a body of an announced length with one request, and hashes it at the same time. Only
// this goroutine reads the body, so nothing reads it after an early failure of the request.
func (s *staged) stream(ctx context.Context, from *body, length int64) (err error) {
	if s.content.Object, s.content.Begun, err = s.store.name(ctx); err != nil {
		return err
	}
	out, in := io.Pipe()
	type answer struct {
		sum string
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		o := minio.PutObjectOptions{DisableContentSha256: true, Checksum: minio.ChecksumSHA256}
		info, err := s.store.client.PutObject(ctx, s.store.bucket, s.store.key(s.content.Object), out, length, "", "", o)
		_ = out.CloseWithError(io.ErrClosedPipe) // ends the writer
		answered <- answer{info.ChecksumSHA256, err}
	}()
	reading := s.copy(ctx, in, from, length)
	_ = in.CloseWithError(reading) // never fails
	put := <-answered
	switch {
	case reading != nil && !errors.Is(reading, io.ErrClosedPipe):
		return reading
	case put.err != nil:
		return failed("put "+s.content.Object, put.err)
	}
	digest := from.digest()
	s.sum = checksum(digest[:])
	return agree(s.content.Object, put.sum, s.sum)
}

// copy copies a body, which must have the announced length.
func (s *staged) copy(ctx context.Context, w io.Writer, from *body, length int64) error {
	chunk := make([]byte, chunkSize)
	for {
		n, err := from.read(ctx, chunk)
		if from.size > length || err == io.EOF && from.size < length {
			return fmt.Errorf("s3: read the body: %w: its length is not %d bytes, as announced", io.ErrUnexpectedEOF, length)
		}
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := w.Write(chunk[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
	}
}

// inParts puts a body of up to one part with one request, and a longer one with a multipart upload.
// length is 0 if it is unknown.
func (s *staged) inParts(ctx context.Context, from *body, length int64) error {
	p := &parts{store: s.store, size: partSizeOf(length, stagePart), sums: sha256.New()}
	read := func(buf []byte) (int, error) { return from.read(ctx, buf) }
	_, reading, err := p.fill(ctx, read, math.MaxInt64)
	if err == nil && reading != io.EOF {
		err = reading
	}
	if err == nil && p.upload != "" {
		err = p.end(ctx)
	}
	if err = errors.Join(err, p.settle()); err == nil && p.upload == "" {
		digest := from.digest()
		s.sum = checksum(digest[:])
		s.content.Object, s.content.Begun, err = s.store.putNew(ctx, p.rest, digest)
		return err
	}
	s.content.Object, s.content.Begun, s.upload, s.sum = p.object, p.begun, p.upload, p.sum()
	if err != nil {
		return err
	}
	return s.store.complete(ctx, p)
}

// putNew puts a body under a new name.
func (s *Store) putNew(ctx context.Context, body []byte, digest blobs.Digest) (name string, begun time.Time, err error) {
	if name, begun, err = s.name(ctx); err != nil {
		return "", begun, err
	}
	sum, err := s.put(ctx, name, body, digest, minio.PutObjectOptions{})
	if err != nil {
		return name, begun, failed("put "+name, err)
	}
	return name, begun, agree(name, sum, checksum(digest[:]))
}

// Content implements [blobs.Staged].
func (s *staged) Content() blobs.Content { return s.content }

// Commit implements [blobs.Staged]. Its time is taken before the object is verified.
func (s *staged) Commit(ctx context.Context) (blobs.Content, error) {
	if s.ended {
		return s.content, fmt.Errorf("s3: commit a discarded body: %w", fs.ErrClosed)
	}
	now, err := s.store.clock(ctx)
	if err != nil {
		return s.content, fmt.Errorf("s3: date an object: %w", err)
	}
	if err := s.store.head(ctx, s.content.Object, s.content.Size, s.sum); err != nil {
		return s.content, err
	}
	s.content.Put = now
	return s.content, nil
}

// Discard implements [blobs.Staged].
func (s *staged) Discard() error {
	if s.partial || s.ended || !s.content.Put.IsZero() {
		return nil
	}
	return s.remove()
}

// remove deletes the object or its multipart upload.
func (s *staged) remove() error {
	if s.content.Object == "" {
		return nil
	}
	err := s.store.discard(blobs.Object{Name: s.content.Object, Upload: s.upload})
	s.ended = err == nil
	return err
}

// Withdraw implements [blobs.Staged].
func (s *staged) Withdraw(confirm func() error) error {
	if s.ended {
		return nil
	}
	if !s.content.Put.IsZero() || s.partial {
		if err := confirm(); err != nil {
			return err
		}
	}
	return s.remove()
}

// CommitAll implements [blobs.Writer]. Objects committed before an error stay, without a row.
func (s *Store) CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	var all []blobs.Content
	for body := range bodies {
		digest := blobs.Digest(sha256.Sum256(body))
		one := &staged{store: s, sum: checksum(digest[:])}
		one.content.Digest, one.content.Size = digest, int64(len(body))
		var err error
		if one.content.Object, one.content.Begun, err = s.putNew(ctx, body, digest); err != nil {
			return nil, err
		}
		content, err := one.Commit(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, content)
	}
	return all, nil
}
