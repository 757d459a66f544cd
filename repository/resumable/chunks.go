package resumable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

// Bounds between two checkpoints: at most this much a client has to send again after a power
// failure.
const (
	checkpointBytes = 1 << 30 // each checkpoint delays the client for three syncs
	checkpointTime  = 5 * time.Second
)

// Chunk is the part of a file that one request sends.
type Chunk struct {
	Offset   int64        // position in the file
	Length   int64        // of Body, in bytes; negative if unknown
	Expected blobs.Digest // digest of the complete file; zero if not sent with this chunk
	Body     io.Reader
	Stop     func()       // makes all Reads of Body fail; called from another goroutine
	Verify   func() error // called at the end of Body; after an error nothing counts; may be nil
}

// Append adds a chunk to an upload of the caller. The last chunk creates the resource. An empty
// chunk at the end of a refused file tries that again. If Body fails, Append keeps the bytes
// received before.
func (u *Uploads) Append(ctx context.Context, p auth.Principal, id string, chunk Chunk) (metadata.ResumableUpload, error) {
	t, lock, err := u.acquire(ctx, p, id, true, chunk.Stop)
	if err != nil {
		return t, err
	}
	defer lock.release()
	ctx, operation := storage.Begin(lock.with(ctx))
	t, err = u.append(ctx, p, t, lock, chunk)
	return t, operation.Interrupted(err, "the bytes up to the offset of the upload are stored")
}

// append adds a chunk to an upload whose lock the caller holds.
func (u *Uploads) append(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, lock *lock, chunk Chunk) (_ metadata.ResumableUpload, err error) {
	if !t.Received() {
		if t, err = u.resetIfTruncated(ctx, t); err != nil {
			return t, err
		}
	}
	if chunk.Offset != t.Checkpoint.Size {
		return t, wrongOffset(t.Checkpoint.Size, chunk.Offset)
	}
	if chunk.Length > t.Length-chunk.Offset {
		return t, errLonger
	}
	if err := expect(&t, chunk.Expected); err != nil {
		return t, err
	}
	body, done := u.repository.Receive(ctx, t, lock.track(chunk.Body))
	defer func() { done(t.Checkpoint.Size) }()
	chunk.Body = body
	if t.Received() {
		err = errs.Ignore(readEnd(chunk.Body), io.EOF)
	} else {
		t, err = u.receive(context.WithoutCancel(ctx), p, t, chunk)
	}
	if err != nil || !t.Pending() {
		return t, err
	}
	return u.finish(ctx, p, t)
}

// expect sets the digest that the complete file must have. It returns errExpected if another digest
// was announced earlier, or if the completed upload has another digest.
func expect(t *metadata.ResumableUpload, digest blobs.Digest) error {
	switch {
	case digest == blobs.Digest{}, digest == t.Expected:
		return nil
	case t.Expected != blobs.Digest{}, t.Done() && digest != t.Digest:
		return errExpected
	}
	t.Expected = digest
	return nil
}

// receive appends a chunk to the partial file. It saves checkpoints on the way, unless the whole
// chunk must be verified first. At each checkpoint it verifies that the upload may still grow.
func (u *Uploads) receive(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, chunk Chunk) (metadata.ResumableUpload, error) {
	if u.stores.Unsynced() != nil { // no checkpoint could be saved
		return t, storage.Error(metadata.ErrReadOnly)
	}
	most, body := u.checkpoint, &checkpointReader{Reader: chunk.Body, most: checkpointTime}
	if chunk.Verify != nil {
		most, body.most = t.Length, math.MaxInt64
	}
	for {
		body.begun = time.Now()
		reached, reading := u.files.AppendPartial(ctx, partial(t), body, min(most, t.Length-t.Checkpoint.Size))
		reading = errs.Ignore(reading, errCheckpoint)
		if reading == nil && reached.Size == t.Length {
			reading = readEnd(chunk.Body)
		}
		refused := chunk.refused(reading)
		if refused != nil || reached == t.Checkpoint && errors.Is(reading, blobs.ErrNoSpace) {
			u.deleteFormer(reached, t.Checkpoint, "")
			_ = u.files.TruncatePartial(ctx, partial(t)) // frees space for others; on failure, the next chunk truncates it
		}
		if refused != nil {
			return t, u.stores.BlobError(refused)
		}
		if reached != t.Checkpoint || errors.Is(reading, io.EOF) && chunk.Expected != (blobs.Digest{}) {
			saved, err := u.saveProgress(ctx, t, reached)
			if err != nil {
				return t, err
			}
			t = saved
		}
		switch {
		case errors.Is(reading, io.EOF):
			return t, nil
		case reading != nil:
			return t, u.stores.BlobError(reading)
		}
		if _, err := u.read(ctx, p, t.ID, true); err != nil {
			return t, err
		}
	}
}

// saveProgress records the bytes received.
func (u *Uploads) saveProgress(ctx context.Context, t metadata.ResumableUpload, reached blobs.Checkpoint) (metadata.ResumableUpload, error) {
	before := t
	if t.Checkpoint = reached; reached.Size > before.Checkpoint.Size { // an empty request does not extend the upload
		t.Expires = u.after(u.pause)
	}
	if reached.Size == t.Length {
		digest, err := reached.Digest()
		if err != nil {
			return t, u.stores.BlobError(err)
		}
		t.Digest = digest
	}
	return t, u.save(ctx, before, t)
}

// checkpointReader is a body that returns errCheckpoint after it has been read for most.
type checkpointReader struct {
	io.Reader
	begun time.Time
	most  time.Duration
}

var errCheckpoint = errors.New("a checkpoint is due")

func (r *checkpointReader) Read(p []byte) (int, error) {
	if time.Since(r.begun) > r.most {
		return 0, errCheckpoint
	}
	return r.Reader.Read(p)
}

// errLonger reports more bytes than announced. It is unknown which of them are wrong.
var errLonger error = &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Upload-Length",
	Message: "more bytes were received than the Upload-Length of this upload"}

// errExpected reports a digest that contradicts the one announced earlier.
var errExpected error = &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: "Labshelf-SHA256",
	Message: "the SHA-256 differs from the SHA-256 that was announced earlier, or from the received file"}

func wrongOffset(want, got int64) error {
	return &errs.Error{Kind: errs.Conflict, Code: errs.CodeOffset, Field: "Upload-Offset",
		Message: fmt.Sprintf("the next chunk of this upload begins at byte %d, not %d", want, got)}
}

// readEnd returns io.EOF if a body has ended, and errLonger if it has more bytes.
func readEnd(body io.Reader) error {
	var more [1]byte
	n, err := io.ReadFull(body, more[:])
	if n > 0 {
		return errLonger
	}
	return err
}

// refused returns why a whole chunk is rejected, or nil. reading is the state of its body: io.EOF
// at the end, another error, or nil if more may follow.
func (c Chunk) refused(reading error) error {
	switch {
	case errors.Is(reading, errLonger):
		return errLonger
	case c.Verify == nil, reading == nil:
		return nil
	case errors.Is(reading, io.EOF):
		return c.Verify()
	}
	return reading
}
