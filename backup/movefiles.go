package backup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
)

// moveBatch is the number of blobs that are copied before the copy of the metadata records their
// place.
const moveBatch = 256

// moveFiles copies the missing blobs to the destination, in batches. A commit records the blobs of
// each batch.
func (m *move) moveFiles(ctx context.Context) (err error) {
	if _, there := os.Lstat(m.beforePath()); there == nil {
		if m.before, err = bolt.Open(m.beforePath(), bolt.Options{ReadOnly: true}); err != nil {
			return err
		}
	}
	progress := &meter{what: partFiles, events: m.events, total: m.done.Files.Bytes}
	var last blobs.Digest
	for more := true; more && err == nil; {
		var batch []blobs.Blob
		if batch, err = blobsAfter(ctx, m.records, last); err != nil || len(batch) == 0 {
			break
		}
		last, more = batch[len(batch)-1].Digest, len(batch) == moveBatch
		err = m.moveBatch(ctx, batch, progress)
	}
	if m.before != nil {
		if err = errors.Join(err, m.before.Close()); err == nil {
			err = os.Remove(m.beforePath())
		}
	}
	if folder, ok := m.to.Files.(*directory.Store); ok && err == nil {
		err = m.there.sync(folder)
	}
	return err
}

// blobsAfter returns the first blobs after a digest.
func blobsAfter(ctx context.Context, meta metadata.Reader, last blobs.Digest) (batch []blobs.Blob, err error) {
	err = meta.View(ctx, func(tx *metadata.Tx) error {
		for blob, err := range tx.Blobs.All(last) {
			if err != nil {
				return err
			}
			if batch = append(batch, blob); len(batch) == moveBatch {
				break
			}
		}
		return nil
	})
	return batch, err
}

