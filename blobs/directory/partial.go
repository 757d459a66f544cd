package directory

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/blobs"
)

func (d *Store) partialPath(name string) string { return filepath.Join(d.partials, name) }

// AppendPartial implements [blobs.PartialFiles].
func (d *Store) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
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

// TruncatePartial implements [blobs.PartialFiles].
func (d *Store) TruncatePartial(_ context.Context, p blobs.Partial) error {
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
	if err == nil || errors.Is(err, blobs.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("truncate a partial file", err)
}

// CheckPartial implements [blobs.PartialFiles].
func (d *Store) CheckPartial(_ context.Context, p blobs.Partial) error {
	return d.checkPartial(p.Name, p.At)
}

func (d *Store) checkPartial(name string, at blobs.Checkpoint) error {
	if at.Size == 0 {
		return nil
	}
	there, err := partialSize(d.partialPath(name))
	if err == nil && there < at.Size {
		err = fmt.Errorf("%w: the partial file %s has %d bytes, not %d", blobs.ErrNotFound, name, there, at.Size)
	}
	return err
}

// openPartial opens the file at the end of the checkpoint, and creates it at the beginning of the
// body. It does not overwrite a file of an earlier attempt: that may have a second name, as a
// committed blob.
func (d *Store) openPartial(name string, at blobs.Checkpoint) (File, error) {
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
func (d *Store) appendTo(ctx context.Context, f File, r io.Reader, most int64, hash hash.Hash) (added int64, reading, err error) {
	copied := newCopier(f, &d.chunks, hash)
	defer func() { _, _ = copied.close() }() // another error came first
	for last := false; !last; {
		next := filled{chunk: copied.chunk()}
		next.size, reading = blobs.ReadFull(ctx, r, next.chunk[:min(chunkSize, most-added)])
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

// partialSize returns the length of the file at path, or [blobs.ErrNotFound] if it does not exist.
func partialSize(path string) (int64, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%w: %s", blobs.ErrNotFound, filepath.Base(path))
	case err != nil:
		return 0, failed("stat a partial file", err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: the partial file %s is not a regular file", blobs.ErrDamaged, filepath.Base(path))
	}
	return info.Size(), nil
}

// StagePartial implements [blobs.PartialFiles].
func (d *Store) StagePartial(ctx context.Context, p blobs.Partial) (blobs.Staged, error) {
	name, at := p.Name, p.At
	digest, err := at.Digest()
	if err != nil {
		return nil, err
	}
	path := d.partialPath(name)
	s := &staged{dir: d, temp: path, content: blobs.Content{Blob: blobs.Blob{Digest: digest, Size: at.Size}}, partial: true}
	there, err := partialSize(path)
	if errors.Is(err, blobs.ErrNotFound) && at.Size == 0 {
		return d.createEmpty(s)
	}
	if errors.Is(err, blobs.ErrNotFound) { // it may have been committed before
		s.temp, s.named, path = "", true, d.folders.path(digest)
		there, err = d.Stat(ctx, blobs.Blob{Digest: digest})
	}
	switch {
	case err != nil:
		return nil, err
	case there != at.Size:
		return nil, fmt.Errorf("%w: the partial file %s has %d bytes, not %d", blobs.ErrNotFound, name, there, at.Size)
	}
	s.content.Head, err = readHead(path)
	return s, err
}

// alias returns a second name of a partial file, to be renamed instead of its own: a power failure
// during the rename must not lose an acknowledged file, and not every file system moves a file
// between folders atomically. If the file system has no second names, it returns the path itself.
func (d *Store) alias(path string) string {
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
func (d *Store) createEmpty(s *staged) (blobs.Staged, error) {
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
	head, err = io.ReadAll(io.LimitReader(f, blobs.HeadSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, failed("read a partial file", err)
	}
	return head, nil
}

// RemovePartial implements [blobs.PartialRemover].
func (d *Store) RemovePartial(name string) error {
	if err := d.fs.Remove(d.partialPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove a partial file", err)
	}
	return nil
}

// WalkPartials implements [blobs.PartialRemover].
func (d *Store) WalkPartials(ctx context.Context, fn func(name string) error) error {
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
