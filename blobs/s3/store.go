package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/oklog/ulid/v2"

	"labshelf/blobs"
)

// Store stores blobs in a bucket, below a prefix. It is safe for concurrent use.
type Store struct {
	client *minio.Core // repeats failed requests, at most tries times
	once   *minio.Core // repeats nothing
	clock  blobs.Clock
	bucket string
	prefix string // with a trailing slash, or ""
	closer func()
}

var (
	_ blobs.Store     = (*Store)(nil)
	_ blobs.Objects   = (*Store)(nil)
	_ blobs.Presigner = (*Store)(nil)
)

// tries limits the attempts of a request, within some three seconds.
const tries = 5

// deleteLimit is the timeout of deletions without a context.
const deleteLimit = 30 * time.Second

// Open returns the store at an address, s3://bucket/prefix. The bucket must exist. The caller
// closes the store.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	s, err := connect(address, o, idleLimit)
	if err != nil {
		return nil, err
	}
	if err := s.reach(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// connect creates a store without sending a request.
func connect(address string, o Options, idle time.Duration) (*Store, error) {
	bucket, prefix, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	host, secure, err := o.server()
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, err
	}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if prefix != "" {
		prefix += "/"
	}
	transport := newTransport(idle)
	s := &Store{clock: o.Clock, bucket: bucket, prefix: prefix, closer: transport.CloseIdleConnections}
	options := minio.Options{
		Creds: credentials.NewStaticV4(o.KeyID, o.Secret, o.Token), Secure: secure, Region: o.Region, Transport: transport, MaxRetries: tries,
	}
	if s.client, err = minio.NewCore(host, &options); err != nil {
		return nil, fmt.Errorf("the endpoint %s: %w", host, err)
	}
	options.MaxRetries = 1
	s.once, err = minio.NewCore(host, &options)
	return s, err
}

// Close closes the idle connections.
func (s *Store) Close() { s.closer() }

func (s *Store) reach(ctx context.Context) error {
	there, err := s.client.BucketExists(ctx, s.bucket)
	if err == nil && !there {
		err = fmt.Errorf("there is no bucket %s", s.bucket)
	}
	if err != nil {
		return fmt.Errorf("%w: reach the bucket: %w", blobs.ErrUnavailable, err)
	}
	return nil
}

// ownerFile is the name of the object that contains the owner of the prefix.
const ownerFile = "owner"

// Claim sets the owner of the prefix, or verifies it. Two repositories under one prefix would
// delete each other's objects. If the prefix has another owner, Claim returns ErrOwned.
func (s *Store) Claim(ctx context.Context, owner string) error {
	there, err := s.owner(ctx)
	if errors.Is(err, blobs.ErrNotFound) {
		var o minio.PutObjectOptions
		o.SetMatchETagExcept("*") // another node may claim at the same time
		_, err = s.put(ctx, ownerFile, []byte(owner), sha256.Sum256([]byte(owner)), o)
		var answer minio.ErrorResponse
		if err != nil && (!errors.As(err, &answer) || answer.StatusCode != http.StatusPreconditionFailed && answer.StatusCode != http.StatusConflict) {
			return failed("claim the prefix", err)
		}
		there, err = s.owner(ctx)
	}
	if err == nil && there != owner {
		err = fmt.Errorf("%w: s3://%s/%s names the owner %q", ErrOwned, s.bucket, s.key(ownerFile), there)
	}
	return err
}

// owner returns the owner of the prefix.
func (s *Store) owner(ctx context.Context) (string, error) {
	const what = "read the owner of the prefix"
	body, _, _, err := s.client.GetObject(ctx, s.bucket, s.key(ownerFile), minio.GetObjectOptions{})
	if err != nil {
		return "", failed(what, err)
	}
	text, err := io.ReadAll(io.LimitReader(body, 1<<10))
	return string(text), failed(what, errors.Join(err, body.Close()))
}

// name returns a new name, and the time of its creation.
func (s *Store) name(ctx context.Context) (string, time.Time, error) {
	now, err := s.clock(ctx)
	if err != nil {
		return "", now, fmt.Errorf("s3: date an object: %w", err)
	}
	id, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return "", now, fmt.Errorf("s3: name an object: %w", err)
	}
	return id.String(), ulid.Time(id.Time()).UTC(), nil
}

// begunOf returns the time when a name was created. ok is false if the store does not create such
// names.
func begunOf(name string) (begun time.Time, ok bool) {
	id, err := ulid.ParseStrict(name)
	if err != nil || id.String() != name {
		return begun, false
	}
	return ulid.Time(id.Time()).UTC(), true
}

