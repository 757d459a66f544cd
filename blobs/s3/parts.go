package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
)

// The minimum size of a part in bytes, and the maximum number of parts of an object. Two parts are
// in memory: the one being sent, and the one being filled.
const (
	stagePart   = 16 << 20
	partialPart = 8 << 20 // each chunk writes the tail of a resumable upload again
	maxParts    = 10_000
)

// partSizeOf returns the part size for a body of this length.
func partSizeOf(length, least int64) int64 {
	const step = 1 << 20
	needed := (length + maxParts - 1) / maxParts
	return max(least, (needed+step-1)/step*step)
}

// parts is a body that is sent in parts, and its multipart upload if it has more than one part.
// Only one goroutine may use it at a time.
type parts struct {
	store  *Store
	object string // name of the multipart upload; "": none yet
	upload string
	begun  time.Time
	size   int64     // size of each part except the last, in bytes
	count  int       // number of sent parts
	sums   hash.Hash // hash of their digests
	rest   []byte    // following bytes that do not fill a part
	spare  []byte    // unused memory
	sent   chan part // part being sent; nil: none
}

// part is a part that was sent.
type part struct {
	body   []byte
	digest blobs.Digest
	err    error
}

// sum returns the checksum of the complete object.
func (p *parts) sum() string { return fmt.Sprintf("%s-%d", checksum(p.sums.Sum(nil)), p.count) }

// fill reads until the reader ends, or until it has read the number of bytes in most. It sends each
// full part as soon as another byte arrives. The result reading is the error of the reader, or nil;
// err is an error of sending.
func (p *parts) fill(ctx context.Context, read func([]byte) (int, error), most int64) (added int64, reading, err error) {
	for added < most && reading == nil {
		var n int
		if int64(len(p.rest)) < p.size {
			n, reading = read(p.room(most - added))
			p.rest = p.rest[:len(p.rest)+n]
			added += int64(n)
			continue
		}
		var next [1]byte
		if n, reading = read(next[:]); n == 0 {
			break
		}
		added++
		if err := p.send(ctx); err != nil {
			return added, reading, err
		}
		p.rest = append(p.rest, next[0])
	}
	return added, reading, nil
}

// room returns memory for the bytes after the rest, at most the given number.
func (p *parts) room(most int64) []byte {
	has := len(p.rest)
	if has == cap(p.rest) {
		p.rest = slices.Grow(p.rest, max(chunkSize, has))
	}
	return p.rest[has : has+int(min(chunkSize, most, p.size-int64(has), int64(cap(p.rest)-has)))]
}

