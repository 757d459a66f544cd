package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
)

// atOnce is up to what size, in bytes, a blob is read when it is opened.
const atOnce = 256 << 10

// Stat implements [blobs.Reader].
func (s *Store) Stat(ctx context.Context, b blobs.Blob) (int64, error) {
	info, err := s.stat(ctx, b.Object)
	return info.Size, err
}

// Open implements [blobs.Reader]. A small blob is read as a whole and hashed. Open reads it a
// second time if the first bytes have another digest; other bytes again are ErrDamaged.
func (s *Store) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	if b.Size > atOnce {
		r := s.reader(ctx, b)
		info, err := s.stat(ctx, b.Object)
		if err == nil && info.Size != b.Size {
			err = otherSize(b, info.Size)
		}
		if err != nil {
			return nil, err
		}
		r.tag = info.ETag
		return r, nil
	}
	body, err := s.reader(ctx, b).all()
	if errors.Is(err, blobs.ErrDamaged) {
		body, err = s.reader(ctx, b).all()
	}
	if err != nil {
		return nil, err
	}
	return inMemory{bytes.NewReader(body)}, nil
}

// all reads and closes a blob that is to be in memory. It sends one request also for an empty blob,
// to learn whether that exists. Bytes of another digest are ErrDamaged.
func (r *reader) all() ([]byte, error) {
	if err := r.ask(); err != nil {
		return nil, err
	}
	body := make([]byte, r.blob.Size)
	_, err := io.ReadFull(r, body)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if got := blobs.Digest(sha256.Sum256(body)); got != r.blob.Digest {
		return nil, fmt.Errorf("%w: %s has content of another digest, %s", blobs.ErrDamaged, r.blob.Digest, got)
	}
	return body, nil
}

type inMemory struct{ *bytes.Reader }

// Close implements [io.Closer].
func (inMemory) Close() error { return nil }

func otherSize(b blobs.Blob, size any) error {
	return fmt.Errorf("%w: %s has %v bytes, not %d", blobs.ErrDamaged, b.Digest, size, b.Size)
}

