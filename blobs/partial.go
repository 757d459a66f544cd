package blobs

import (
	"context"
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"
	"io"
)

// PartialFiles are bodies that arrive in several chunks. They may exist for days, across restarts.
// Methods for the same name must not be called concurrently.
type PartialFiles interface {
	// AppendPartial reads r to its end, or stops at the number of bytes in most, which is positive.
	// It writes the bytes at the end of the checkpoint, instead of later bytes. It returns the new
	// checkpoint, whose bytes are on stable storage. After an error of r or ctx, which is returned
	// unchanged, the new checkpoint covers the bytes that have arrived. After any other error it is
	// the old one. io.EOF: r has ended.
	//
	// ErrNotFound: the file is shorter than the checkpoint, which happens after a backup was
	// restored. ErrNoSpace: the disk is full. In Objects the new checkpoint refers to the objects
	// that are needed from then on. Once the new checkpoint is committed, the objects that only the
	// old one refers to may be deleted. If it will not be committed, the objects that only the new
	// one refers to may be deleted.
	AppendPartial(ctx context.Context, p Partial, r io.Reader, most int64) (Checkpoint, error)

	// TruncatePartial removes the bytes after the end of the checkpoint, if there are any.
	TruncatePartial(ctx context.Context, p Partial) error

	// CheckPartial returns ErrNotFound if the file is shorter than the checkpoint.
	CheckPartial(ctx context.Context, p Partial) error

	// StagePartial returns the complete body, which ends at the checkpoint, for a commit. In a
	// Folder the file stays, also after the commit, until RemovePartial; nothing may be appended
	// any more. Its Discard does nothing, and its Withdraw removes the blob that this call or an
	// earlier one has committed. If a file cannot have two names, it is moved, and StagePartial
	// finds it under its digest. In Objects, Commit turns the body into one of the objects that the
	// checkpoint refers to. ErrNotFound: the file is shorter than the checkpoint.
	StagePartial(ctx context.Context, p Partial) (Staged, error)
}

// PartialRemover removes bodies that are no longer needed.
type PartialRemover interface {
	// RemovePartial removes the file, if it exists. A blob that was committed from it stays.
	RemovePartial(name string) error

	// WalkPartials calls fn with each name, in ascending order. It stops at the first error of fn
	// and returns it unchanged, or at the end of ctx.
	WalkPartials(ctx context.Context, fn func(name string) error) error
}

// Partial is a body that arrives in several chunks.
type Partial struct {
	Name   string // given by its owner: letters and digits
	Length int64  // of the whole body, as announced, in bytes
	At     Checkpoint
}

// Checkpoint is the part of a body that is on stable storage. The zero value is an empty part.
type Checkpoint struct {
	Size  int64  // in bytes
	Hash  string // state of its SHA-256, in the form of package crypto/sha256; "" at the beginning
	Parts string // its place in the store, in the store's own form; "" in a Folder
}

// Digest returns the digest of a body that ends here.
func (c Checkpoint) Digest() (Digest, error) {
	hash, err := c.Resume()
	if err != nil {
		return Digest{}, err
	}
	return Digest(hash.Sum(nil)), nil
}

// Resume returns the hash of the bytes so far.
func (c Checkpoint) Resume() (hash.Hash, error) {
	hash := sha256.New()
	if c.Hash == "" {
		return hash, nil
	}
	if err := hash.(encoding.BinaryUnmarshaler).UnmarshalBinary([]byte(c.Hash)); err != nil {
		return nil, fmt.Errorf("%w: the checkpoint of a partial file: %w", ErrDamaged, err)
	}
	return hash, nil
}

// Advance returns the checkpoint after more bytes, which were written to hash.
func (c Checkpoint) Advance(more int64, hash hash.Hash) (Checkpoint, error) {
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return c, fmt.Errorf("blobs: save the hash of a partial file: %w", err)
	}
	return Checkpoint{Size: c.Size + more, Hash: string(state)}, nil
}
