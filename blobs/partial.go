package blobs

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// PartialFiles are bodies that arrive in several chunks. They may exist for days, across restarts.
// Methods for the same name must not be called concurrently.
type PartialFiles interface {
	// AppendPartial reads r to its end, or most bytes of it, and writes them at the end of the
	// checkpoint, in place of later bytes. It returns the new checkpoint, whose bytes are on stable
	// storage. After an error of r or ctx, which is returned unchanged, the new checkpoint covers
	// the bytes that have arrived. After any other error it is the old one. io.EOF: r has ended.
	// most is positive.
	//
	// ErrNotFound: the file is shorter than the checkpoint, which happens after a backup was
	// restored. ErrNoSpace: the disk is full. In Objects the new checkpoint refers to the objects
	// that are needed from then on. Objects that only the old one refers to may be deleted once the
	// new one is committed; if it will not be committed, the objects that only the new one refers
	// to.
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

func (d *Dir) partialPath(name string) string { return filepath.Join(d.partials, name) }

// AppendPartial implements [PartialFiles].
func (d *Dir) AppendPartial(ctx context.Context, p Partial, r io.Reader, most int64) (Checkpoint, error) {
	name, at := p.Name, p.At
	hash, err := at.Resume()
	if err != nil {
		return at, err
	}
	f, err := d.openPartial(name, at)
	if err != nil {
		return at, err
	}
	added, reading, err := d.appendTo(ctx, f, r, most, hash)
	if closed := f.Close(); closed != nil && err == nil {
		err = failed("close a partial file", closed)
	}
	if err == nil && at.Size == 0 && added > 0 {
		if err = d.partialNames.sync(d.fs, d.partials); err != nil {
			err = unsynced("sync the name of a partial file", err)
		}
	}
	if err != nil {
		return at, err
	}
	if added > 0 {
		if at, err = at.Advance(added, hash); err != nil {
			return at, err
		}
	}
	return at, reading
}

// TruncatePartial implements [PartialFiles].
func (d *Dir) TruncatePartial(_ context.Context, p Partial) error {
	name, at := p.Name, p.At
	if at.Size == 0 {
		return d.RemovePartial(name)
	}
	err := d.checkPartial(name, at)
	if err == nil {
		var f File
		if f, err = d.fs.Reopen(d.partialPath(name), at.Size); err == nil {
			err = f.Close()
		}
	}
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("truncate a partial file", err)
}

// CheckPartial implements [PartialFiles].
func (d *Dir) CheckPartial(_ context.Context, p Partial) error { return d.checkPartial(p.Name, p.At) }

func (d *Dir) checkPartial(name string, at Checkpoint) error {
	if at.Size == 0 {
		return nil
	}
	there, err := partialSize(d.partialPath(name))
	if err == nil && there < at.Size {
		err = fmt.Errorf("%w: the partial file %s has %d bytes, not %d", ErrNotFound, name, there, at.Size)
	}
	return err
}

// openPartial opens the file at the end of the checkpoint, and creates it at the beginning of the
// body. It does not overwrite a file of an earlier attempt: that may have a second name, as a
// committed blob.
func (d *Dir) openPartial(name string, at Checkpoint) (File, error) {
	path := d.partialPath(name)
	if at.Size == 0 {
		f, err := d.fs.Create(path)
		if errors.Is(err, fs.ErrExist) {
			if err = d.unlink(path); err == nil {
				f, err = d.fs.Create(path)
			}
		}
		if err != nil {
			return nil, failed("create a partial file", err)
		}
		return f, nil
	}
	if err := d.checkPartial(name, at); err != nil {
		return nil, err
	}
	f, err := d.fs.Reopen(path, at.Size)
	if err != nil {
		return nil, failed("reopen a partial file", err)
	}
	return f, nil
}

// appendTo copies and syncs. Bytes that arrived before an error of r count; reading is the error
// with which r ended.
func (d *Dir) appendTo(ctx context.Context, f File, r io.Reader, most int64, hash hash.Hash) (added int64, reading, err error) {
	copied := newCopier(f, &d.chunks, hash)
	defer func() { _, _ = copied.close() }() // another error came first
	for last := false; !last; {
		next := filled{chunk: copied.chunk()}
		next.size, reading = ReadFull(ctx, r, next.chunk[:min(chunkSize, most-added)])
		added += int64(next.size)
		last = reading != nil || added == most
		if err := copied.add(next, last); err != nil {
			return 0, nil, failed("write a partial file", err)
		}
	}
	if _, err := copied.close(); err != nil {
		return 0, nil, failed("write a partial file", err)
	}
	if added == 0 {
		return 0, reading, nil
	}
	if err := syncPartial(f); err != nil {
		return 0, nil, err
	}
	return added, reading, nil
}

// partialSize returns the length of the file at path, or ErrNotFound if it does not exist.
func partialSize(path string) (int64, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%w: %s", ErrNotFound, filepath.Base(path))
	case err != nil:
		return 0, failed("stat a partial file", err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: the partial file %s is not a regular file", ErrDamaged, filepath.Base(path))
	}
	return info.Size(), nil
}

// StagePartial implements [PartialFiles].
func (d *Dir) StagePartial(ctx context.Context, p Partial) (Staged, error) {
	name, at := p.Name, p.At
	digest, err := at.Digest()
	if err != nil {
		return nil, err
	}
	path := d.partialPath(name)
	s := &staged{dir: d, temp: path, content: Content{Blob: Blob{Digest: digest, Size: at.Size}}, partial: true}
	there, err := partialSize(path)
	if errors.Is(err, ErrNotFound) && at.Size == 0 {
		return d.createEmpty(s)
	}
	if errors.Is(err, ErrNotFound) { // it may have been committed before
		s.temp, s.named, path = "", true, d.path(digest)
		there, err = d.Stat(ctx, Blob{Digest: digest})
	}
	switch {
	case err != nil:
		return nil, err
	case there != at.Size:
		return nil, fmt.Errorf("%w: the partial file %s has %d bytes, not %d", ErrNotFound, name, there, at.Size)
	}
	s.content.Head, err = readHead(path)
	return s, err
}

// alias returns a second name of a partial file, to be renamed instead of its own: a power failure
// during the rename must not lose an acknowledged file, and not every file system moves a file
// between folders atomically. If the file system has no second names, it returns the path itself.
func (d *Dir) alias(path string) string {
	temp := d.tempName()
	if d.fs.Link(path, temp) != nil {
		return path
	}
	return temp
}

// sameFile reports whether both names exist and belong to the same file.
func sameFile(a, b string) bool {
	of, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(of, other)
}

// createEmpty creates the file of an empty body, for which AppendPartial was not called.
func (d *Dir) createEmpty(s *staged) (Staged, error) {
	f, err := d.fs.Create(s.temp)
	if err != nil {
		return nil, failed("create a partial file", err)
	}
	err = syncBody("sync a partial file", f)
	if closed := f.Close(); closed != nil && err == nil {
		err = failed("close a partial file", closed)
	}
	return s, err
}

// readHead returns the first bytes of a file.
func readHead(path string) (head []byte, err error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, failed("read a partial file", err)
	}
	head, err = io.ReadAll(io.LimitReader(f, HeadSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, failed("read a partial file", err)
	}
	return head, nil
}

// RemovePartial implements [PartialRemover].
func (d *Dir) RemovePartial(name string) error {
	if err := d.fs.Remove(d.partialPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove a partial file", err)
	}
	return nil
}

// WalkPartials implements [PartialRemover].
func (d *Dir) WalkPartials(ctx context.Context, fn func(name string) error) error {
	entries, err := d.list(d.partials)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// syncPartial brings the bytes of a partial body to stable storage.
func syncPartial(f File) error { return syncBody("sync a partial file", f) }