// get asks for the bytes of an object between two offsets. tag is what identified its content
// before; "": nothing is known.
func (s *Store) get(ctx context.Context, b blobs.Blob, tag string, from, until int64) (http.Header, io.ReadCloser, error) {
	if b.Object == "" {
		return nil, nil, errNameless
	}
	var o minio.GetObjectOptions
	if until-from < b.Size {
		o.Set("Range", fmt.Sprintf("bytes=%d-%d", from, until-1))
	}
	if tag != "" {
		o.Set("If-Match", `"`+tag+`"`)
	}
	body, _, header, err := s.client.GetObject(ctx, s.bucket, s.key(b.Object), o)
	if err == nil {
		if err = expected(header, b, from, until); err == nil {
			return header, body, nil
		}
		return nil, nil, errors.Join(err, body.Close())
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && (answer.StatusCode == http.StatusPreconditionFailed || answer.StatusCode == http.StatusRequestedRangeNotSatisfiable) {
		return nil, nil, fmt.Errorf("%w: %s has changed: %w", blobs.ErrDamaged, b.Digest, err)
	}
	return nil, nil, failed("read "+b.Object, err)
}

// expected returns an error unless an answer has the bytes between two offsets of an object of the
// size of the blob.
func expected(header http.Header, b blobs.Blob, from, until int64) error {
	size := header.Get("Content-Length")
	if until-from < b.Size {
		begin, of, _ := strings.Cut(header.Get("Content-Range"), "/")
		if want := fmt.Sprintf("bytes %d-%d", from, until-1); begin != want {
			return fmt.Errorf("%w: read %s: the S3 answers with %q where it was asked for %q", blobs.ErrUnavailable, b.Object, begin, want)
		}
		size = of
	}
	if size != strconv.FormatInt(b.Size, 10) {
		return otherSize(b, size)
	}
	return nil
}

// firstWindow is how many bytes a reader asks for that begins in the middle; then twice as many
// each time. What is read from the beginning is mostly read to its end.
const firstWindow = 1 << 20

// leastProgress is how many bytes must have come before a connection is lost again. It bounds how
// often a reader asks.
const leastProgress = 64 << 10

// reader reads one object by ranges. It is used by one goroutine at a time.
type reader struct {
	blob blobs.Blob
	get  func(tag string, from, until int64) (http.Header, io.ReadCloser, error)

	tag    string        // identifies the content of the object; "": nothing was read yet
	at     int64         // offset of the next byte
	body   io.ReadCloser // from at on; nil: there is none
	until  int64         // where body ends
	window int64         // how much to ask for; 0: for all
	lost   int64         // from which offset on a loss is the first one for a while
	err    error         // for good
}

// reader returns a reader of the object of a blob, which asks for nothing yet.
func (s *Store) reader(ctx context.Context, b blobs.Blob) *reader {
	return &reader{blob: b, get: func(tag string, from, until int64) (http.Header, io.ReadCloser, error) {
		return s.get(ctx, b, tag, from, until)
	}}
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (n int, err error) {
	if r.err == nil && r.at >= r.blob.Size {
		return 0, io.EOF
	}
	for n == 0 && r.err == nil && len(p) > 0 {
		if r.body == nil {
			r.err = r.ask()
		} else {
			n, r.err = r.next(p)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// ask asks for the bytes from at on.
func (r *reader) ask() error {
	until := r.blob.Size
	if r.window > 0 {
		until = min(until, r.at+r.window)
		r.window *= 2
	}
	header, body, err := r.get(r.tag, r.at, until)
	if err != nil {
		return err
	}
	r.body, r.until, r.tag = body, until, strings.Trim(header.Get("ETag"), `"`)
	return nil
}

// next reads from the body, which it closes at its end. Where it ends early, another one is asked
// for, unless that has just been done.
func (r *reader) next(p []byte) (int, error) {
	n, err := r.body.Read(p[:min(int64(len(p)), r.until-r.at)])
	r.at += int64(n)
	switch {
	case r.at == r.until:
		r.drop()
		return n, nil
	case err == nil, n > 0:
		return n, nil
	}
	r.drop()
	if r.at < r.lost {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, failed("read "+r.blob.Object, err)
	}
	r.lost = r.at + leastProgress
	return 0, nil
}

func (r *reader) drop() {
	if r.body != nil {
		_ = r.body.Close() // there is nothing more to come
		r.body = nil
	}
}

// Seek implements [io.Seeker].
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.blob.Size
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, fmt.Errorf("s3: seek %s: %w", r.blob.Object, fs.ErrInvalid)
	}
	if offset != r.at {
		r.drop()
		r.at, r.window = offset, firstWindow
	}
	if r.at == 0 {
		r.window = 0
	}
	return r.at, nil
}

// Close implements [io.Closer].
func (r *reader) Close() error {
	r.drop()
	if r.err == nil {
		r.err = fmt.Errorf("s3: read %s: %w", r.blob.Object, fs.ErrClosed)
	}
	return nil
}

// maxValid is for how long a presigned address may be valid.
const maxValid = time.Minute

// Presign implements [blobs.Presigner].
func (s *Store) Presign(ctx context.Context, b blobs.Blob, a blobs.Attachment) (string, error) {
	if a.Valid < time.Second || a.Valid > maxValid {
		return "", fmt.Errorf("s3: a presigned address is valid for 1 s to %v, not %v", maxValid, a.Valid)
	}
	answer := url.Values{
		"response-content-disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": a.Filename})},
		"response-content-type":        {a.MediaType},
		"response-content-encoding":    {"identity"}, // some servers keep how the body was sent
	}
	address, err := s.client.PresignedGetObject(ctx, s.bucket, s.key(b.Object), a.Valid, answer)
	if err != nil {
		return "", failed("presign "+b.Object, err)
	}
	return address.String(), nil
}
