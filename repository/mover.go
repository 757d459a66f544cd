package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

const (
	moveBodies = 256     // in one batch, at most
	moveBytes  = 4 << 20 // in one batch, about

	// moveQuiet is for how long there must have been no upload before a file is made: a client that sends one file after the
	// other is not to meet the syncs of the files before. Moving beside 16 clients at full speed cost 28 % of their uploads.
	moveQuiet = 100 * time.Millisecond
	// movePatience is how long a batch waits for that. Where uploads never pause, a batch a minute is moved, until much is held.
	movePatience = time.Minute
	// moveRetry is the pause after a batch that failed, for instance because the disk was full.
	moveRetry = time.Second
)

// mover makes files of held bodies, in batches: files, then the commit that vouches for them and forgets the bodies. Until that
// is on stable storage the bodies are where they were, so wherever it is interrupted, the next start begins the batch anew, and
// what is left is a file too many at most. A move is no change of a resource: stamp, version and all that a client sees stay.
type mover struct {
	*stores
	hold    *holder
	patient time.Duration
	wake    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}
}

// startMover begins with what the last run has left.
func startMover(s *stores, hold *holder) *mover {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mover{stores: s, hold: hold, patient: movePatience, wake: make(chan struct{}, 1), stop: cancel, stopped: make(chan struct{})}
	m.call()
	go m.run(ctx)
	return m
}

// close returns when the batch under way is done, less the files that it had not begun with.
func (m *mover) close() {
	m.stop()
	<-m.stopped
}

// call tells that a body has come to be held.
func (m *mover) call() {
	select {
	case m.wake <- struct{}{}:
	default: // it knows
	}
}

func (m *mover) run(ctx context.Context) {
	defer close(m.stopped)
	for {
		select {
		case <-m.wake:
		case <-ctx.Done():
			return
		}
		for {
			err := m.drain(ctx)
			m.troubles.tell(taskMove, err)
			if err == nil {
				break
			}
			if !sleep(ctx, moveRetry) {
				return
			}
		}
	}
}

// drain moves bodies until it has come to the last one. One that cannot be read, or of which no file can be made, stays where it
// is, and is told.
func (m *mover) drain(ctx context.Context) error {
	var left error
	for after := (metadata.BodyKey{}); ctx.Err() == nil; {
		turn := m.newTurn()
		if !turn.comes(ctx) {
			return ctx.Err()
		}
		batch, err := m.next(ctx, &after)
		left = errors.Join(left, err)
		if len(batch) == 0 {
			return left
		}
		stay, err := m.moveOrSplit(ctx, batch, turn)
		left = errors.Join(left, err)
		if stay == len(batch) { // so will the others
			return left
		}
	}
	return left
}

// moveOrSplit moves a batch; where that fails because of some of it, a broken folder for instance, it moves the others. It returns
// how many stay, and why.
func (m *mover) moveOrSplit(ctx context.Context, batch []heldBody, turn turn) (stay int, err error) {
	err = m.move(ctx, batch, turn)
	switch {
	case err == nil:
		return 0, nil
	case len(batch) == 1 || !ofSome(err):
		return len(batch), err
	}
	half := len(batch) / 2
	first, err := m.moveOrSplit(ctx, batch[:half], turn)
	second, more := m.moveOrSplit(ctx, batch[half:], turn)
	return first + second, errors.Join(err, more)
}

// ofSome tells whether a failure may be of some bodies only. A full disk, or a store that takes no changes, is of all.
func ofSome(err error) bool {
	var known *errs.Error
	return errors.As(err, &known) && (known.Code == errs.CodeInternal || known.Code == errs.CodeDataDamaged)
}

// turn is when the mover may work: while no upload would have to wait for it, when it has waited for long, or when much is held.
type turn struct {
	hold  *holder
	until time.Time
}

func (m *mover) newTurn() turn { return turn{m.hold, time.Now().Add(m.patient)} }

// comes waits for it. False: the service ends.
func (t turn) comes(ctx context.Context) bool {
	for !t.hold.busy.quiet(moveQuiet) && t.hold.bytes.Load() < holdAtMost/2 && time.Now().Before(t.until) {
		if !sleep(ctx, moveQuiet/4) {
			return false
		}
	}
	return ctx.Err() == nil
}

