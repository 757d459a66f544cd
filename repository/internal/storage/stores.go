// Package storage combines the metadata store and the blob store of a repository with the state
// that only this process knows. It maps their errors to errors for clients.
package storage

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/rows"
)

// Stores holds the two stores. A repository and all its parts share one Stores, which is safe for
// concurrent use.
type Stores struct {
	Meta    metadata.Store
	Blobs   blobs.Reader
	Objects blobs.Objects // Blobs, if rows name the objects of blobs; otherwise nil

	Node *nodes.Node // nil if the metadata are not shared, and outside a service

	VerifyReads   int64 // greatest size in bytes of a blob that Open verifies; 0 for none
	Verifications Verifications
	Background    *background.Errors

	failed atomic.Pointer[error] // failed sync of a blob: no writes until a restart
}

// New combines two stores. If note is not nil, it is called for each failure in the background.
func New(meta metadata.Store, files blobs.Reader, note func(task string, err error)) *Stores {
	objects, _ := files.(blobs.Objects)
	return &Stores{Meta: meta, Blobs: files, Objects: objects, Verifications: newVerifications(), Background: background.NewErrors(note)}
}

// View runs fn in a read transaction.
func (s *Stores) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return Error(s.Meta.View(ctx, fn))
}

// Update runs fn in a write transaction, which first verifies the leases in ctx.
func (s *Stores) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.Unsynced() != nil {
		return Error(metadata.ErrReadOnly)
	}
	return Error(committed(ctx, s.Meta.Update(ctx, nodes.Verified(ctx, fn))))
}

// UpdateBackground is like Update for background work, which yields to requests.
func (s *Stores) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.Unsynced() != nil {
		return Error(metadata.ErrReadOnly)
	}
	return Error(committed(ctx, s.Meta.UpdateBackground(ctx, nodes.Verified(ctx, fn))))
}

// Open opens a blob for a reader. A blob of at most VerifyReads bytes is verified while it is read:
// see [blobs.Verified]. It returns the errors of [blobs.Reader].
func (s *Stores) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	file, err := s.Blobs.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	return s.Verifying(file, b), nil
}

// Verifying returns an open blob that is verified while it is read, unless the blob has more than
// VerifyReads bytes.
func (s *Stores) Verifying(file io.ReadSeekCloser, b blobs.Blob) io.ReadSeekCloser {
	if b.Size > s.VerifyReads {
		return file
	}
	return blobs.NewVerified(file, b)
}

// Unsynced returns the first failure to sync a blob, after which nothing is written, or nil.
func (s *Stores) Unsynced() error {
	if cause := s.failed.Load(); cause != nil {
		return *cause
	}
	return nil
}

// BlobError is like Error for the errors of the blob store. A failed sync is never tried again,
// because the kernel may have dropped the unwritten data without reporting it again.
func (s *Stores) BlobError(err error) error {
	if err != nil && errors.Is(err, blobs.ErrUnsynced) {
		unsynced := err // without this variable, err would escape to the heap in every call
		s.failed.CompareAndSwap(nil, &unsynced)
	}
	return Error(err)
}

// unchanged ends the message of an error that has changed nothing.
const unchanged = "; nothing was changed"

// meanings maps the errors of the stores to errors for clients. The first match counts, so
// persistent errors precede the errors that caused them.
var meanings = []struct {
	sentinel error
	as       errs.Error
}{
	{blobs.ErrUnsynced, errs.Error{Kind: errs.Internal, Code: errs.CodeReadOnly, Message: "the file could not be brought to stable storage" + unchanged}},
	{metadata.ErrOutcomeUnknown, errs.Error{Kind: errs.Internal, Code: errs.CodeOutcomeUnknown,
		Message: "the connection to the disk or the database broke during the change, so it may or may not have taken effect"}},
	{metadata.ErrNoSpace, errs.Error{Kind: errs.NoSpace, Code: errs.CodeNoSpace, Message: "no space is left" + unchanged}},
	{blobs.ErrNoSpace, errs.Error{Kind: errs.NoSpace, Code: errs.CodeNoSpace, Message: "no space is left" + unchanged}},
	{metadata.ErrReadOnly, errs.Error{Kind: errs.Unavailable, Code: errs.CodeReadOnly, Message: "the service accepts no changes after an I/O error"}},
	{metadata.ErrNotDurable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeReadOnly, Message: "the latest data has not reached the disk"}},
	{metadata.ErrUnwritable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "nothing can be written at this time" + unchanged}},
	{metadata.ErrUnavailable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the database does not answer at this time" + unchanged}},
	{blobs.ErrUnavailable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "files cannot be read or written at this time" + unchanged}},
	{metadata.ErrTooNew, errs.Error{Kind: errs.Unavailable, Code: errs.CodeNewerSchema,
		Message: "another node has upgraded the metadata to a version that this node does not support; install that version of the program on this node, too"}},
	{background.ErrLost, errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another node has taken this over" + unchanged}},
	{metadata.ErrClosed, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the service is shutting down"}},
	{context.Canceled, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the request was canceled"}},
	{context.DeadlineExceeded, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the request took too long"}},
	{blobs.ErrTooLarge, errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: "file", Message: "the file is larger than this service accepts"}},
	{metadata.ErrRecordDamaged, errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "a stored record is damaged"}},
}

// Error converts any error of a use case to an *errs.Error.
func Error(err error) error {
	if err == nil {
		return nil
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return err
	}
	for _, e := range meanings {
		if errors.Is(err, e.sentinel) {
			as := e.as
			as.Err = err
			return &as
		}
	}
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeInternal, Message: "the request failed because of an error in the service; its log has the reason", Err: err}
}

// Orphaned is rows.Orphaned or, with objects, rows.Unnamed. It waits until the state that it has
// read is on stable storage, so that a power failure cannot restore a row whose file is deleted.
func (s *Stores) Orphaned(ctx context.Context, b blobs.Blob) error {
	return s.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		if s.Objects != nil {
			return rows.Unnamed(tx, b.Object)
		}
		return rows.Orphaned(tx, b.Digest)
	})
}

// Blob is BlobOf outside of a transaction.
func (s *Stores) Blob(ctx context.Context, r metadata.Resource) (b blobs.Blob, err error) {
	if s.Objects == nil {
		return blobs.Blob{Digest: r.Digest, Size: r.Bytes}, nil
	}
	err = s.View(ctx, func(tx *metadata.Tx) error {
		b, err = s.BlobOf(tx, r)
		return err
	})
	return b, err
}

// BlobOf returns the blob of a resource. Open it outside the transaction. If rows name objects, the
// blob has the object of its row, or no object without a row.
func (s *Stores) BlobOf(tx *metadata.Tx, r metadata.Resource) (blobs.Blob, error) {
	b := blobs.Blob{Digest: r.Digest, Size: r.Bytes}
	if s.Objects == nil {
		return b, nil
	}
	row, err := tx.Blobs.Get(r.Digest)
	b.Object = row.Object
	return b, errs.Ignore(err, metadata.ErrNotFound)
}