// moveBatch copies several blobs concurrently, and records the names of their objects.
func (m *move) moveBatch(ctx context.Context, batch []blobs.Blob, progress *meter) error {
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	queue := make(chan blobs.Blob)
	m.noted = m.noted[:0]
	for range copiers {
		workers.Go(func() {
			for blob := range queue {
				part := progress.part(blob.Size)
				if err := m.moveBlob(bounded, blob, part); err != nil {
					cancel(err)
				}
				part.end()
			}
		})
	}
	for _, blob := range batch {
		if bounded.Err() != nil {
			break
		}
		queue <- blob
	}
	close(queue)
	workers.Wait()
	// Copied blobs are recorded even if others failed: the next run continues from there.
	err := m.records.Update(context.WithoutCancel(ctx), func(tx *metadata.Tx) error {
		for _, blob := range m.noted {
			if err := tx.Blobs.Put(blob); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(context.Cause(bounded), err)
}

// moveBlob copies a blob unless the destination has it, or counts it as lost.
func (m *move) moveBlob(ctx context.Context, blob blobs.Blob, part *portion) error {
	if there, ok := m.arrived(ctx, blob); ok {
		m.there.note(blob.Digest)
		m.note(blob, there, extent{})
		return nil
	}
	for try := 1; ; try++ {
		moved, err := m.copyBlob(ctx, blob, part)
		switch {
		case err == nil:
			m.note(blob, moved, extent{1, blob.Size})
			return nil
		case errors.Is(err, blobs.ErrDamaged) && try == 1:
			continue // a byte may have changed in transit; two wrong reads are damage
		case isLost(err):
			m.mu.Lock()
			m.done.Lost++
			m.mu.Unlock()
			return report(ctx, m.records, blob, err.Error(), m.events)
		case try == attempts || !errors.Is(err, blobs.ErrUnavailable):
			return fmt.Errorf("move the file %s: %w", blob.Digest, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try*try) * 250 * time.Millisecond):
		}
	}
}

// note counts the copied bytes of a blob, and records its new object.
func (m *move) note(before, after blobs.Blob, copied extent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Copied.Count += copied.Count
	m.done.Copied.Bytes += copied.Bytes
	if after != before {
		m.noted = append(m.noted, after)
	}
}

// arrived returns the blob if the destination already has it.
func (m *move) arrived(ctx context.Context, blob blobs.Blob) (there blobs.Blob, ok bool) {
	_, named := m.to.Files.(blobs.Objects)
	if named && blob.Object == "" && m.before != nil {
		_ = m.before.View(ctx, func(tx *metadata.Tx) error { // if that fails, the blob is copied again
			earlier, err := tx.Blobs.Get(blob.Digest)
			blob.Object = earlier.Object
			return err
		})
	}
	if named && blob.Object == "" {
		return blob, false
	}
	if m.rehash {
		return blob, blobs.Verify(ctx, m.to.Files, blob) == nil
	}
	size, err := m.to.Files.Stat(ctx, blob)
	return blob, err == nil && size == blob.Size
}

// copyBlob copies a blob. Errors: blobs.ErrNotFound and blobs.ErrDamaged of the origin.
func (m *move) copyBlob(ctx context.Context, blob blobs.Blob, part *portion) (moved blobs.Blob, err error) {
	body, err := m.from.Files.Open(ctx, m.origin(ctx, blob))
	if err != nil {
		return blob, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	staged, err := m.to.Files.Stage(ctx, blobs.WithLength(part.through(lossy{body}), blob.Size), max(1, blob.Size))
	if errors.Is(err, blobs.ErrTooLarge) {
		return blob, fmt.Errorf("%w: it has more than %d bytes", blobs.ErrDamaged, blob.Size)
	}
	if err != nil {
		return blob, err
	}
	defer func() { err = errors.Join(err, staged.Discard()) }()
	content := staged.Content()
	if content.Size != blob.Size || content.Digest != blob.Digest {
		return blob, fmt.Errorf("%w: it has %d bytes and the digest %s, not %d", blobs.ErrDamaged, content.Size, content.Digest, blob.Size)
	}
	if content, err = staged.Commit(ctx); err != nil {
		return blob, err
	}
	return content.Blob, nil
}

// origin returns the blob as it is at the origin.
func (m *move) origin(ctx context.Context, blob blobs.Blob) blobs.Blob {
	_ = m.from.Metadata.View(ctx, func(tx *metadata.Tx) error { // if that fails, opening the blob fails, too
		there, err := tx.Blobs.Get(blob.Digest)
		if err == nil {
			blob = there
		}
		return err
	})
	return blob
}

// forgetObjects removes the data about a former store of blobs from metadata: the names of objects,
// the content of its trash, and the progress of uploads in chunks, which begin again.
func forgetObjects(ctx context.Context, path string) error {
	meta, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	for _, forget := range []func(context.Context, *bolt.Store) error{forgetNames, forgetTrash, forgetUploads} {
		if err = forget(ctx, meta); err != nil {
			break
		}
	}
	return errors.Join(err, meta.Close())
}

func forgetNames(ctx context.Context, meta *bolt.Store) error {
	var last blobs.Digest
	for {
		batch, err := blobsAfter(ctx, meta, last)
		if err != nil || len(batch) == 0 {
			return err
		}
		last = batch[len(batch)-1].Digest
		err = meta.Update(ctx, func(tx *metadata.Tx) error {
			for _, blob := range batch {
				if blob.Object == "" {
					continue
				}
				blob.Object = ""
				if err := tx.Blobs.Put(blob); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(batch) < moveBatch {
			return err
		}
	}
}

func forgetTrash(ctx context.Context, meta *bolt.Store) error {
	for {
		var batch []metadata.ObjectKey
		err := meta.View(ctx, func(tx *metadata.Tx) error {
			for row, err := range tx.Trashed.All(metadata.ObjectKey{}) {
				if err != nil || len(batch) == moveBatch {
					return err
				}
				batch = append(batch, row.Key())
			}
			return nil
		})
		if err != nil || len(batch) == 0 {
			return err
		}
		err = meta.Update(ctx, func(tx *metadata.Tx) error {
			for _, key := range batch {
				if err := tx.Trashed.Remove(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

func forgetUploads(ctx context.Context, meta *bolt.Store) error {
	var named []metadata.ResumableUpload
	err := meta.View(ctx, func(tx *metadata.Tx) error {
		for id, err := range tx.Uploads.Ended(math.MaxInt64) {
			if err != nil {
				return err
			}
			upload, err := tx.Uploads.Get(id)
			if err != nil {
				return err
			}
			if upload.Checkpoint.Parts != "" {
				upload.Checkpoint.Parts = ""
				named = append(named, upload)
			}
		}
		return nil
	})
	for batch := range slices.Chunk(named, moveBatch) {
		if err != nil {
			break
		}
		err = meta.Update(ctx, func(tx *metadata.Tx) error {
			for _, upload := range batch {
				if err := tx.Uploads.Put(upload); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}
