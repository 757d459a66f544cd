package blobs

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// HeadSize is the number of bytes that [Content] has of a longer body.
const HeadSize = 3072

var (
	// ErrNotFound is returned by Open, Stat and Remove when the store does not hold that blob.
	ErrNotFound = errors.New("blob not found")
	// ErrDamaged is returned by Open and Stat when something is stored under the digest that cannot
	// be its blob: it is no regular file, or it has another size than the caller expects. Verify
	// adds what only reading shows.
	ErrDamaged = errors.New("blob damaged")
	// ErrTooLarge is returned by Stage when the body is longer than the limit.
	ErrTooLarge = errors.New("body larger than the limit")
	// ErrNoSpace is returned, together with the cause, by whatever writes when the disk or a quota
	// is full. Unless the error is ErrUnsynced too, what was begun has been undone. Reading goes on
	// working.
	ErrNoSpace = errors.New("no space left to store the blob")
	// ErrUnavailable is returned, together with the cause, by whatever reads or writes when the
	// file system is read-only or no more files can be opened. Unless the error is ErrUnsynced too,
	// no blob was lost or changed, and trying again later may help.
	ErrUnavailable = errors.New("storage unavailable for now")
	// ErrPinned is returned by Remove and Withdraw while there is a pin on the digest.
	ErrPinned = errors.New("blob pinned")
	// ErrUnsynced is returned, together with the cause, when a sync failed (but not when a full
	// disk was the cause and the file has been removed). The kernel may have dropped what it could
	// not write, and a later sync would not tell: the caller should accept no more writes until the
	// disk has been looked at.
	ErrUnsynced = errors.New("storage could not be synced")
)

// Blob names one blob.
type Blob struct {
	Digest Digest // SHA-256 of all of it
	Size   int64  // in bytes
	Object string // name of the object that has the bytes, in a store that is [Objects]; "" in a [Folder], where the digest is the name
}

// Store holds blobs. All methods may be called from several goroutines at once, but for those of
// [PartialFiles] with the same name. It is composed of roles; a use case asks for the roles that it
// needs. Every store is also a [Folder] or [Objects]: these say how bytes are removed.
type Store interface {
	Reader
	Writer
	PartialFiles
}

// Reader reads blobs.
type Reader interface {
	// Open returns the blob for reading from its start; the caller closes it, and keeps ctx alive
	// until then. Errors: ErrNotFound; ErrDamaged when what is there has another size. The content
	// is not hashed. A Remove in a Folder that succeeds meanwhile does not disturb the reader; an
	// object that is deleted meanwhile makes its reads fail with ErrNotFound.
	Open(ctx context.Context, b Blob) (io.ReadSeekCloser, error)

	// Stat returns the size of the blob in bytes, whatever b says of it. Errors: ErrNotFound,
	// ErrDamaged.
	Stat(ctx context.Context, b Blob) (int64, error)
}

// Writer adds blobs, and protects them until they are recorded.
type Writer interface {
	// Stage reads r once, to its end, and writes the body to stable storage without making it
	// visible. [WithLength] tells it the length.
	//
	// limit is the greatest size accepted, in bytes; 0 means none, and a negative one refuses every
	// body. At most one byte beyond it is read. A longer body gives ErrTooLarge, a full disk
	// ErrNoSpace. An error of r is wrapped as it is, whatever it is, so that errors.Is and
	// errors.As find it. ctx is looked at before each Read of r; it does not interrupt one. After
	// any error nothing of the body is left, or what is left is an object without a name in any
	// row.
	//
	// The caller ends the life of what is returned by a Commit that succeeds or by Discard.
	Stage(ctx context.Context, r io.Reader, limit int64) (Staged, error)

	// CommitAll makes each body a blob, and returns when all of them are on stable storage, with
	// one Content for each, without Head, in their order. It asks for a body when it is done with
	// the one before but for the sync of its folder; it does not change or keep them. The same body
	// may come more than once.
	//
	// After an error none of the blobs may be acknowledged, though some may be visible. Unless it
	// is ErrUnsynced, the same bodies may be committed again.
	CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]Content, error)

	// Pin prevents removal of the digest, whether or not there is such a blob yet, until release is
	// called. Pins are counted; calling one release again does nothing. Pin waits for a Remove of
	// the digest under way, so that what the caller sees of the blob afterwards stays true. Pins
	// live in memory only. In a store that is Objects it does nothing: names are not used again
	// there, so that nothing needs to be kept away.
	Pin(digest Digest) (release func())
}

