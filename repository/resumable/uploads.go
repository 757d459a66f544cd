package resumable

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/storage"
)

// Repository contains the methods that uploads need of their repository.
type Repository interface {
	// Lookup returns an upload of the caller, after its state has reached stable storage. It
	// returns NotFound for an upload of another sender. grows reports that more of the file is
	// about to arrive.
	Lookup(ctx context.Context, p auth.Principal, id metadata.ID, grows bool) (metadata.ResumableUpload, error)
	// Update runs fn in a write transaction, with the present state of the caller.
	Update(ctx context.Context, p auth.Principal, fn func(*metadata.Tx, auth.Principal) error) error
	// Complete creates the resource of an upload from its staged file, and runs with in the same
	// transaction.
	Complete(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) error
	// Ended is called when an upload has created its resource or was removed.
	Ended(id metadata.ID)
	// Receive is called when a client sends more of an upload. It returns the body, which fails
	// when there is no more room for it. The caller must call done at the end, with the size that
	// is kept.
	Receive(ctx context.Context, t metadata.ResumableUpload, body io.Reader) (reserving io.Reader, done func(size int64))
}

// Config is the configuration of uploads.
type Config struct {
	Age time.Duration    // maximum pause of an upload, and how long its result is kept
	Now func() time.Time // the clock for their expiry

	// Abandoned, if not nil, reports whether an upload can never become a resource, so that its
	// file can be removed.
	Abandoned func(*metadata.Tx, metadata.ResumableUpload) (bool, error)
}

// Uploads are the resumable uploads of a repository. It is safe for concurrent use: requests for
// one upload run one at a time.
type Uploads struct {
	stores     *storage.Stores
	files      blobs.PartialFiles
	folder     blobs.PartialRemover // for partial files in a folder; nil if they are objects
	repository Repository
	config     Config
	locks      *locks
	checkpoint int64 // bytes between two checkpoints
	pause      time.Duration
	expiry     *background.Worker
}

// Start starts to remove expired uploads. files must belong to the blob store in stores. The caller
// must call Close before it closes the stores.
func Start(stores *storage.Stores, files blobs.PartialFiles, repository Repository, c Config) *Uploads {
	folder, _ := files.(blobs.PartialRemover)
	u := &Uploads{stores: stores, files: files, folder: folder, repository: repository, config: c, locks: newLocks(stores.Node), checkpoint: checkpointBytes, pause: c.Age}
	u.expiry = stores.Node.Work(background.After(expiryEvery), func(ctx context.Context) background.Next {
		u.stores.Background.Report(background.TaskExpiry, u.expire(ctx))
		return background.After(expiryEvery)
	})
	return u
}

// For returns the same uploads for the callers of another repository. Their uploads expire after a
// pause of this length, or after Config.Age if that is shorter.
func (u *Uploads) For(r Repository, pause time.Duration) *Uploads {
	theirs := *u
	theirs.repository, theirs.pause = r, min(pause, u.pause)
	return &theirs
}

// Tidy starts the removal of expired and abandoned uploads in the background.
func (u *Uploads) Tidy() { u.expiry.Wake() }

// Close stops the background work. Requests in progress continue.
func (u *Uploads) Close() { u.expiry.Close() }

// Create begins an upload of the caller. admit completes t, which has its id, in the transaction
// that stores it, or returns an error. An upload of an empty file is complete immediately. If
// Create returns an upload and an error, the upload has begun but its file was refused.
func (u *Uploads) Create(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, admit func(*metadata.Tx, auth.Principal, *metadata.ResumableUpload) error) (metadata.ResumableUpload, error) {
	if t.Length == 0 { // like the last chunk of other files
		digest, err := t.Checkpoint.Digest()
		if err != nil {
			return metadata.ResumableUpload{}, u.stores.BlobError(err)
		}
		t.Digest = digest
	}
	ctx, operation := storage.Begin(ctx)
	err := u.repository.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		t.Created = tx.Stamp()
		t.ID, t.Expires = metadata.NewID(t.Created), u.after(u.pause)
		if err := admit(tx, p, &t); err != nil {
			return err
		}
		return tx.Uploads.Put(t)
	})
	if err != nil {
		return metadata.ResumableUpload{}, err
	}
	if t.Received() {
		t, err = u.finish(ctx, p, t)
	}
	return t, operation.Interrupted(err, "the upload has begun")
}

