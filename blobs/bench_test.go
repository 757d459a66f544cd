package blobs_test

import (
	"bytes"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

func BenchmarkStage(b *testing.B) {
	sizes := []struct {
		name string
		size int
	}{{"4KiB", 4 << 10}, {"64MiB", 64 << 20}}
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			dir, err := blobs.OpenDir(blobstest.DataDir(b), blobs.OS{})
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
