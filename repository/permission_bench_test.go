package repository_test

import (
	"path/filepath"
	"testing"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/repository"
)

// BenchmarkAuthenticate measures the cost of a known key.
func BenchmarkAuthenticate(b *testing.B) {
	meta, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	key, err := svc.Users.Bootstrap(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := svc.Credentials.Authenticate(b.Context(), key, auth.Origin{}); err != nil {
			b.Fatal(err)
		}
	}
	svc.Close()
	if err := meta.Close(); err != nil {
		b.Error(err)
	}
}
