package blobs

import (
	"context"
	"io"
	"time"
)

// Folder is a store whose blobs are named by their digests alone, as in [Dir]: an upload of the same bytes replaces the blob, pins keep
// removals away from uploads, and one process has it.
type Folder interface {
	Store
	Walker
	Remover
	Trash
	PartialRemover
}

// Walker finds the blobs that are there.
type Walker interface {
	// Walk calls fn with digest and size of each blob in ascending order of digests. It stops at the first error of
	// fn and returns it unchanged, or at the end of ctx. A blob committed or removed during the walk may be seen or
	// not. fn may call the store.
	Walk(ctx context.Context, fn func(digest Digest, size int64) error) error
}

// Remover removes blobs.
type Remover interface {
	// Remove takes the blob out of the store, and returns when its absence is on stable storage.
	//
	// While no pin of the digest can be taken, confirm is called first (nil: nothing is asked). It is the place to make sure
	// once more that no record refers to the blob, and to forget what is recorded of it; it must not pin or remove
	// the same digest. Where it returns an error the blob is untouched, and Remove returns that very error.
	//
	// Errors: ErrPinned while there is a pin, and then confirm was not called and the blob is untouched; ErrNotFound,
	// and then confirm has succeeded all the same. Where the system cannot remove an open file, Remove fails
	// while there is a reader.
	Remove(digest Digest, confirm func() error) error
}

// Inspector is what stores offer to a check of their own files.
type Inspector interface {
	// Unexpected calls fn with the path of whatever lies among the blobs and is none, or could be read or changed by others, and
	// why it is wrong. It looks at no content. The order is that of paths. It stops at the first error of fn and returns
	// it unchanged, or at the end of ctx.
	Unexpected(ctx context.Context, fn func(path, why string) error) error
}

// Trash has the blobs that were removed.
type Trash interface {
	// OpenTrashed opens a removed blob for reading from its start and returns its size in bytes; the caller closes it.
	// ErrNotFound: it was never there or is gone for good; ErrDamaged: what lies there is no regular file.
	OpenTrashed(digest Digest) (io.ReadSeekCloser, int64, error)

	// WalkTrash calls fn with digest, size in bytes and time of removal of each removed blob in ascending order of
	// digests. It stops at the first error of fn and returns it unchanged, or at the end of ctx.
	WalkTrash(ctx context.Context, fn func(digest Digest, size int64, removed time.Time) error) error

	// EmptyTrash deletes for good what was removed before a time, and returns when that is on stable storage. The
	// numbers tell what was deleted, also where it ends early with an error.
	EmptyTrash(ctx context.Context, before time.Time) (files int, bytes int64, err error)

	// DeleteTrashed deletes one removed blob for good, and returns when that is on stable storage. That there is none is no error.
	DeleteTrashed(digest Digest) error
}
