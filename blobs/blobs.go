package blobs

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// HeadSize is the number of bytes in the Head of a [Content].
const HeadSize = 3072

var (
	// ErrNotFound is returned by Open, Stat and Remove if the store does not have the blob.
	ErrNotFound = errors.New("blob not found")
	// ErrDamaged is returned by Open and Stat if the data stored under the digest cannot be its
	// blob: they are not a regular file, or their size differs from the caller's. Only Verify
	// detects changed content.
	ErrDamaged = errors.New("blob damaged")
	// ErrTooLarge is returned by Stage when the body is longer than the limit.
	ErrTooLarge = errors.New("body larger than the limit")
	// ErrNoSpace is returned, with the cause, by every write if the disk or a quota is full. Unless
	// the error is also ErrUnsynced, the operation has been undone. Reading still works.
	ErrNoSpace = errors.New("no space left to store the blob")
	// ErrUnavailable is returned, with the cause, by every operation if the file system is
	// read-only or no more files can be opened. Unless the error is also ErrUnsynced, no blob was
	// lost or changed, and a later attempt may succeed.
	ErrUnavailable = errors.New("storage unavailable for now")
	// ErrPinned is returned by Remove and Withdraw while the digest is pinned.
	ErrPinned = errors.New("blob pinned")
	// ErrUnsynced is returned, with the cause, after a failed sync (but not if a full disk was the
	// cause and the file has been removed). The kernel may have dropped data that it could not
	// write, and a later sync would not report that: the caller should accept no more writes until
	// the disk has been checked.
	ErrUnsynced = errors.New("storage could not be synced")
)

// Blob identifies one blob.
type Blob struct {
	Digest Digest // SHA-256 of its bytes
	Size   int64  // in bytes
	Object string // name of the object with the bytes, in a store that is [Objects]; "" in a [Folder], where the digest is the name
}

// Store stores blobs. All methods may be called concurrently, except the methods of [PartialFiles]
// with the same name. It is composed of roles; a use case takes the roles that it needs. Every
// store is also a [Folder] or [Objects], which define how bytes are removed.
type Store interface {
	Reader
	Writer
	PartialFiles
}

// Reader reads blobs.
type Reader interface {
	// Open returns the blob for reading from its start. The caller closes it, and keeps ctx alive
	// until then. Errors: ErrNotFound; ErrDamaged if the size differs. The content is not hashed. A
	// concurrent Remove in a Folder does not affect the reader; after a concurrent deletion of an
	// object, reads fail with ErrNotFound.
	Open(ctx context.Context, b Blob) (io.ReadSeekCloser, error)

	// Stat returns the size of the blob in bytes; it ignores the size in b. Errors: ErrNotFound,
	// ErrDamaged.
	Stat(ctx context.Context, b Blob) (int64, error)
}

// Writer adds blobs, and protects them until they are recorded.
type Writer interface {
	// Stage reads r once, to its end, and writes the body to stable storage without making it
	// visible. [WithLength] announces the length.
	//
	// limit is the greatest accepted size, in bytes; 0 means no limit, and a negative limit rejects
	// every body. At most one byte beyond it is read. A longer body returns ErrTooLarge, a full
	// disk ErrNoSpace. An error of r is wrapped, so that errors.Is and errors.As find it. ctx is
	// checked before each Read of r; it does not interrupt one. After any error the body is
	// removed, or is an unreferenced object.
	//
	// The caller ends the life of the result by a successful Commit or by Discard.
	Stage(ctx context.Context, r io.Reader, limit int64) (Staged, error)

	// CommitAll makes each body a blob, and returns when all of them are on stable storage, with
	// one Content for each, without Head, in order. It requests the next body when the previous one
	// is written, except for the sync of its folder; it does not change or keep the bodies. The
	// same body may occur several times.
	//
	// After an error none of the blobs may be acknowledged, though some may be visible. Unless it
	// is ErrUnsynced, the same bodies may be committed again.
	CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]Content, error)

	// Pin prevents removal of the digest, whether or not the blob exists yet, until release is
	// called. Pins are counted; a second call of release does nothing. Pin waits for a running
	// Remove of the digest, so that the state that the caller sees afterwards does not change. Pins
	// exist in memory only. In a store that is Objects it does nothing: names are never reused
	// there, so no removal can affect a new upload.
	Pin(digest Digest) (release func())
}

// Staged is a body on stable storage that is not visible yet. Its methods must not be called
// concurrently.
type Staged interface {
	// Content describes the body. Put is zero before Commit.
	Content() Content

	// Commit makes the body a blob, and returns the data for its record when the blob is on stable
	// storage. In a Folder it replaces a blob with the same digest, and a call after success does
	// nothing. In Objects it checks that the object exists and is complete, and returns when it has
	// seen the object; each call checks again.
	//
	// After an error the blob must not be acknowledged, though it may be visible. It is not
	// removed, since another upload of the same body may rely on it. After ErrUnsynced, calling
	// Commit again returns the same error. After any other error Commit may be tried again. After
	// Discard it fails with fs.ErrClosed.
	Commit(ctx context.Context) (Content, error)

	// Discard removes the body. It does nothing after a Commit that made the body visible or after
	// another Discard. After an error it may be called again.
	Discard() error

	// Withdraw is like Discard for a committed body that is not needed: it deletes the blob
	// permanently. It fails if the digest is pinned (ErrPinned), or with the unchanged error of
	// confirm, which runs while no pin can be taken. The caller has released its own pin. An error,
	// or a power failure, leaves an unreferenced blob.
	Withdraw(confirm func() error) error
}

