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

// atOnce is the maximum size of a blob, in bytes, that Open reads completely.
const atOnce = 256 << 10

// Stat implements [blobs.Reader].
func (s *Store) Stat(ctx context.Context, b blobs.Blob) (int64, error) {
	info, err := s.stat(ctx, b.Object)
	return info.Size, err
}

// Open implements [blobs.Reader]. It reads and hashes a small blob completely. If the digest is
// wrong, it reads the blob again. If it is still wrong, Open returns ErrDamaged.
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

// all reads a blob into memory and closes the reader. It also sends a request for an empty blob, to
// check that the blob exists. A wrong digest is ErrDamaged.
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
		return nil, fmt.Errorf("%w: the content of %s has the SHA-256 %s", blobs.ErrDamaged, r.blob.Digest, got)
	}
	return body, nil
}

type inMemory struct{ *bytes.Reader }

// Close implements [io.Closer].
func (inMemory) Close() error { return nil }

func otherSize(b blobs.Blob, size any) error {
	return fmt.Errorf("%w: %s has %v bytes, not %d", blobs.ErrDamaged, b.Digest, size, b.Size)
}

// get requests the bytes of an object between two offsets. tag identifies its expected content; ""
// accepts any.
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

// expected returns an error unless a response contains the bytes between two offsets of an object
// with the size of the blob.
func expected(header http.Header, b blobs.Blob, from, until int64) error {
	size := header.Get("Content-Length")
	if until-from < b.Size {
		begin, of, _ := strings.Cut(header.Get("Content-Range"), "/")
		if want := fmt.Sprintf("bytes %d-%d", from, until-1); begin != want {
			return fmt.Errorf("%w: read %s: the S3 service returned %q instead of %q", blobs.ErrUnavailable, b.Object, begin, want)
		}
		size = of
	}
	if size != strconv.FormatInt(b.Size, 10) {
		return otherSize(b, size)
	}
	return nil
}

// firstWindow is the number of bytes that a reader requests first when it begins in the middle.
// Each later request doubles it. A reader that begins at the start requests everything.
const firstWindow = 1 << 20

// leastProgress is the number of bytes that must arrive before another lost connection is
// tolerated. It limits the number of requests of a reader.
const leastProgress = 64 << 10

// reader reads one object by ranges. Only one goroutine may use it at a time.
type reader struct {
	blob blobs.Blob
	get  func(tag string, from, until int64) (http.Header, io.ReadCloser, error)

	tag    string        // identifies the content of the object; "": not read yet
	at     int64         // offset of the next byte
	body   io.ReadCloser // the bytes from at to until; nil: none
	until  int64         // end of body
	window int64         // bytes to request; 0: all
	lost   int64         // offset from which a lost connection is tolerated again
	err    error         // permanent error
}

// reader returns a reader of a blob's object. It sends no request yet.
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

// ask requests the bytes from position r.at to the end of the window, or of the blob.
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

// next reads from the body, and closes it at its end. If the body ends early, next requests the
// rest, unless it has just done so.
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
		_ = r.body.Close() // fully read or not needed any more
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

// maxValid limits the validity of a presigned address.
const maxValid = time.Minute

// Presign implements [blobs.Presigner].
func (s *Store) Presign(ctx context.Context, b blobs.Blob, a blobs.Attachment) (string, error) {
	if a.Valid < time.Second || a.Valid > maxValid {
		return "", fmt.Errorf("s3: a presigned address is valid for 1 s to %v, not %v", maxValid, a.Valid)
	}
	answer := url.Values{
		"response-content-disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": a.Filename})},
		"response-content-type":        {a.MediaType},
		"response-content-encoding":    {"identity"}, // some servers store the encoding of the upload
	}
	address, err := s.client.PresignedGetObject(ctx, s.bucket, s.key(b.Object), a.Valid, answer)
	if err != nil {
		return "", failed("presign "+b.Object, err)
	}
	return address.String(), nil
}