// send starts to send the rest as a part, after the previous part has been sent.
func (p *parts) send(ctx context.Context) error {
	if err := p.settle(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // received bytes count, even if the request ends
	if p.upload == "" {
		if err := p.begin(ctx); err != nil {
			return err
		}
	}
	if p.count == maxParts {
		return fmt.Errorf("%w: it has more than %d parts of %d bytes, and its length was not announced", blobs.ErrTooLarge, maxParts, p.size)
	}
	number, body, sent := p.count+1, p.rest, make(chan part, 1)
	p.rest, p.spare, p.sent = p.spare[:0], nil, sent
	go func() {
		digest := blobs.Digest(sha256.Sum256(body))
		sent <- part{body, digest, p.store.putPart(ctx, p.object, p.upload, number, body, digest)}
	}()
	return nil
}

// settle waits for the part being sent, if any.
func (p *parts) settle() error {
	if p.sent == nil {
		return nil
	}
	done := <-p.sent
	p.sent = nil
	if done.err == nil {
		p.sums.Write(done.digest[:]) // never fails
		p.count++
		p.spare = done.body
	}
	return done.err
}

// end sends the rest, if any, as the last part.
func (p *parts) end(ctx context.Context) error {
	if len(p.rest) > 0 {
		if err := p.send(ctx); err != nil {
			return err
		}
	}
	return p.settle()
}

// begin starts the multipart upload. Each attempt uses a new name, because a failed one may have
// started an unknown upload.
func (p *parts) begin(ctx context.Context) error {
	o := minio.PutObjectOptions{UserMetadata: map[string]string{"X-Amz-Checksum-Algorithm": "SHA256", "X-Amz-Checksum-Type": "COMPOSITE"}}
	var failure error
	for attempt := range tries {
		name, begun, err := p.store.name(ctx)
		if err != nil {
			return err
		}
		id, err := p.store.once.NewMultipartUpload(ctx, p.store.bucket, p.store.key(name), o)
		if err == nil && id == "" {
			err = errors.New("the answer has no id")
		}
		if err == nil {
			p.object, p.upload, p.begun = name, id, begun
			return nil
		}
		if failure = failed("begin a multipart upload", err); !errors.Is(failure, blobs.ErrUnavailable) {
			return failure
		}
		time.Sleep(minio.DefaultRetryUnit << attempt)
	}
	return failure
}

// putPart sends a part. If the response has no checksum, it requests the part's checksum to verify
// it. It returns ErrNotFound if the upload does not exist.
func (s *Store) putPart(ctx context.Context, name, upload string, number int, body []byte, digest blobs.Digest) error {
	o := minio.PutObjectPartOptions{
		Sha256Hex: hex.EncodeToString(digest[:]), DisableContentSha256: true,
		CustomHeader: http.Header{checksumHeader: {checksum(digest[:])}},
	}
	put, err := s.client.PutObjectPart(ctx, s.bucket, s.key(name), upload, number, bytes.NewReader(body), int64(len(body)), o)
	what := fmt.Sprintf("part %d of %s", number, name)
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		return failed("put "+what, err)
	}
	if got := put.ChecksumSHA256; got != "" {
		return agree(what, got, checksum(digest[:]))
	}
	// A server that refuses a part may close the connection while the part is sent, so that its
	// response is lost.
	page, asked := s.client.ListObjectParts(ctx, s.bucket, s.key(name), upload, number-1, 1)
	switch {
	case asked != nil:
		return failed("look at "+what, asked)
	case len(page.ObjectParts) == 1 && page.ObjectParts[0].PartNumber == number && page.ObjectParts[0].ChecksumSHA256 == checksum(digest[:]):
		return nil
	case err != nil:
		return failed("put "+what, err)
	}
	return fmt.Errorf("%w: the S3 service does not confirm that it has %s", blobs.ErrUnavailable, what)
}

// complete assembles the object from the parts. It returns ErrNotFound if the upload does not exist
// or a part is missing. Then the object may exist already.
func (s *Store) complete(ctx context.Context, p *parts) error {
	var all []minio.CompletePart
	for len(all) < p.count {
		page, err := s.client.ListObjectParts(ctx, s.bucket, s.key(p.object), p.upload, len(all), min(1000, p.count-len(all)))
		if err != nil {
			return failed("list the parts of "+p.object, err)
		}
		if len(page.ObjectParts) == 0 || page.ObjectParts[0].PartNumber != len(all)+1 {
			return fmt.Errorf("%w: part %d of %s", blobs.ErrNotFound, len(all)+1, p.object)
		}
		for _, one := range page.ObjectParts {
			all = append(all, minio.CompletePart{PartNumber: one.PartNumber, ETag: one.ETag, ChecksumSHA256: one.ChecksumSHA256})
		}
	}
	_, err := s.client.CompleteMultipartUpload(ctx, s.bucket, s.key(p.object), p.upload, all[:p.count], minio.PutObjectOptions{})
	if err == nil {
		return nil
	}
	info, there := s.stat(ctx, p.object)
	if there == nil && agree(p.object, info.ChecksumSHA256, p.sum()) == nil {
		return nil // it was complete, but the response was lost
	}
	return failed("complete "+p.object, err)
}