// Staged is a body on stable storage that is not visible yet. Its methods must not be called
// concurrently.
type Staged interface {
	// Content describes the body. Put is zero before Commit.
	Content() Content

	// Commit makes the body a blob, and returns when that is on stable storage, with what a record
	// names. In a Folder it replaces the one that has the digest. In Objects it makes sure that the
	// object is there, complete, and says when that was seen; called again it looks again. Called
	// again in a Folder after success it does nothing.
	//
	// After an error the blob must not be acknowledged, though it may be visible (another upload of
	// the same body may rely on it, so it is not removed). Where it is ErrUnsynced, calling Commit
	// again returns the same error. After any other error Commit may be tried again. After Discard
	// it fails with fs.ErrClosed.
	Commit(ctx context.Context) (Content, error)

	// Discard removes the body, and does nothing after a Commit that made it visible or after
	// another Discard. When it fails, calling it again tries again.
	Discard() error

	// Withdraw is Discard for a body that has been committed and is not needed: it deletes the blob
	// for good, unless there is a pin on it (ErrPinned) or confirm, which runs while no pin can be
	// taken, returns an error, which Withdraw then returns as it is. The caller has released its
	// own pin. An error, or a power cut, leaves an unreferenced blob.
	Withdraw(confirm func() error) error
}

// Content describes a body.
type Content struct {
	Blob
	Head []byte // the first bytes, at most HeadSize, from which its type can be told; not to be changed

	Begun time.Time // by the store's Clock, when the name of the object was made; zero in a Folder
	Put   time.Time // by the store's Clock, when Commit last saw that the object is there; zero in a Folder
}

// Folder is a store whose blobs are named by their digests alone, as in [Dir]: an upload of the
// same bytes replaces the blob, pins keep removals away from uploads, and one process has it.
type Folder interface {
	Store
	Walker
	Remover
	Trash
	PartialRemover
}

// Walker finds the blobs that are there.
type Walker interface {
	// Walk calls fn with digest and size of each blob in ascending order of digests. It stops at
	// the first error of fn and returns it unchanged, or at the end of ctx. A blob committed or
	// removed during the walk may be seen or not. fn may call the store.
	Walk(ctx context.Context, fn func(digest Digest, size int64) error) error
}

// Remover removes blobs.
type Remover interface {
	// Remove takes the blob out of the store, and returns when its absence is on stable storage.
	//
	// While no pin of the digest can be taken, confirm is called first (nil: nothing is asked). It
	// is the place to make sure once more that no record refers to the blob, and to forget what is
	// recorded of it; it must not pin or remove the same digest. Where it returns an error the blob
	// is untouched, and Remove returns that very error.
	//
	// Errors: ErrPinned while there is a pin, and then confirm was not called and the blob is
	// untouched; ErrNotFound, and then confirm has succeeded all the same. Where the system cannot
	// remove an open file, Remove fails while there is a reader.
	Remove(digest Digest, confirm func() error) error
}

// Inspector is what stores offer to a check of their own files.
type Inspector interface {
	// Unexpected calls fn with the path of every entry among the blobs that is not a blob, or that
	// other users could read or change, and why it is wrong. It looks at no content. The order is
	// that of paths. It stops at the first error of fn and returns it unchanged, or at the end of
	// ctx.
	Unexpected(ctx context.Context, fn func(path, why string) error) error
}

