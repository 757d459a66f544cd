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

// Parts are bodies that come in several parts, each under a name that its owner gives it: letters and digits. They may be there for
// days, over restarts. Methods for the same name must not be called concurrently.
type Parts interface {
	// AddPart reads r to its end, or most bytes of it, writes them where mark ends, in place of what is there, and returns the new mark:
	// what is on stable storage then. It comes also with an error of r or ctx, which is returned as it is: what has come counts.
	// After any other error it is the old one. io.EOF: r has ended. most is positive.
	//
	// ErrNotFound: there is less of the body than mark says, which happens where a backup was restored. A full disk is ErrNoSpace.
	AddPart(ctx context.Context, name string, mark Mark, r io.Reader, most int64) (Mark, error)

	// CutPart removes what is there after the end of mark. That there is nothing is no error.
	CutPart(name string, mark Mark) error

	// HavePart returns ErrNotFound where there is less of the body than mark says.
	HavePart(name string, mark Mark) error

	// WholePart returns the body of which mark is the end, for placing. The part stays until DropPart, also once it has been placed;
	// nothing may be added to it any more. Its Discard does nothing, and its Withdraw takes away what was placed, by this call or
	// by an earlier one. Where a file cannot have two names it is moved, and WholePart finds it under its digest. ErrNotFound: there
	// is less of it than mark says.
	WholePart(name string, mark Mark) (Staged, error)

	// DropPart removes a part. What was placed stays. That there is nothing is no error.
	DropPart(name string) error

	// WalkParts calls fn with each name, in ascending order. It stops at the first error of fn and returns it unchanged, or at
	// the end of ctx.
	WalkParts(ctx context.Context, fn func(name string) error) error
}

// Mark says how much of a body is on stable storage. The zero value is nothing.
type Mark struct {
	Size int64  // in bytes
	Hash string // what its SHA-256 goes on from, in the form of package crypto/sha256; "" at the beginning
}

var _ Parts = (*Dir)(nil)

// Digest is that of a body of which this is the end.
func (m Mark) Digest() (Digest, error) {
	hash, err := m.resume()
	if err != nil {
		return Digest{}, err
	}
	return Digest(hash.Sum(nil)), nil
}

// resume returns the hash of what has come.
func (m Mark) resume() (hash.Hash, error) {
	hash := sha256.New()
	if m.Hash == "" {
		return hash, nil
	}
	if err := hash.(encoding.BinaryUnmarshaler).UnmarshalBinary([]byte(m.Hash)); err != nil {
		return nil, fmt.Errorf("%w: the mark of a part: %w", ErrDamaged, err)
	}
	return hash, nil
}

// then is the mark after more bytes, which hash has seen.
func (m Mark) then(more int64, hash hash.Hash) (Mark, error) {
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return m, fmt.Errorf("blobs: keep the hash of a part: %w", err)
	}
	return Mark{Size: m.Size + more, Hash: string(state)}, nil
}

func (d *Dir) part(name string) string { return filepath.Join(d.parts, name) }

// AddPart implements [Parts].
func (d *Dir) AddPart(ctx context.Context, name string, mark Mark, r io.Reader, most int64) (Mark, error) {
	hash, err := mark.resume()
	if err != nil {
		return mark, err
	}
	f, err := d.openPart(name, mark)
	if err != nil {
		return mark, err
	}
	added, reading, err := d.addPart(ctx, f, r, most, hash)
	if closed := f.Close(); closed != nil && err == nil {
		err = failed("close a part", closed)
	}
	if err == nil && mark.Size == 0 && added > 0 {
		if err = d.partNames.sync(d.fs, d.parts); err != nil {
			err = unsynced("keep a part", err)
		}
	}
	if err != nil {
		return mark, err
	}
	if added > 0 {
		if mark, err = mark.then(added, hash); err != nil {
			return mark, err
		}
	}
	return mark, reading
}

// CutPart implements [Parts].
func (d *Dir) CutPart(name string, mark Mark) error {
	if mark.Size == 0 {
		return d.DropPart(name)
	}
	err := d.HavePart(name, mark)
	if err == nil {
		var f File
		if f, err = d.fs.Reopen(d.part(name), mark.Size); err == nil {
			err = f.Close()
		}
	}
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("cut a part", err)
}

// HavePart implements [Parts].
func (d *Dir) HavePart(name string, mark Mark) error {
	if mark.Size == 0 {
		return nil
	}
	there, err := partSize(d.part(name))
	if err == nil && there < mark.Size {
		err = fmt.Errorf("%w: the part %s has %d bytes, not %d", ErrNotFound, name, there, mark.Size)
	}
	return err
}