// Get returns an upload of the caller, in its state between two requests. If it is complete but has
// no resource yet, for instance after a restart, Get creates the resource. For a refused upload it
// returns the refusal.
func (u *Uploads) Get(ctx context.Context, p auth.Principal, id string) (metadata.ResumableUpload, error) {
	t, lock, err := u.acquire(ctx, p, id, false, func() {})
	if err != nil {
		return t, err
	}
	defer lock.release()
	ctx = lock.with(ctx)
	switch {
	case t.Done():
		return t, nil
	case t.Refusal.Code != "":
		return t, &errs.Error{Kind: t.Refusal.Kind, Code: t.Refusal.Code, Field: t.Refusal.Field, Message: t.Refusal.Message}
	case t.Received():
		return u.finish(ctx, p, t)
	}
	return u.resetIfTruncated(ctx, t)
}

// Terminate cancels an upload of the caller. A resource that it has created stays. If its file
// cannot be removed now, the expiry removes it later.
func (u *Uploads) Terminate(ctx context.Context, p auth.Principal, id string) error {
	t, lock, err := u.acquire(ctx, p, id, false, func() {})
	if err != nil {
		return err
	}
	defer lock.release()
	_, err = u.remove(lock.with(ctx), t.ID, func(metadata.ResumableUpload) error { return nil })
	return err
}

// acquire acquires the lock of an upload of the caller, which must release it. Its results are on
// stable storage, including the fact that an upload does not exist, because the client may then
// delete its copy of the file.
func (u *Uploads) acquire(ctx context.Context, p auth.Principal, text string, grows bool, stop func()) (metadata.ResumableUpload, *lock, error) {
	id, ok := metadata.ParseID(text)
	if !ok {
		return metadata.ResumableUpload{}, nil, NotFound()
	}
	if _, err := u.read(ctx, p, id, grows); err != nil { // invalid requests must not block others
		return metadata.ResumableUpload{}, nil, err
	}
	lock, err := u.locks.acquire(ctx, id, stop)
	if err != nil {
		return metadata.ResumableUpload{}, nil, err
	}
	t, err := u.read(ctx, p, id, grows)
	if err != nil {
		lock.release()
		return metadata.ResumableUpload{}, nil, err
	}
	return t, lock, nil
}

// read returns an upload of the caller.
func (u *Uploads) read(ctx context.Context, p auth.Principal, id metadata.ID, grows bool) (metadata.ResumableUpload, error) {
	t, err := u.repository.Lookup(ctx, p, id, grows)
	if err == nil && t.Expires <= u.now() {
		err = &errs.Error{Kind: errs.Gone, Code: errs.CodeUploadExpired, Message: "this upload has expired; start a new one"}
	}
	return t, err
}

// NotFound returns the error for an upload that does not exist or has another sender.
func NotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeUploadNotFound, Message: "you have no upload with this id"}
}

func (u *Uploads) now() metadata.Stamp { return metadata.Stamp(u.config.Now().UnixMicro()) }

// after returns the end of a pause that begins now.
func (u *Uploads) after(pause time.Duration) metadata.Stamp {
	return u.now() + metadata.Stamp(pause/time.Microsecond)
}

// save records the progress of an upload, even if the request has ended. before is the state that
// was read.
func (u *Uploads) save(ctx context.Context, before, t metadata.ResumableUpload) error {
	err := u.stores.Update(context.WithoutCancel(ctx), func(tx *metadata.Tx) error {
		if err := u.stillAt(tx, before, t.Checkpoint); err != nil {
			return err
		}
		return tx.Uploads.Put(t)
	})
	switch {
	case err == nil:
		u.deleteFormer(before.Checkpoint, t.Checkpoint, "")
	case !errors.Is(err, metadata.ErrOutcomeUnknown):
		u.deleteFormer(t.Checkpoint, before.Checkpoint, "")
	}
	return err
}

