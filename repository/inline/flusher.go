package inline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

const (
	batchBodies = 256     // maximum bodies in one batch
	batchBytes  = 4 << 20 // approximate bytes in one batch

	// idleWindow is the minimum time without an upload or a read before a file is written, so that
	// a client that sends one file after the other does not wait for the syncs of earlier files.
	idleWindow = 100 * time.Millisecond
	// flushDelay is how long a batch waits for an idle window. Without one, a batch is flushed each
	// minute, until too much is stored.
	flushDelay = time.Minute
	// flushBackoff is the pause after a failed batch, for instance on a full disk.
	flushBackoff = time.Second
)

// A batch first writes the files and then commits their rows and the removal of the bodies. The
// bodies stay until that commit is on stable storage. After an interruption, the next start repeats
// the batch; at worst a surplus file remains. A flush does not change the resource: its stamp, its
// version and everything that clients see stay the same.

// flush flushes all bodies. It leaves and reports bodies that cannot be read or written to files. A
// batch waits for an idle window, but at most for delay.
func (b *Bodies) flush(ctx context.Context, delay time.Duration) error {
	if b.config.Keep {
		return b.stores.Meta.View(ctx, b.Count)
	}
	var left error
	for after := (metadata.VersionKey{}); ctx.Err() == nil; {
		w := window{b, time.Now().Add(delay)}
		if !w.wait(ctx) {
			return ctx.Err()
		}
		batch, err := b.next(ctx, &after)
		left = errors.Join(left, err)
		if len(batch) == 0 {
			return left
		}
		stay, err := b.flushOrSplit(ctx, batch, w)
		left = errors.Join(left, err)
		if stay == len(batch) { // the others would fail, too
			return left
		}
	}
	return left
}

// window is the time when the flusher may work: while no client would have to wait, after the time
// in until, or when too many bytes are stored.
type window struct {
	bodies *Bodies
	until  time.Time
}

// wait waits for the window. It returns false if the service is stopping.
func (w window) wait(ctx context.Context) bool {
	for !w.bodies.requests.idle(idleWindow) && w.bodies.stored.Load() < maxStored/2 && time.Now().Before(w.until) {
		if !background.Sleep(ctx, idleWindow/4) {
			return false
		}
	}
	return ctx.Err() == nil
}

// flushOrSplit flushes a batch. If some of its bodies cause a failure, for instance because of a
// broken folder, it flushes the others. It returns how many bodies stay, and the errors.
func (b *Bodies) flushOrSplit(ctx context.Context, batch []body, w window) (stay int, err error) {
	err = b.flushBatch(ctx, batch, w)
	switch {
	case err == nil:
		return 0, nil
	case len(batch) == 1 || !ofSome(err):
		return len(batch), err
	}
	half := len(batch) / 2
	first, err := b.flushOrSplit(ctx, batch[:half], w)
	second, more := b.flushOrSplit(ctx, batch[half:], w)
	return first + second, errors.Join(err, more)
}

// ofSome reports whether only some of the bodies may have caused an error. A full disk or a
// read-only store concerns all of them.
func ofSome(err error) bool {
	var known *errs.Error
	return errors.As(err, &known) && (known.Code == errs.CodeInternal || known.Code == errs.CodeDataDamaged)
}

// body is one body of a batch.
type body struct {
	of    metadata.VersionKey
	blob  blobs.Blob
	bytes []byte
}

// next reads the batch after a body, and moves after to the last body of the batch. The error is
// about bodies that it has skipped. next also counts the stored bytes, since purges, replaced
// bodies and failed uploads do not update the count.
func (b *Bodies) next(ctx context.Context, after *metadata.VersionKey) (batch []body, damaged error) {
	err := b.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		if err := b.Count(tx); err != nil {
			return err
		}
		size := 0
		for of, err := range tx.InlineBodies.All(*after) {
			if err != nil {
				return err
			}
			*after = of
			one, err := verified(tx, of)
			if err != nil {
				damaged = errors.Join(damaged, fmt.Errorf("body of resource %s: %w", of.Resource, err))
				continue
			}
			batch = append(batch, one)
			if size += len(one.bytes); len(batch) == batchBodies || size >= batchBytes {
				break
			}
		}
		return nil
	})
	return batch, errors.Join(damaged, err)
}

// verified reads a body and compares it with its version of the resource.
func verified(tx *metadata.Tx, of metadata.VersionKey) (body, error) {
	r, err := rows.InVersion(tx, of)
	if err != nil {
		return body{}, err
	}
	if !r.Needs(of) {
		return body{}, fmt.Errorf("%w: the resource no longer uses this inline body", metadata.ErrRecordDamaged)
	}
	content, err := rows.VerifyInline(tx, r)
	return body{of, blobs.Blob{Digest: r.Digest, Size: r.Bytes}, content}, err
}

// flushBatch writes the files of a batch and then makes one commit. It pins the digests until that
// commit, so that a purge does not mistake the files for orphans. It processes bodies in the order
// of digests, so that each folder and each range of rows is visited once.
func (b *Bodies) flushBatch(ctx context.Context, batch []body, w window) error {
	slices.SortFunc(batch, func(a, b body) int { return bytes.Compare(a.blob.Digest[:], b.blob.Digest[:]) })
	var pins []func()
	defer func() {
		for _, release := range pins {
			release()
		}
	}()
	next := func(yield func([]byte) bool) {
		var last *blobs.Digest
		for i, one := range batch {
			if last != nil && one.blob.Digest == *last {
				continue
			}
			if !w.wait(ctx) {
				batch = batch[:i] // flush only these
				return
			}
			pins = append(pins, b.files.Pin(one.blob.Digest))
			if !yield(one.bytes) {
				return
			}
			last = &batch[i].blob.Digest
		}
	}
	begun := time.Now()
	var files []blobs.Content
	err := inOrder(
		func() (err error) { files, err = b.commitFiles(ctx, next); return err },
		func() error { return b.recordFiles(context.WithoutCancel(ctx), batch, files) },
	)
	flushed := metadata.BodyCount{Bodies: int64(len(batch))}
	for _, one := range batch {
		flushed.Bytes += one.blob.Size
	}
	if b.config.Flushed != nil {
		b.config.Flushed(flushed, time.Since(begun), err)
	}
	return err
}

// commitFiles writes files, unless they could not be recorded afterwards.
func (b *Bodies) commitFiles(ctx context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	if b.stores.Unsynced() != nil || b.stores.Meta.Health().ReadOnly != nil {
		return nil, storage.Error(metadata.ErrReadOnly)
	}
	files, err := b.files.CommitAll(context.WithoutCancel(ctx), bodies)
	return files, b.stores.BlobError(err)
}

// recordFiles commits that bodies have become files. The files of bodies purged or erased in the
// meantime are surplus.
func (b *Bodies) recordFiles(ctx context.Context, batch []body, files []blobs.Content) error {
	if len(batch) == 0 {
		return nil
	}
	byDigest := make(map[blobs.Digest]blobs.Content, len(files))
	for _, file := range files {
		byDigest[file.Digest] = file
		b.stores.Verifications.Committed(file.Digest)
	}
	return b.stores.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		for _, one := range batch {
			if err := rows.RecordFlushed(tx, one.of, byDigest[one.blob.Digest]); err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder runs the two parts of a batch in order. A power failure in between leaves the bodies
// inline.
func inOrder(files, commit func() error) error {
	if err := files(); err != nil {
		return err
	}
	return commit()
}