// key returns the full name of an object.
func (s *Store) key(name string) string { return s.prefix + name }

// checksumHeader contains the SHA-256 of the sent body.
const checksumHeader = "X-Amz-Checksum-Sha256"

func checksum(digest []byte) string { return base64.StdEncoding.EncodeToString(digest) }

// put sends a body in one request, and returns the checksum that the server computed. Repeating it
// has the same result.
func (s *Store) put(ctx context.Context, name string, body []byte, digest blobs.Digest, o minio.PutObjectOptions) (string, error) {
	o.DisableContentSha256 = true // no checksum for each chunk; the signature covers the whole body
	o.UserMetadata = map[string]string{checksumHeader: checksum(digest[:])}
	info, err := s.client.PutObject(ctx, s.bucket, s.key(name), bytes.NewReader(body), int64(len(body)), "", hex.EncodeToString(digest[:]), o)
	return info.ChecksumSHA256, err
}

// head verifies that an object has this size and checksum.
func (s *Store) head(ctx context.Context, name string, size int64, sum string) error {
	info, err := s.stat(ctx, name)
	switch {
	case err != nil:
		return err
	case info.Size != size:
		return disagrees("size of "+name, info.Size, size)
	case info.ChecksumSHA256 == "":
		return fmt.Errorf("%w: the S3 service stores no SHA-256 of %s", blobs.ErrUnavailable, name)
	}
	return agree(name, info.ChecksumSHA256, sum)
}

// agree compares a checksum in the server's response, if any, with the sent one. Some servers omit
// the number of parts of a multipart upload.
func agree(name, got, want string) error {
	short, _, _ := strings.Cut(want, "-")
	if got != "" && got != want && got != short {
		return disagrees("checksum of "+name, got, want)
	}
	return nil
}

func (s *Store) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	if name == "" {
		return minio.ObjectInfo{}, errNameless
	}
	info, err := s.client.StatObject(ctx, s.bucket, s.key(name), minio.StatObjectOptions{Checksum: true})
	return info, failed("look at "+name, err)
}

// DeleteObject implements [blobs.Objects].
func (s *Store) DeleteObject(ctx context.Context, o blobs.Object) error {
	var err error
	if o.Upload != "" {
		err = failed("abort the upload of "+o.Name, s.client.AbortMultipartUpload(ctx, s.bucket, s.key(o.Name), o.Upload))
		if errors.Is(err, blobs.ErrNotFound) {
			err = nil
		}
	}
	removed := failed("delete "+o.Name, s.client.RemoveObject(ctx, s.bucket, s.key(o.Name), minio.RemoveObjectOptions{}))
	if errors.Is(removed, blobs.ErrNotFound) {
		removed = nil
	}
	return errors.Join(err, removed)
}

// discard is like DeleteObject without a context.
func (s *Store) discard(o blobs.Object) error {
	ctx, cancel := context.WithTimeout(context.Background(), deleteLimit)
	defer cancel()
	return s.DeleteObject(ctx, o)
}

// WalkObjects implements [blobs.Objects].
func (s *Store) WalkObjects(ctx context.Context, fn func(blobs.Object) error) error {
	for info := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if info.Err != nil {
			return failed("list the objects", info.Err)
		}
		name := strings.TrimPrefix(info.Key, s.prefix)
		if begun, ok := begunOf(name); ok {
			if err := fn(blobs.Object{Name: name, Size: info.Size, Begun: begun}); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.walkUploads(ctx, fn)
}

// walkUploads calls fn with each multipart upload in progress.
func (s *Store) walkUploads(ctx context.Context, fn func(blobs.Object) error) error {
	for key, id := "", ""; ; {
		page, err := s.client.ListMultipartUploads(ctx, s.bucket, s.prefix, key, id, "", 1000)
		if err != nil {
			return failed("list the multipart uploads", err)
		}
		for _, upload := range page.Uploads {
			name := strings.TrimPrefix(upload.Key, s.prefix)
			begun, ok := begunOf(name)
			if !ok {
				continue
			}
			if err := fn(blobs.Object{Name: name, Upload: upload.UploadID, Begun: begun}); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !page.IsTruncated {
			return ctx.Err()
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// Pin implements [blobs.Writer]. It does nothing, since names are never used again.
func (s *Store) Pin(blobs.Digest) (release func()) { return func() {} }