// openPart opens the file where mark ends, and makes it at the beginning of the body. What an earlier beginning has left is not written
// over: it may have a second name, under which it has been placed.
func (d *Dir) openPart(name string, mark Mark) (File, error) {
	path := d.part(name)
	if mark.Size == 0 {
		f, err := d.fs.Create(path)
		if errors.Is(err, fs.ErrExist) {
			if err = d.unlink(path); err == nil {
				f, err = d.fs.Create(path)
			}
		}
		if err != nil {
			return nil, failed("begin a part", err)
		}
		return f, nil
	}
	if err := d.HavePart(name, mark); err != nil {
		return nil, err
	}
	f, err := d.fs.Reopen(path, mark.Size)
	if err != nil {
		return nil, failed("go on with a part", err)
	}
	return f, nil
}

// addPart copies and syncs. What has come before r fails is kept like the rest; reading is how that ended.
func (d *Dir) addPart(ctx context.Context, f File, r io.Reader, most int64, hash hash.Hash) (added int64, reading, err error) {
	copied := newCopier(f, &d.chunks, hash)
	defer func() { _, _ = copied.close() }() // another error came first
	for last := false; !last; {
		part := filled{chunk: copied.chunk()}
		part.size, reading = ReadFull(ctx, r, part.chunk[:min(chunkSize, most-added)])
		added += int64(part.size)
		last = reading != nil || added == most
		if err := copied.add(part, last); err != nil {
			return 0, nil, failed("write a part", err)
		}
	}
	if _, err := copied.close(); err != nil {
		return 0, nil, failed("write a part", err)
	}
	if added == 0 {
		return 0, reading, nil
	}
	if err := syncPart(f); err != nil {
		return 0, nil, err
	}
	return added, reading, nil
}

// partSize returns the length of the file at path, an ErrNotFound where there is none.
func partSize(path string) (int64, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%w: %s", ErrNotFound, filepath.Base(path))
	case err != nil:
		return 0, failed("look at a part", err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: the part %s is not a regular file", ErrDamaged, filepath.Base(path))
	}
	return info.Size(), nil
}

// WholePart implements [Parts].
func (d *Dir) WholePart(name string, mark Mark) (Staged, error) {
	digest, err := mark.Digest()
	if err != nil {
		return nil, err
	}
	path := d.part(name)
	s := &staged{dir: d, temp: path, digest: digest, size: mark.Size, stays: true}
	there, err := partSize(path)
	if errors.Is(err, ErrNotFound) && mark.Size == 0 {
		return d.emptyPart(s)
	}
	if errors.Is(err, ErrNotFound) { // placed before, perhaps
		s.temp, s.named, path = "", true, d.path(digest)
		there, err = d.Stat(digest)
	}
	switch {
	case err != nil:
		return nil, err
	case there != mark.Size:
		return nil, fmt.Errorf("%w: the part %s has %d bytes, not %d", ErrNotFound, name, there, mark.Size)
	}
	s.head, err = readHead(path)
	return s, err
}

// alias returns a second name of a part, in place of which it can be renamed: a power cut in the middle of that must not take a file
// of which a client has been told that it is there, and not every file system moves a file from one folder to another at once. Where
// there are no second names it is the part's own.
func (d *Dir) alias(part string) string {
	temp := d.tempName()
	if d.fs.Link(part, temp) != nil {
		return part
	}
	return temp
}

// sameFile tells whether both names are there, and of one file.
func sameFile(a, b string) bool {
	of, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(of, other)
}

// emptyPart makes the file of a body of no bytes: nothing had to be added.
func (d *Dir) emptyPart(s *staged) (Staged, error) {
	f, err := d.fs.Create(s.temp)
	if err != nil {
		return nil, failed("begin a part", err)
	}
	err = syncBody("sync a part", f)
	if closed := f.Close(); closed != nil && err == nil {
		err = failed("close a part", closed)
	}
	return s, err
}

// readHead returns the first bytes of a file.
func readHead(path string) (head []byte, err error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, failed("read a part", err)
	}
	head, err = io.ReadAll(io.LimitReader(f, HeadSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, failed("read a part", err)
	}
	return head, nil
}

// DropPart implements [Parts].
func (d *Dir) DropPart(name string) error {
	if err := d.fs.Remove(d.part(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove a part", err)
	}
	return nil
}

// WalkParts implements [Parts].
func (d *Dir) WalkParts(ctx context.Context, fn func(name string) error) error {
	entries, err := d.list(d.parts)
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

// syncPart puts what has come of a body on stable storage.
func syncPart(f File) error { return syncBody("sync a part", f) }