// Trash has the blobs that were removed.
type Trash interface {
	// OpenTrashed opens a removed blob for reading from its start and returns its size in bytes;
	// the caller closes it. ErrNotFound: it was never there or is gone for good; ErrDamaged: what
	// lies there is no regular file.
	OpenTrashed(digest Digest) (io.ReadSeekCloser, int64, error)

	// WalkTrash calls fn with digest, size in bytes and time of removal of each removed blob in
	// ascending order of digests. It stops at the first error of fn and returns it unchanged, or at
	// the end of ctx.
	WalkTrash(ctx context.Context, fn func(digest Digest, size int64, removed time.Time) error) error

	// EmptyTrash deletes for good what was removed before a time, and returns when that is on
	// stable storage. The numbers tell what was deleted, also where it ends early with an error.
	EmptyTrash(ctx context.Context, before time.Time) (files int, bytes int64, err error)

	// DeleteTrashed deletes one removed blob for good, and returns when that is on stable storage.
	// Deleting a blob that is not there is no error.
	DeleteTrashed(digest Digest) error
}

// Objects is what a store offers whose blobs are objects under names that are never used again, so
// that several processes can share it: the record of a blob names its object, and another upload of
// the same bytes makes another object.
//
// Who uses it keeps to these rules, by the times of one [Clock]. A record names an object at most
// an hour after its Put, and less than a day after its Begun, unless another record has named it
// since. An object is deleted only after the commit by which the last record stopped naming it. One
// that no record names is deleted only when it was begun more than a day ago.
type Objects interface {
	// WalkObjects calls fn with each object and each multipart upload under way, whether or not
	// anything names it; ascending by name, objects before uploads. It stops at the first error of
	// fn and returns it unchanged, or at the end of ctx. What is not named as the store names
	// objects is passed over. One made or deleted during the walk may be seen or not. fn may call
	// the store.
	WalkObjects(ctx context.Context, fn func(Object) error) error

	// DeleteObject deletes the object for good, and aborts its multipart upload if it says one.
	// Deleting an object that is not there is no error.
	DeleteObject(ctx context.Context, o Object) error

	// PartialObjects returns the objects that the checkpoint of a partial file names, without
	// asking the store: they are needed as long as a record has this checkpoint. ErrDamaged: Parts
	// cannot be read.
	PartialObjects(at Checkpoint) ([]Object, error)
}

// Object is one object in a store.
type Object struct {
	Name   string    // as in Blob.Object
	Upload string    // id of the multipart upload by which it comes; "": it is an object
	Size   int64     // in bytes; 0 where it is not known
	Begun  time.Time // when its name was made
}

// Presigner is what a store offers whose blobs clients can get from where they are.
type Presigner interface {
	// Presign returns an address from which anybody gets the blob by GET, for as long as the
	// attachment says. It does not ask whether the blob is there.
	Presign(ctx context.Context, b Blob, a Attachment) (string, error)
}

// Attachment is how a presigned blob is sent.
type Attachment struct {
	Filename  string
	MediaType string
	Valid     time.Duration // at most a minute
}

// Clock tells the time by which objects are dated. All processes that share a store have the same
// one, which never falls behind a stamp of the metadata.
type Clock func(ctx context.Context) (time.Time, error)

// WithLength returns r and tells a store that it has n bytes, to be found by [LengthOf]. A store
// that sends the length before the bytes may fail with io.ErrUnexpectedEOF where r has another one.
func WithLength(r io.Reader, n int64) io.Reader { return announced{r, n} }

// LengthOf returns the length that WithLength has told. ok is false where it has told none.
func LengthOf(r io.Reader) (n int64, ok bool) {
	a, ok := r.(announced)
	return a.length, ok
}

type announced struct {
	io.Reader
	length int64
}
