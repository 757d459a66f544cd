package repository

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// stores are the two stores, with what this process knows of them beyond what they hold. A Service and those who look after
// its stores share one.
type stores struct {
	meta  metadata.Store
	blobs blobs.Store

	unsynced atomic.Pointer[error] // a blob could not be synced: no more writes until the disk has been looked at
	purging  sync.Mutex            // held by the one purge that runs
	opinions opinions
	troubles troubles
	watch    Watch
}

// newStores takes the function that hears of what goes wrong in the background; nil: nobody does.
func newStores(meta metadata.Store, files blobs.Store, note func(task string, err error)) *stores {
	s := &stores{meta: meta, blobs: files, opinions: newOpinions(), troubles: troubles{failing: map[string]string{}, note: note}}
	if note == nil {
		s.troubles.note = func(string, error) {}
	}
	return s
}

// read runs fn in a read transaction.
func (s *stores) read(ctx context.Context, fn func(*metadata.Tx) error) error {
	return storageError(s.meta.View(ctx, fn))
}

// write runs fn in a write transaction.
func (s *stores) write(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.unsynced.Load() != nil {
		return storageError(metadata.ErrReadOnly)
	}
	return storageError(s.meta.Update(ctx, fn))
}

// writeBehind is write for work in the background, which gives way to requests.
func (s *stores) writeBehind(ctx context.Context, fn func(*metadata.Tx) error) error {
	if s.unsynced.Load() != nil {
		return storageError(metadata.ErrReadOnly)
	}
	return storageError(s.meta.UpdateBehind(ctx, fn))
}

// blobError is storageError for what the blob store reports. A sync that failed is never tried again: the kernel may have
// dropped what it could not write, and would not tell.
func (s *stores) blobError(err error) error {
	if err != nil && errors.Is(err, blobs.ErrUnsynced) {
		unsynced := err // or it would be on the heap also where there is none
		s.unsynced.CompareAndSwap(nil, &unsynced)
	}
	return storageError(err)
}

// storageErrors says what a store's report means to a caller. The first that fits counts: what is sticky stands before what
// caused it.
var storageErrors = []struct {
	sentinel error
	as       errs.Error
}{
	{blobs.ErrUnsynced, errs.Error{Kind: errs.Internal, Code: errs.CodeReadOnly, Message: "the file could not be brought to stable storage; nothing was changed"}},
	{metadata.ErrOutcomeUnknown, errs.Error{Kind: errs.Internal, Code: errs.CodeOutcomeUnknown,
		Message: "an I/O error came in the middle of the change; it may or may not be there after a restart of the service"}},
	{metadata.ErrNoSpace, errs.Error{Kind: errs.NoSpace, Code: errs.CodeNoSpace, Message: "no space is left; nothing was changed"}},
	{blobs.ErrNoSpace, errs.Error{Kind: errs.NoSpace, Code: errs.CodeNoSpace, Message: "no space is left; nothing was changed"}},
	{metadata.ErrReadOnly, errs.Error{Kind: errs.Unavailable, Code: errs.CodeReadOnly, Message: "the service takes no changes since an I/O error"}},
	{metadata.ErrNotDurable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeReadOnly, Message: "what this would show has not reached the disk"}},
	{metadata.ErrUnwritable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "nothing can be written at this time; nothing was changed"}},
	{blobs.ErrUnavailable, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "files cannot be read or written at this time; nothing was changed"}},
	{metadata.ErrClosed, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the service is shutting down"}},
	{context.Canceled, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the request was given up"}},
	{context.DeadlineExceeded, errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "the request took too long"}},
	{blobs.ErrTooLarge, errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: "file", Message: "the file is larger than this service accepts"}},
	{metadata.ErrRecordDamaged, errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "a stored record is damaged"}},
}

// storageError turns whatever a use case met into an *Error.
func storageError(err error) error {
	if err == nil {
		return nil
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return err
	}
	for _, e := range storageErrors {
		if errors.Is(err, e.sentinel) {
			as := e.as
			as.Err = err
			return &as
		}
	}
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeInternal, Message: "the service failed to do this; its log says why", Err: err}
}
