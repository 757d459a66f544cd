package directory_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"

	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

func BenchmarkStage(b *testing.B) {
	sizes := []struct {
		name string
		size int
	}{{"4KiB", 4 << 10}, {"100KiB", 100 << 10}, {"64MiB", 64 << 20}}
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			dir, err := directory.Open(blobstest.DataDir(b), directory.OS{})
			if err != nil {
				b.Fatal(err)
			}
			content := blobstest.Content(size.size)
			b.SetBytes(int64(size.size))
			b.ReportAllocs()
			for b.Loop() {
				staged, err := dir.Stage(b.Context(), bytes.NewReader(content), 0)
				if err != nil {
					b.Fatal(err)
				}
				if err := staged.Discard(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nowhere is a file system whose files discard their data.
type nowhere struct{ directory.OS }

func (nowhere) Create(string) (directory.File, error) { return swallow{io.Discard}, nil }
func (nowhere) Remove(string) error                   { return nil }

type swallow struct{ io.Writer }

func (swallow) Sync() error  { return nil }
func (swallow) Close() error { return nil }

// BenchmarkHash compares staging without a disk with the hash alone. The difference is the cost of
// reading, and of passing chunks between goroutines.
func BenchmarkHash(b *testing.B) {
	dir, err := directory.Open(blobstest.DataDir(b), nowhere{})
	if err != nil {
		b.Fatal(err)
	}
	content := blobstest.Content(64 << 20)
	for name, size := range map[string]int{"4KiB": 4 << 10, "128KiB": 128 << 10, "64MiB": 64 << 20} {
		b.Run(name+"/stage", func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				staged, err := dir.Stage(b.Context(), bytes.NewReader(content[:size]), 0)
				if err != nil || staged.Discard() != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/alone", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				sha256.Sum256(content[:size])
			}
		})
	}
}
