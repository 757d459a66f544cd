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
	batchBodies = 256     // in one batch, at most
	batchBytes  = 4 << 20 // in one batch, about

	// idleWindow is for how long there must have been no upload and no reader before a file is
	// made: a client that sends one file after the other is not to meet the syncs of the files
	// before. Flushing beside 16 clients at full speed cost 28 % of their uploads, and 16 % of
	// their downloads.
	idleWindow = 100 * time.Millisecond
	// flushDelay is how long a batch waits for that. Where uploads never pause, a batch a minute is
	// flushed, until much is stored.
	flushDelay = time.Minute
	// flushBackoff is the pause after a batch that failed, for instance because the disk was full.
	flushBackoff = time.Second
)

// Bodies become files in batches: files, then the commit that records them and removes the bodies.
// Until that is on stable storage the bodies are where they were, so wherever it is interrupted,
// the next start begins the batch anew, and what is left is a file too many at most. It is no
// change of a resource: stamp, version and all that a client sees stay.

// flush makes files until it has come to the last body. One that cannot be read, or of which no
// file can be made, stays where it is, and is told. A batch waits for an idle window, for delay at
// most.
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
		if stay == len(batch) { // so will the others
			return left
		}
	}
	return left
}

// window is when the flusher may work: while nobody would have to wait for it, when it has waited
// for long, or when much is stored.
type window struct {
	bodies *Bodies
	until  time.Time
}

// wait waits for it. False: the service ends.
func (w window) wait(ctx context.Context) bool {
	for !w.bodies.requests.idle(idleWindow) && w.bodies.stored.Load() < maxStored/2 && time.Now().Before(w.until) {
		if !background.Sleep(ctx, idleWindow/4) {
			return false
		}
	}
	return ctx.Err() == nil
}

// flushOrSplit flushes a batch; where that fails because of some of it, a broken folder for
// instance, it flushes the others. It returns how many stay, and why.
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

// ofSome tells whether a failure may be of some bodies only. A full disk, or a store that takes no
// changes, is of all.
func ofSome(err error) bool {
	var known *errs.Error
	return errors.As(err, &known) && (known.Code == errs.CodeInternal || known.Code == errs.CodeDataDamaged)
}

// body is one of a batch.
type body struct {
	of    metadata.VersionKey
	blob  blobs.Blob
	bytes []byte
}

// next reads the batch after a body, and moves after to its last one. The error is about the bodies
// left out of it. It also counts what is stored: nothing else notices what purges and large files
// have removed, nor that an upload was not committed.
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

// verified reads a body and compares it with its resource, as that was in the version of the body.
func verified(tx *metadata.Tx, of metadata.VersionKey) (body, error) {
	r, err := rows.InVersion(tx, of)
	if err != nil {
		return body{}, err
	}
	if !r.Needs(of) {
		return body{}, fmt.Errorf("%w: its resource does not need it", metadata.ErrRecordDamaged)
	}
	content, err := rows.VerifyInline(tx, r)
	return body{of, blobs.Blob{Digest: r.Digest, Size: r.Bytes}, content}, err
}

// flushBatch makes files of a batch, and then one commit. The digests are pinned until that is
// done, so that no purge takes the files for what an upload has left. In the order of digests, each
// folder is gone to once, and the rows of the commit are, too.
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
				batch = batch[:i] // these can be done with
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

// commitFiles makes files, unless nothing could be recorded afterwards.
func (b *Bodies) commitFiles(ctx context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	if b.stores.Unsynced() != nil || b.stores.Meta.Health().ReadOnly != nil {
		return nil, storage.Error(metadata.ErrReadOnly)
	}
	files, err := b.files.CommitAll(context.WithoutCancel(ctx), bodies)
	return files, b.stores.BlobError(err)
}

// recordFiles commits that bodies have become files. What has been purged or erased meanwhile left
// a file too many.
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

// inOrder is the order of a batch: a power cut between the two leaves the bodies where they are.
func inOrder(files, commit func() error) error {
	if err := files(); err != nil {
		return err
	}
	return commit()
}
