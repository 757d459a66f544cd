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

// Repository is what uploads need of the repository to which they belong.
type Repository interface {
	// Lookup returns an upload of the caller, which is NotFound where another one has begun it. It
	// returns when what it says is on stable storage. grows tells that more of the file is about to
	// come.
	Lookup(ctx context.Context, p auth.Principal, id metadata.ID, grows bool) (metadata.ResumableUpload, error)
	// Update runs fn in a write transaction with the caller as it is now.
	Update(ctx context.Context, p auth.Principal, fn func(*metadata.Tx, auth.Principal) error) error
	// Complete makes the resource of an upload from its staged file, and runs with in the
	// transaction that does.
	Complete(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) error
	// Ended says that an upload has made its resource, or is no more.
	Ended(id metadata.ID)
	// Receive says that a client sends more of an upload. It returns the body, which ends with a
	// refusal if there is no more room for it. The caller calls done at the end, with the size
	// that is kept.
	Receive(ctx context.Context, t metadata.ResumableUpload, body io.Reader) (reserving io.Reader, done func(size int64))
}

// Config is what an operator decides about uploads.
type Config struct {
	Age time.Duration    // for which an upload may pause, and what became of it is remembered
	Now func() time.Time // the clock by which they expire

	// Abandoned tells whether an upload can never become a resource, so that its file need not be
	// kept; nil: none is.
	Abandoned func(*metadata.Tx, metadata.ResumableUpload) (bool, error)
}

// Uploads are the resumable uploads of a repository. It is safe for concurrent use: requests for
// one upload take turns.
type Uploads struct {
	stores     *storage.Stores
	files      blobs.PartialFiles
	folder     blobs.PartialRemover // of files that are named; nil: they are objects that their rows name
	repository Repository
	config     Config
	locks      *locks
	checkpoint int64 // bytes between two
	pause      time.Duration
	expiry     *background.Worker
}

// Start begins to remove what expires. files are those of the blob store in stores. The caller ends
// it with Close, before it closes the stores.
func Start(stores *storage.Stores, files blobs.PartialFiles, repository Repository, c Config) *Uploads {
	folder, _ := files.(blobs.PartialRemover)
	u := &Uploads{stores: stores, files: files, folder: folder, repository: repository, config: c, locks: newLocks(stores.Node), checkpoint: checkpointBytes, pause: c.Age}
	u.expiry = stores.Node.Work(background.After(expiryEvery), func(ctx context.Context) background.Next {
		u.stores.Background.Report(background.TaskExpiry, u.expire(ctx))
		return background.After(expiryEvery)
	})
	return u
}

// For returns the same uploads for callers whom another repository knows. One of theirs expires
// after a pause of that length, if Config.Age is not shorter.
func (u *Uploads) For(r Repository, pause time.Duration) *Uploads {
	theirs := *u
	theirs.repository, theirs.pause = r, min(pause, u.pause)
	return &theirs
}

// Tidy soon removes, in the background, what has expired or is abandoned.
func (u *Uploads) Tidy() { u.expiry.Wake() }

// Close ends what runs in the background. Requests under way go on.
func (u *Uploads) Close() { u.expiry.Close() }

// Create begins an upload of the caller. Admit completes t, which has its id, in the transaction
// that stores it, or refuses it. An empty file is complete with that: an upload that comes with an
// error has begun, and its file is not taken.
func (u *Uploads) Create(ctx context.Context, p auth.Principal, t metadata.ResumableUpload, admit func(*metadata.Tx, auth.Principal, *metadata.ResumableUpload) error) (metadata.ResumableUpload, error) {
	if t.Length == 0 { // as the last chunk of any other file does
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

// Get returns an upload of the caller as it is between two requests. One that is complete and was
// not refused, since the service ended just then for instance, becomes a resource now; one that was
// refused gives its refusal.
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

// Terminate gives up an upload of the caller. A resource that it has made stays. A file that cannot
// be removed now is removed with what expires.
func (u *Uploads) Terminate(ctx context.Context, p auth.Principal, id string) error {
	t, lock, err := u.acquire(ctx, p, id, false, func() {})
	if err != nil {
		return err
	}
	defer lock.release()
	_, err = u.remove(lock.with(ctx), t.ID, func(metadata.ResumableUpload) error { return nil })
	return err
}

// acquire takes the lock of an upload of the caller, which the caller of this releases. What it
// returns is on stable storage, also that there is no such upload: a client may forget its copy of
// the file.
func (u *Uploads) acquire(ctx context.Context, p auth.Principal, text string, grows bool, stop func()) (metadata.ResumableUpload, *lock, error) {
	id, ok := metadata.ParseID(text)
	if !ok {
		return metadata.ResumableUpload{}, nil, NotFound()
	}
	if _, err := u.read(ctx, p, id, grows); err != nil { // before strangers make others wait
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
		err = &errs.Error{Kind: errs.Gone, Code: errs.CodeUploadExpired, Message: "this upload has expired; begin it anew"}
	}
	return t, err
}

// NotFound returns the error of an upload that is not there, or another sender's.
func NotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeUploadNotFound, Message: "there is no such upload of yours"}
}

func (u *Uploads) now() metadata.Stamp { return metadata.Stamp(u.config.Now().UnixMicro()) }

// after is the time that a pause from now on ends.
func (u *Uploads) after(pause time.Duration) metadata.Stamp {
	return u.now() + metadata.Stamp(pause/time.Microsecond)
}

// save writes down how far an upload has come, whatever has become of the caller that sent it.
// before is what it was when it was read.
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

// partial is what has come of an upload, as the blob store knows it.
func partial(t metadata.ResumableUpload) blobs.Partial {
	return blobs.Partial{Name: t.PartialName(), Length: t.Length, At: t.Checkpoint}
}

// resetIfTruncated begins an upload anew whose partial file is shorter than its row says: a backup
// holds the rows, and not these files.
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

// refusals are the kinds of errors that say something about the upload, and not about the service
// at this time.
var refusals = []errs.Kind{errs.Invalid, errs.Forbidden, errs.NotFound, errs.Conflict, errs.Gone, errs.Precondition}

// finish makes the resource of an upload that is complete. A refusal is written down, so that a
// request for the upload gets it again, and not that all of it is there, which a client would take
// for success.
func (u *Uploads) finish(ctx context.Context, p auth.Principal, t metadata.ResumableUpload) (metadata.ResumableUpload, error) {
	ctx = context.WithoutCancel(ctx) // all has come: whether the client still listens does not matter
	staged, err := u.stage(ctx, t)
	if errors.Is(err, blobs.ErrNotFound) {
		return u.reset(ctx, t)
	}
	if err != nil {
		return t, u.stores.BlobError(err)
	}
	done := t
	done.Checkpoint.Parts = "" // the blob has what is still needed of them
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
			_ = u.folder.RemovePartial(t.PartialName()) // or the expiry does
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

// stage is StagePartial. A file that is committed already is read first: it may be another
// upload's, and be there for long.
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
