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
	// ErrDamaged is returned by Open and Stat when something is stored under the digest that cannot be its blob: it
	// is no regular file, or it has another size than the caller expects. Verify adds what only reading shows.
	ErrDamaged = errors.New("blob damaged")
	// ErrTooLarge is returned by Stage when the body is longer than the limit.
	ErrTooLarge = errors.New("body larger than the limit")
	// ErrNoSpace is returned, together with the cause, by whatever writes when the disk or a quota is full. Unless
	// the error is ErrUnsynced too, what was begun has been undone. Reading goes on working.
	ErrNoSpace = errors.New("no space left to store the blob")
	// ErrUnavailable is returned, together with the cause, by whatever reads or writes when the file system is
	// read-only or no more files can be opened. Unless the error is ErrUnsynced too, no blob was lost or changed, and
	// trying again later may help.
	ErrUnavailable = errors.New("storage unavailable for now")
	// ErrPinned is returned by Remove and Withdraw while there is a pin on the digest.
	ErrPinned = errors.New("blob pinned")
	// ErrUnsynced is returned, together with the cause, when a sync failed (but not when a full disk was the cause
	// and the file has been removed). The kernel may have dropped what it could not write, and a later sync would
	// not tell: the caller should accept no more writes until the disk has been looked at.
	ErrUnsynced = errors.New("storage could not be synced")
)

// Blob names one blob.
type Blob struct {
	Digest Digest // SHA-256 of all of it
	Size   int64  // in bytes
	Object string // name of the object that has the bytes, in a store that is [Objects]; "" in a [Folder], where the digest is the name
}

// Store holds blobs. All methods may be called from several goroutines at once, but for those of [PartialFiles] with the same name.
// It is composed of roles; a use case asks for the roles that it needs. Every store is also a [Folder] or [Objects]: these say how bytes
// are removed.
type Store interface {
	Reader
	Writer
	PartialFiles
}

// Reader reads blobs.
type Reader interface {
	// Open returns the blob for reading from its start; the caller closes it, and keeps ctx alive until then. Errors: ErrNotFound;
	// ErrDamaged when what is there has another size. The content is not hashed. A Remove in a Folder that succeeds meanwhile does not
	// disturb the reader; an object that is deleted meanwhile makes its reads fail with ErrNotFound.
	Open(ctx context.Context, b Blob) (io.ReadSeekCloser, error)

	// Stat returns the size of the blob in bytes, whatever b says of it. Errors: ErrNotFound, ErrDamaged.
	Stat(ctx context.Context, b Blob) (int64, error)
}

// Writer adds blobs, and protects them until they are recorded.
type Writer interface {
	// Stage reads r once, to its end, and writes the body to stable storage without making it visible. [WithLength] tells it the length.
	//
	// limit is the greatest size accepted, in bytes; 0 means none, and a negative one refuses every body. At most
	// one byte beyond it is read. A longer body gives ErrTooLarge, a full disk ErrNoSpace. An error of r is wrapped
	// as it is, whatever it is, so that errors.Is and errors.As find it. ctx is looked at before each Read of r; it
	// does not interrupt one. After any error nothing of the body is left, or what is left is an object without a name in any row.
	//
	// The caller ends the life of what is returned by a Commit that succeeds or by Discard.
	Stage(ctx context.Context, r io.Reader, limit int64) (Staged, error)

	// CommitAll makes each body a blob, and returns when all of them are on stable storage, with one Content for each, without Head, in
	// their order. It asks for a body when it is done with the one before but for the sync of its folder; it does not
	// change or keep them. The same body may come more than once.
	//
	// After an error none of the blobs may be acknowledged, though some may be visible. Unless it is ErrUnsynced, the same
	// bodies may be committed again.
	CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]Content, error)

	// Pin prevents removal of the digest, whether or not there is such a blob yet, until release is called.
	// Pins are counted; calling one release again does nothing. Pin waits for a Remove of the digest under way, so
	// that what the caller sees of the blob afterwards stays true. Pins live in memory only. In a store that is Objects
	// it does nothing: names are not used again there, so that nothing needs to be kept away.
	Pin(digest Digest) (release func())
}

// Staged is a body on stable storage that is not visible yet. Its methods must not be called concurrently.
type Staged interface {
	// Content describes the body. Put is zero before Commit.
	Content() Content

	// Commit makes the body a blob, and returns when that is on stable storage, with what a record names. In a Folder it replaces the
	// one that has the digest. In Objects it makes sure that the object is there, complete, and says when that was seen; called again it
	// looks again. Called again in a Folder after success it does nothing.
	//
	// After an error the blob must not be acknowledged, though it may be visible (another upload of the same body may rely
	// on it, so it is not removed). Where it is ErrUnsynced, calling Commit again returns the same error. After any
	// other error Commit may be tried again. After Discard it fails with fs.ErrClosed.
	Commit(ctx context.Context) (Content, error)

	// Discard removes the body, and does nothing after a Commit that made it visible or after another Discard. When
	// it fails, calling it again tries again.
	Discard() error

	// Withdraw is Discard for a body that has been committed and is not needed: it deletes the blob for good, unless there is
	// a pin on it (ErrPinned) or confirm, which runs while no pin can be taken, returns an error, which Withdraw then
	// returns as it is. The caller has released its own pin. An error, or a power cut, leaves an unreferenced blob.
	Withdraw(confirm func() error) error
}

// Content describes a body.
type Content struct {
	Blob
	Head []byte // the first bytes, at most HeadSize, from which its type can be told; not to be changed

	Begun time.Time // by the store's Clock, when the name of the object was made; zero in a Folder
	Put   time.Time // by the store's Clock, when Commit last saw that the object is there; zero in a Folder
}
