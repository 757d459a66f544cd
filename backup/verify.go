package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"labshelf/blobs"
	"labshelf/metadata"
)

// Verify restores a snapshot in the folder dest to a new folder below tempDir ("": the system's),
// checks it, compares it with the backup, and removes it. It needs free space for the whole
// snapshot. Unless one snapshot was selected, it then reads, in the backup, the additional files of
// the other snapshots. Errors: the errors of Restore.
func Verify(ctx context.Context, dest, tempDir string, o RestoreOptions) (done Restored, err error) {
	locked, err := lockShared(dest)
	if err != nil {
		return done, fmt.Errorf("%s: %w", dest, err)
	}
	defer func() { err = errors.Join(err, locked.close()) }()
	folder, err := os.MkdirTemp(tempDir, "labshelf-verify-")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	dataDir := filepath.Join(folder, "data")
	o.temporary = true
	if done, err = Restore(ctx, dest, dataDir, o); err != nil {
		return done, err
	}
	m, c := done.Manifest, done.Check
	file, err := os.Open(filepath.Join(dataDir, metadataFile))
	if err != nil {
		return done, err
	}
	n, sum, err := copyHashed(ctx, io.Discard, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return done, err
	}
	if n != m.Database.Bytes || sum != m.Database.SHA256 || c.Stamp > m.Stamp {
		return done, fmt.Errorf("%w: the restored metadata do not match the manifest: changes up to %d, not %d; metadata of %d bytes, not %d",
			ErrBroken, c.Stamp, m.Stamp, n, m.Database.Bytes)
	}
	if o.At == (At{}) {
		done.Earlier, err = verifyEarlier(ctx, dest, m, o)
	}
	return done, err
}

// verifyEarlier reads the metadata of the snapshots before the verified one, the newest first. Of
// the files of each it reads those that the following snapshot does not need, so that each file is
// read once. It returns the number of snapshots.
func verifyEarlier(ctx context.Context, dest string, after Manifest, o RestoreOptions) (count int64, err error) {
	c, err := readCatalog(dest)
	if err != nil {
		return 0, err
	}
	for i := len(c.earlier) - 1; i >= 0; i-- {
		if err := verifyBefore(ctx, dest, c.earlier[i], after, o); err != nil {
			return count, fmt.Errorf("snapshot %s: %w", c.earlier[i].Name(), err)
		}
		after = c.earlier[i]
		count++
	}
	for _, unusable := range c.damaged {
		err = errors.Join(err, fmt.Errorf("snapshot %s: %w", unusable.Name, unusable.Err))
	}
	return count, err
}

// verifyBefore reads a snapshot, except for the files that the following one needs and has.
func verifyBefore(ctx context.Context, dest string, m, after Manifest, o RestoreOptions) (err error) {
	newer, err := openMetadata(after.metadata(dest))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, newer.Close()) }()
	r, err := openReader(ctx, dest, m, sharedLock{}, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	var broken atomic.Int64
	progress := &meter{what: partEarlier, events: r.events, total: m.Blobs.Bytes}
	err = eachBlob(ctx, r.meta, func(ctx context.Context, blob blobs.Blob) error {
		part := progress.part(blob.Size)
		defer part.end()
		if m.lost(blob.Digest) || !after.lost(blob.Digest) && has(ctx, newer, blob) {
			return nil
		}
		err := blobs.Verify(ctx, r.files, blob)
		if !isLost(err) {
			return err
		}
		broken.Add(1)
		return report(ctx, r.meta, blob, "in the backup: "+err.Error(), r.events)
	})
	if n := broken.Load(); err == nil && n > 0 {
		err = fmt.Errorf("%w: files are damaged: %d of %d", ErrBroken, n, m.Blobs.Count)
	}
	return err
}

// has reports whether metadata have a row of a blob.
func has(ctx context.Context, meta metadata.Reader, blob blobs.Blob) bool {
	return meta.View(ctx, func(tx *metadata.Tx) error {
		_, err := tx.Blobs.Get(blob.Digest)
		return err
	}) == nil
}