// partial returns the partial file of an upload, for the blob store.
func partial(t metadata.ResumableUpload) blobs.Partial {
	return blobs.Partial{Name: t.PartialName(), Length: t.Length, At: t.Checkpoint}
}

// resetIfTruncated restarts an upload whose partial file is shorter than its row says. Backups
// contain the rows but not these files.
func (u *Uploads) resetIfTruncated(ctx context.Context, t metadata.ResumableUpload) (metadata.ResumableUpload, error) {
	err := u.files.CheckPartial(context.WithoutCancel(ctx), partial(t))
	if !errors.Is(err, blobs.ErrNotFound) {
		return t, u.stores.BlobError(err)
	}
	return u.reset(ctx, t)
}

func (u *Uploads) reset(ctx context.Context, t metadata.ResumableUpload) (metadata.ResumableUpload, error) {
	before := t
	t.Checkpoint, t.Digest, t.Refusal = blobs.Checkpoint{}, blobs.Digest{}, metadata.Refusal{}
	return t, u.save(ctx, before, t)
}

// refusals are the kinds of errors that concern the upload and not the present state of the
// service.
var refusals = []errs.Kind{errs.Invalid, errs.Forbidden, errs.NotFound, errs.Conflict, errs.Gone, errs.Precondition}

// finish creates the resource of a complete upload. It records a refusal, so that later requests
// get the refusal again. A response with the full length would look like success.
func (u *Uploads) finish(ctx context.Context, p auth.Principal, t metadata.ResumableUpload) (metadata.ResumableUpload, error) {
	ctx = context.WithoutCancel(ctx) // everything has arrived: the client may disconnect
	staged, err := u.stage(ctx, t)
	if errors.Is(err, blobs.ErrNotFound) {
		return u.reset(ctx, t)
	}
	if err != nil {
		return t, u.stores.BlobError(err)
	}
	done := t
	done.Checkpoint.Parts = "" // the blob has the parts that are still needed
	err = u.repository.Complete(ctx, p, t, staged, func(tx *metadata.Tx, made metadata.Resource) error {
		if err := u.stillAt(tx, t, t.Checkpoint); err != nil {
			return err
		}
		done.Made, done.Digest, done.Refusal, done.Expires = made.ID, staged.Content().Digest, metadata.Refusal{}, u.after(u.config.Age)
		return tx.Uploads.Put(done)
	})
	if err == nil {
		u.repository.Ended(t.ID)
		u.deleteFormer(t.Checkpoint, done.Checkpoint, staged.Content().Object)
		if u.folder != nil {
			_ = u.folder.RemovePartial(t.PartialName()) // on failure, the expiry removes it
		}
		return done, nil
	}
	var refused *errs.Error
	if errors.As(err, &refused) && slices.Contains(refusals, refused.Kind) {
		before := t
		t.Digest = staged.Content().Digest
		t.Refusal = metadata.Refusal{Kind: refused.Kind, Code: refused.Code, Field: refused.Field, Message: refused.Message}
		err = errors.Join(err, u.save(ctx, before, t))
	}
	return t, err
}

// stage is StagePartial. It first verifies a file that is already committed, since that may be an
// old file of another upload.
func (u *Uploads) stage(ctx context.Context, t metadata.ResumableUpload) (blobs.Staged, error) {
	if err := u.files.CheckPartial(ctx, partial(t)); errors.Is(err, blobs.ErrNotFound) && u.folder != nil {
		wrong, err := storage.Verdict(t.Digest, blobs.Verify(ctx, u.stores.Blobs, blobs.Blob{Digest: t.Digest, Size: t.Checkpoint.Size}))
		if err == nil && wrong != "" {
			err = blobs.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
	}
	return u.files.StagePartial(ctx, partial(t))
}