// Content describes a body.
type Content struct {
	Blob
	Head []byte // the first bytes, at most HeadSize, for detecting the type; must not be changed

	Begun time.Time // by the store's Clock, the time when the object's name was created; zero in a Folder
	Put   time.Time // by the store's Clock, the time when Commit last saw the object; zero in a Folder
}

// Folder is a store whose blobs are identified by their digests alone, as in a directory: an upload
// of the same bytes replaces the blob, pins protect uploads from removals, and one process uses it.
type Folder interface {
	Store
	Walker
	Remover
	Trash
	PartialRemover
}

// Walker lists the existing blobs.
type Walker interface {
	// Walk calls fn with digest and size of each blob in ascending order of digests. It stops at
	// the first error of fn and returns it unchanged, or at the end of ctx. A blob that is
	// committed or removed during the walk may be included or not. fn may call the store.
	Walk(ctx context.Context, fn func(digest Digest, size int64) error) error
}

// Remover removes blobs.
type Remover interface {
	// Remove removes the blob from the store, and returns when its absence is on stable storage.
	//
	// It first calls confirm, if it is not nil, while no pin of the digest can be taken. confirm
	// checks again that no record refers to the blob, and removes the blob's rows; it must not pin
	// or remove the same digest. If it returns an error, the blob is unchanged, and Remove returns
	// that error itself.
	//
	// Errors: ErrPinned while the digest is pinned; confirm was not called and the blob is
	// unchanged. ErrNotFound; confirm has succeeded nevertheless. If the system cannot remove an
	// open file, Remove fails while the blob is being read.
	Remove(digest Digest, confirm func() error) error
}

// Inspector is implemented by stores that can check their own files.
type Inspector interface {
	// Unexpected calls fn with the path of every entry among the blobs that is not a blob, or that
	// other users could read or change, and the reason. It does not read contents. The order is by
	// path. It stops at the first error of fn and returns it unchanged, or at the end of ctx.
	Unexpected(ctx context.Context, fn func(path, why string) error) error
}

// Trash contains removed blobs.
type Trash interface {
	// OpenTrashed opens a removed blob for reading from its start and returns its size in bytes;
	// the caller closes it. ErrNotFound: the blob was never there or has been deleted; ErrDamaged:
	// the entry is not a regular file.
	OpenTrashed(digest Digest) (io.ReadSeekCloser, int64, error)

	// WalkTrash calls fn with digest, size in bytes and time of removal of each removed blob in
	// ascending order of digests. It stops at the first error of fn and returns it unchanged, or at
	// the end of ctx.
	WalkTrash(ctx context.Context, fn func(digest Digest, size int64, removed time.Time) error) error

	// EmptyTrash deletes the blobs that were removed before a time, and returns when the deletion
	// is on stable storage. The numbers count deleted blobs, also after an error.
	EmptyTrash(ctx context.Context, before time.Time) (files int, bytes int64, err error)

	// DeleteTrashed deletes one removed blob, if it exists, and returns when the deletion is on
	// stable storage.
	DeleteTrashed(digest Digest) error
}

// Objects is implemented by stores whose blobs are objects under names that are never used again,
// so that several processes can share a store: the record of a blob refers to its object, and
// another upload of the same bytes makes another object.
//
// Callers follow these rules, by the times of one [Clock]. A record may begin to refer to an object
// at most an hour after its Put, and less than a day after its Begun, unless another record already
// does. An object is deleted only after the commit that removed the last reference. An unreferenced
// object is deleted only if it was begun more than a day ago.
type Objects interface {
	// WalkObjects calls fn with each object and each unfinished multipart upload, referenced or
	// not; ascending by name, objects before uploads. It stops at the first error of fn and returns
	// it unchanged, or at the end of ctx. It skips objects whose names the store cannot have
	// created. An object that is created or deleted during the walk may be included or not. fn may
	// call the store.
	WalkObjects(ctx context.Context, fn func(Object) error) error

	// DeleteObject deletes the object, if it exists, and aborts its multipart upload if o names
	// one.
	DeleteObject(ctx context.Context, o Object) error

	// PartialObjects returns the objects that the checkpoint of a partial file refers to, without
	// calling the store: they are needed as long as a record has this checkpoint. ErrDamaged: Parts
	// cannot be parsed.
	PartialObjects(at Checkpoint) ([]Object, error)
}

// Object is one object in a store.
type Object struct {
	Name   string    // as in Blob.Object
	Upload string    // id of an unfinished multipart upload; "": an object
	Size   int64     // in bytes; 0 if unknown
	Begun  time.Time // time when its name was created
}

// Presigner is implemented by stores from which clients can download blobs directly.
type Presigner interface {
	// Presign returns an address from which anybody can GET the blob, for the time in the
	// attachment. It does not check that the blob exists.
	Presign(ctx context.Context, b Blob, a Attachment) (string, error)
}

// Attachment describes how a presigned blob is sent.
type Attachment struct {
	Filename  string
	MediaType string
	Valid     time.Duration // at most a minute
}

// Clock returns the time by which objects are dated. All processes that share a store use the same
// clock, which is never behind a stamp of the metadata.
type Clock func(ctx context.Context) (time.Time, error)

// FreeSpace is the space that a file system has left for new files of this process.
type FreeSpace struct {
	Bytes int64
	Files int64 // inodes; -1: the file system has no fixed number of them
}

// WithLength returns r and announces to a store that it has n bytes; see [LengthOf]. A store that
// sends the length before the bytes may fail with io.ErrUnexpectedEOF if r has another length.
func WithLength(r io.Reader, n int64) io.Reader { return announced{r, n} }

// LengthOf returns the length announced by WithLength. ok is false without an announcement.
func LengthOf(r io.Reader) (n int64, ok bool) {
	a, ok := r.(announced)
	return a.length, ok
}

type announced struct {
	io.Reader
	length int64
}
