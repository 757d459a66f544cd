package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"labshelf/backup"
	"labshelf/blobs"
)

// TestByteChangedInTransit: the first read of each file has one wrong byte. The file is read again,
// and is reported as complete.
func TestByteChangedInTransit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload("one", "two")
	source, err := openLocal(w.dir)
	check(t, err)
	dest := t.TempDir()
	made, err := backup.Create(t.Context(), &misread{Source: source}, dest, backup.CreateOptions{})
	check(t, errors.Join(err, source.Close()))
	if len(made.Manifest.Damaged) > 0 || made.Violations > 0 || made.Copied.Count != 2 {
		t.Errorf("%+v", made)
	}
	wantSame(t, w.dir, mustRestore(t, dest))
}

// misread returns a wrong first byte at the first read of each blob.
type misread struct {
	backup.Source
	read sync.Map // digests of the read blobs
}

func (m *misread) Blob(ctx context.Context, b blobs.Blob) (io.ReadCloser, error) {
	body, err := m.Source.Blob(ctx, b)
	if _, again := m.read.LoadOrStore(b.Digest, true); again || err != nil {
		return body, err
	}
	defer func() { _ = body.Close() }() // only read
	content, err := io.ReadAll(body)
	if len(content) > 0 {
		content[0] ^= 1
	}
	return io.NopCloser(bytes.NewReader(content)), err
}
