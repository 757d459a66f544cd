package s3_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"labshelf/blobs"
	"labshelf/blobs/s3"
	"labshelf/internal/servers"
)

// BenchmarkStore uploads and downloads bodies with the store and with minio-go's own client, in
// pairs. Run it with -count, and compare both. The server runs in memory and shares the processor.
func BenchmarkStore(b *testing.B) {
	server := servers.StartS3(b)
	bucket := server.Bucket(b)
	store := openAt(b, "s3://"+bucket+"/store", options(server))
	client, err := minio.New(strings.TrimPrefix(server.Endpoint(), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(server.AccessKey, server.SecretKey, ""), Region: server.Region,
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []struct {
		name  string
		bytes int64
	}{{"100KiB", 100 << 10}, {"1GiB", 1 << 30}} {
		for _, one := range []struct {
			name    string
			subject subject
		}{{"store", &byStore{store: store}}, {"client", &byClient{client, bucket}}} {
			b.Run("up/"+size.name+"/"+one.name, func(b *testing.B) { up(b, one.subject, size.bytes) })
			b.Run("down/"+size.name+"/"+one.name, func(b *testing.B) { down(b, one.subject, size.bytes) })
		}
	}
}

// subject uploads one body, downloads it, and removes it.
type subject interface {
	put(ctx context.Context, r io.Reader, size int64) error
	get(ctx context.Context) (io.ReadCloser, error)
	remove(ctx context.Context) error
}

func up(b *testing.B, m subject, size int64) {
	b.SetBytes(size)
	for b.Loop() {
		if err := m.put(b.Context(), endless(size), size); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := m.remove(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func down(b *testing.B, m subject, size int64) {
	if err := m.put(b.Context(), endless(size), size); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		body, err := m.get(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, plainReader{body})
		if err != nil || n != size {
			b.Fatal(n, err)
		}
		if err := body.Close(); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.remove(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// block is the repeated content of bodies.
var block = content(1 << 20)

// endless returns a reader of size bytes that costs no time.
func endless(size int64) io.Reader { return plainReader{io.LimitReader(&blocks{}, size)} }

type blocks struct{ at int }

func (r *blocks) Read(p []byte) (int, error) {
	n := copy(p, block[r.at:])
	r.at = (r.at + n) % len(block)
	return n, nil
}

// byStore uses the store like an upload: with an announced length, up to the commit.
type byStore struct {
	store *s3.Store
	done  blobs.Content
}

func (m *byStore) put(ctx context.Context, r io.Reader, size int64) error {
	staged, err := m.store.Stage(ctx, blobs.WithLength(r, size), size)
	if err == nil {
		m.done, err = staged.Commit(ctx)
	}
	return err
}

func (m *byStore) get(ctx context.Context) (io.ReadCloser, error) {
	return m.store.Open(ctx, m.done.Blob)
}

func (m *byStore) remove(ctx context.Context) error {
	return m.store.DeleteObject(ctx, blobs.Object{Name: m.done.Object})
}

type byClient struct {
	client *minio.Client
	bucket string
}

func (m *byClient) put(ctx context.Context, r io.Reader, size int64) error {
	_, err := m.client.PutObject(ctx, m.bucket, "client", r, size, minio.PutObjectOptions{})
	return err
}

func (m *byClient) get(ctx context.Context) (io.ReadCloser, error) {
	return m.client.GetObject(ctx, m.bucket, "client", minio.GetObjectOptions{})
}

func (m *byClient) remove(ctx context.Context) error {
	return m.client.RemoveObject(ctx, m.bucket, "client", minio.RemoveObjectOptions{})
}
