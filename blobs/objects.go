package blobs

import (
	"context"
	"io"
	"time"
)

// Objects is what a store offers whose blobs are objects under names that are never used again, so that several processes can share it: the
// record of a blob names its object, and another upload of the same bytes makes another object.
//
// Who uses it keeps to these rules, by the times of one [Clock]. A record names an object at most an hour after its Put, and less than a day
// after its Begun, unless another record has named it since. An object is deleted only after the commit by which the last record stopped
// naming it. One that no record names is deleted only when it was begun more than a day ago.
type Objects interface {
	// WalkObjects calls fn with each object and each multipart upload under way, whether or not anything names it; ascending by name,
	// objects before uploads. It stops at the first error of fn and returns it unchanged, or at the end of ctx. What is not named as the
	// store names objects is passed over. One made or deleted during the walk may be seen or not. fn may call the store.
	WalkObjects(ctx context.Context, fn func(Object) error) error

	// DeleteObject deletes the object for good, and aborts its multipart upload if it says one. That there is none is no error.
	DeleteObject(ctx context.Context, o Object) error

	// PartialObjects returns the objects that the checkpoint of a partial file names, without asking the store: they are needed as
	// long as a record has this checkpoint. ErrDamaged: Parts cannot be read.
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
	// Presign returns an address from which anybody gets the blob by GET, for as long as the attachment says. It does not ask
	// whether the blob is there.
	Presign(ctx context.Context, b Blob, a Attachment) (string, error)
}

// Attachment is how a presigned blob is sent.
type Attachment struct {
	Filename  string
	MediaType string
	Valid     time.Duration // at most a minute
}

// Clock tells the time by which objects are dated. All processes that share a store have the same one, which never falls behind a stamp of
// the metadata.
type Clock func(ctx context.Context) (time.Time, error)

// WithLength returns r and tells a store that it has n bytes, to be found by [LengthOf]. A store that sends the length
// before the bytes may fail with io.ErrUnexpectedEOF where r has another one.
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