// heldBody is one body of a batch.
type heldBody struct {
	of    metadata.BodyKey
	blob  metadata.Blob
	bytes []byte
}

// next reads the batch after a body, and moves after to its last one. The error is about the bodies left out of it. It also counts
// what is held: what purges and large files have taken away nobody else would notice, nor that an upload was not committed.
func (m *mover) next(ctx context.Context, after *metadata.BodyKey) (batch []heldBody, damaged error) {
	err := m.meta.View(ctx, func(tx *metadata.Tx) error {
		if err := m.hold.count(tx); err != nil {
			return err
		}
		size := 0
		for of, err := range tx.Bodies.All(*after) {
			if err != nil {
				return err
			}
			*after = of
			body, err := wholeBody(tx, of)
			if err != nil {
				damaged = errors.Join(damaged, fmt.Errorf("body of resource %s: %w", of.Resource, err))
				continue
			}
			batch = append(batch, body)
			if size += len(body.bytes); len(batch) == moveBodies || size >= moveBytes {
				break
			}
		}
		return nil
	})
	return batch, errors.Join(damaged, err)
}

// wholeBody reads a body and holds it against its resource.
func wholeBody(tx *metadata.Tx, of metadata.BodyKey) (heldBody, error) {
	r, err := tx.Resources.Get(of.Resource)
	if err != nil {
		return heldBody{}, err
	}
	if !r.Needs(of) {
		return heldBody{}, fmt.Errorf("%w: its resource does not need it", metadata.ErrRecordDamaged)
	}
	body, err := verifyBody(tx, r)
	return heldBody{of, metadata.Blob{Digest: r.Digest, Bytes: r.Bytes}, body}, err
}

// move makes files of a batch, and then one commit. The digests are pinned until that is done, so that no purge takes the files
// for what an upload has left. In the order of digests, each folder is gone to once, and the rows of the commit are, too.
func (m *mover) move(ctx context.Context, batch []heldBody, turn turn) error {
	slices.SortFunc(batch, func(a, b heldBody) int { return bytes.Compare(a.blob.Digest[:], b.blob.Digest[:]) })
	var pins []func()
	defer func() {
		for _, release := range pins {
			release()
		}
	}()
	next := func(yield func([]byte) bool) {
		var last *blobs.Digest
		for i, body := range batch {
			if last != nil && body.blob.Digest == *last {
				continue
			}
			if !turn.comes(ctx) {
				batch = batch[:i] // these can be done with
				return
			}
			pins = append(pins, m.blobs.Pin(body.blob.Digest))
			if !yield(body.bytes) {
				return
			}
			last = &batch[i].blob.Digest
		}
	}
	begun := time.Now()
	err := inOrder(
		func() error { return m.place(next) },
		func() error { return m.vouch(context.WithoutCancel(ctx), batch) },
	)
	moved := metadata.BodyCount{Bodies: int64(len(batch))}
	for _, body := range batch {
		moved.Bytes += body.blob.Bytes
	}
	m.watch.moved(moved, time.Since(begun), err)
	return err
}

// place makes files, unless nothing could be committed afterwards.
func (m *mover) place(bodies iter.Seq[[]byte]) error {
	if m.unsynced.Load() != nil || m.meta.Health().ReadOnly != nil {
		return storageError(metadata.ErrReadOnly)
	}
	return m.blobError(m.blobs.PlaceAll(bodies))
}

// vouch commits that bodies have become files. What has been replaced or purged meanwhile left a file too many.
func (m *mover) vouch(ctx context.Context, moved []heldBody) error {
	if len(moved) == 0 {
		return nil
	}
	for _, body := range moved {
		m.opinions.placed(body.blob.Digest)
	}
	return m.writeBehind(ctx, func(tx *metadata.Tx) error {
		for _, body := range moved {
			r, err := tx.Resources.Get(body.of.Resource)
			if err != nil {
				return err
			}
			if !r.Needs(body.of) {
				continue
			}
			after := r
			after.Body = metadata.Filed
			if err := errors.Join(vouchForFile(tx, after), keepResource(tx, &r, after)); err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder is the order of a move: a power cut between the two leaves the bodies where they are.
func inOrder(files, commit func() error) error {
	if err := files(); err != nil {
		return err
	}
	return commit()
}
