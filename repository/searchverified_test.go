package repository_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// changing is a store that flips a bit of each blob that it opens.
type changing struct {
	*blobstest.Memory
	flips atomic.Bool
}

func (c *changing) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	file, err := c.Memory.Open(ctx, b)
	if err != nil || !c.flips.Load() {
		return file, err
	}
	return flipped{file}, nil
}

type flipped struct{ io.ReadSeekCloser }

func (f flipped) Read(p []byte) (int, error) {
	n, err := f.ReadSeekCloser.Read(p)
	if n > 0 {
		p[0] ^= 1
	}
	return n, err
}

// TestSearchVerifiesText: if a file has wrong bytes, its text is not found, and it is recorded as
// damaged.
func TestSearchVerifiesText(t *testing.T) {
	t.Parallel()
	meta, files := metadatatest.NewMemory(time.Now), &changing{Memory: blobstest.NewMemory()}
	svc := repository.New(meta, files, repository.Config{IndexDir: t.TempDir(), PageSize: 100, VerifyReads: 1 << 20})
	t.Cleanup(svc.Close)
	s := &searched{World: repositorytest.NewWorld(t, svc, 1), meta: meta}
	s.OK(s.replace(s.Resources[0], "quartz\n", "text/plain"))
	s.want(s.Admin, "quartz", "file 0 0")
	files.flips.Store(true)
	s.OK(svc.Search.Rebuild(t.Context(), s.Admin))
	s.want(s.Admin, "puartz")
	s.OK(meta.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Damages.Get(s.Get(s.Resources[0].ID).Digest)
		return err
	}))
}
