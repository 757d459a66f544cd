// Package repository is the domain: dataspaces hold sets, sets hold resources, users have roles in dataspaces. Every rule
// and every permission check is here, once; gateways (package handlers) call its use cases, storage (packages bolt and
// blobs) is behind small contracts.
//
// A use case checks in one order: find (NotFound), authorise (Forbidden), validate (Invalid), then state and conflicts
// (Conflict, Gone, Precondition).
package repository

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/paging"
)

// Config is what an operator decides about the rules.
type Config struct {
	UsersCreateDataspaces bool  // any registered user may create a dataspace; else only sysadmins
	MaxUpload             int64 // bytes of one file; 0: no limit
	PageSize              int   // of a listing of sets, resources or keys, unless the request names a limit
	DirectoryPageSize     int   // of a listing of dataspaces, users or privileges

	Now func() time.Time // the clock for the expiry of keys; nil: the system's
}

// Service is the repository. It is safe for concurrent use.
type Service struct {
	meta   Metadata
	blobs  blobs.Store
	tokens *paging.Codec
	config Config
	steps  *stepper
	seen   *lastUse

	unsynced atomic.Bool // a blob could not be synced: no more writes until the disk has been looked at
}

// New opens the repository over its stores and goes on with the deletions and restorations that were under way. The caller
// closes the Service, then the stores.
func New(meta Metadata, store blobs.Store, config Config) *Service {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{
		meta: meta, blobs: store, config: config,
		tokens: paging.NewCodec(meta.Secret()),
		steps:  startStepper(meta),
		seen:   startLastUse(meta),
	}
}

// Close stops what runs in the background. What is left of a deletion or restoration goes on at the next start.
func (s *Service) Close() {
	s.steps.close()
	s.seen.close()
}

func (s *Service) now() Stamp { return Stamp(s.config.Now().UnixMicro()) }

// Health tells how the stores are.
func (s *Service) Health() Health {
	h := s.meta.Health()
	if h.ReadOnly == nil && s.unsynced.Load() {
		h.ReadOnly = blobs.ErrUnsynced
	}
	return h
}

// Ready returns an error if the metadata cannot even be read.
func (s *Service) Ready(ctx context.Context) error {
	return storageError(s.meta.View(ctx, func(*Tx) error { return nil }))
}

// view runs fn in a read transaction with the caller as he is now.
func (s *Service) view(ctx context.Context, p auth.Principal, fn func(tx *Tx, p auth.Principal) error) error {
	return storageError(s.meta.View(ctx, s.asCaller(p, fn)))
}

// viewPage is view for a page of a listing.
func (s *Service) viewPage(ctx context.Context, p auth.Principal, fn func(tx *Tx, p auth.Principal) error) error {
	return storageError(s.meta.ViewDurable(ctx, s.asCaller(p, fn)))
}

// update runs fn in a write transaction with the caller as he is now.
func (s *Service) update(ctx context.Context, p auth.Principal, fn func(tx *Tx, p auth.Principal) error) error {
	if s.unsynced.Load() {
		return storageError(ErrReadOnly)
	}
	return storageError(s.meta.Update(ctx, s.asCaller(p, fn)))
}

// blobError is storageError for what the blob store reports. A sync that failed is never tried again: the kernel may have
// dropped what it could not write, and would not tell.
func (s *Service) blobError(err error) error {
	if errors.Is(err, blobs.ErrUnsynced) {
		s.unsynced.Store(true)
	}
	return storageError(err)
}

// asCaller reads the caller and his key again inside the transaction: a long upload must not end with rights lost meanwhile.
func (s *Service) asCaller(p auth.Principal, fn func(*Tx, auth.Principal) error) func(*Tx) error {
	return func(tx *Tx) error {
		user, err := tx.Users.Get(p.UserID)
		if err == nil && user.State != Active {
			err = ErrNotFound
		}
		if err == nil && p.KeyID != (ID{}) {
			var key Key
			if key, err = tx.Keys.Get(p.UserID, p.KeyID); err == nil && key.StateAt(s.now()) != KeyActive {
				err = ErrNotFound
			}
		}
		switch {
		case errors.Is(err, ErrNotFound):
			return unauthenticated()
		case err != nil:
			return err
		}
		p.Sysadmin = user.Sysadmin
		return fn(tx, p)
	}
}

// storageErrors says what a store's report means to a caller.
var storageErrors = []struct {
	sentinel error
	as       Error
}{
	{ErrNoSpace, Error{Kind: NoSpace, Code: CodeNoSpace, Message: "no space is left; nothing was changed"}},
	{blobs.ErrNoSpace, Error{Kind: NoSpace, Code: CodeNoSpace, Message: "no space is left; nothing was changed"}},
	{blobs.ErrUnsynced, Error{Kind: Internal, Code: CodeReadOnly, Message: "the file could not be brought to stable storage; nothing was changed"}},
	{ErrOutcomeUnknown, Error{Kind: Internal, Code: CodeOutcomeUnknown,
		Message: "an I/O error came in the middle of the change; it may or may not be there after a restart of the service"}},
	{ErrReadOnly, Error{Kind: Unavailable, Code: CodeReadOnly, Message: "the service takes no changes since an I/O error"}},
	{ErrNotDurable, Error{Kind: Unavailable, Code: CodeReadOnly, Message: "what this page would show has not reached the disk"}},
	{ErrClosed, Error{Kind: Unavailable, Code: CodeUnavailable, Message: "the service is shutting down"}},
	{context.Canceled, Error{Kind: Unavailable, Code: CodeUnavailable, Message: "the request was given up"}},
	{context.DeadlineExceeded, Error{Kind: Unavailable, Code: CodeUnavailable, Message: "the request took too long"}},
	{blobs.ErrTooLarge, Error{Kind: TooLarge, Code: CodeTooLarge, Field: "file", Message: "the file is larger than this service accepts"}},
	{ErrRecordDamaged, Error{Kind: Internal, Code: CodeDataDamaged, Message: "a stored record is damaged"}},
}

// storageError turns whatever a use case met into an *Error.
func storageError(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	for _, e := range storageErrors {
		if errors.Is(err, e.sentinel) {
			as := e.as
			as.Err = err
			return &as
		}
	}
	return &Error{Kind: Internal, Code: CodeInternal, Message: "the service failed to do this; its log says why", Err: err}
}
