package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Stage implements [Store].
func (d *Dir) Stage(ctx context.Context, r io.Reader, limit int64) (_ Staged, err error) {
	if limit < 0 {
		return nil, ErrTooLarge
	}
	temp := d.tempName()
	f, err := d.fs.Create(temp)
	if err != nil {
		return nil, failed("create a temporary file", err)
	}
	s := &staged{dir: d, temp: temp}
	whole := false
	// Deferred, so that a reader that panics leaves no file behind either.
	defer func() {
		if !whole {
			err = errors.Join(err, s.Discard())
		}
	}()
	if err := s.write(ctx, f, r, limit); err != nil {
		return nil, err
	}
	whole = true
	return s, nil
}

// tempName is enough with a number: tmp/ was empty when counting began, and nobody else makes files there.
func (d *Dir) tempName() string { return filepath.Join(d.tmp, strconv.FormatUint(d.temps.Add(1), 10)) }

type staged struct {
	dir    *Dir
	temp   string // empty once the file has gone from there
	stays  bool   // it is a part: it keeps its own name, and nobody takes that away but its owner
	digest Digest
	size   int64
	head   []byte
	named  bool  // the final name was given
	placed bool  // and synced, or never will be
	synced error // what became of syncing it
}

var _ Staged = (*staged)(nil)

func (s *staged) Digest() Digest { return s.digest }
func (s *staged) Size() int64    { return s.size }
func (s *staged) Head() []byte   { return s.head }

// write fills, syncs and closes f.
func (s *staged) write(ctx context.Context, f File, r io.Reader, limit int64) (err error) {
	defer func() {
		if closed := f.Close(); closed != nil && err == nil {
			err = failed("close a temporary file", closed)
		}
	}()
	if err := s.fill(ctx, f, r, limit); err != nil {
		return err
	}
	return syncBody("sync a temporary file", f)
}

// syncBody syncs what has been written and nobody relies on yet. A full disk does no harm: all of it is removed, or written again.
func syncBody(what string, f File) error {
	err := syncFile(f)
	switch {
	case err == nil:
		return nil
	case noSpace(err):
		return failed(what, err)
	}
	return unsynced(what, err)
}

// fill copies r to w and learns digest, size and head on the way.
func (s *staged) fill(ctx context.Context, w io.Writer, r io.Reader, limit int64) error {
	copied := newCopier(w, &s.dir.chunks, nil)
	defer func() { _, _ = copied.close() }() // another error came first
	for last := false; !last; {
		part := filled{chunk: copied.chunk()}
		var err error
		if part.size, err = s.next(ctx, r, limit, part.chunk); err != nil && err != io.EOF {
			return err
		}
		last = err == io.EOF
		if err := copied.add(part, last); err != nil {
			return failed("write a temporary file", err)
		}
	}
	var err error
	if s.digest, err = copied.close(); err != nil {
		return failed("write a temporary file", err)
	}
	return nil
}

// next reads as much of the body as c holds and counts it. io.EOF comes with the last part.
func (s *staged) next(ctx context.Context, r io.Reader, limit int64, c *chunk) (int, error) {
	room := c[:]
	if limit > 0 {
		room = c[:1+min(chunkSize-1, limit-s.size)]
	}
	n, err := ReadFull(ctx, r, room)
	if s.size == 0 {
		s.head = bytes.Clone(room[:min(n, HeadSize)])
	}
	s.size += int64(n)
	if limit > 0 && s.size > limit {
		return n, ErrTooLarge
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("blobs: read the body: %w", err)
	}
	return n, err
}

// ReadFull reads as Stage does: until buf is full (nil), r ends (io.EOF), also with the last byte, r fails or ctx does. ctx is
// looked at before each Read.
func ReadFull(ctx context.Context, r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}

func writeFull(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}

// Place implements [Staged].
func (s *staged) Place() error {
	if s.placed {
		return s.synced
	}
	if !s.named {
		if s.temp == "" {
			return fmt.Errorf("blobs: place a discarded body: %w", fs.ErrClosed)
		}
		if err := s.rename(); err != nil {
			return err
		}
		s.temp, s.named = "", true
	}
	err := s.dir.syncFolder(s.digest[0])
	if err != nil {
		err = unsynced("place "+s.digest.String(), err)
	}
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	s.placed, s.synced = true, err
	return err
}

// rename gives the temporary file its final name. A folder that has the name goes to the trash. Where a file in use cannot be
// replaced (Windows), one of the same content that has the name already is the blob; one of other content is damaged, and gives way.
func (s *staged) rename() error {
	if err := s.dir.makeFolder(s.digest[0]); err != nil {
		return err
	}
	from, to := s.temp, s.dir.path(s.digest)
	if s.stays {
		if sameFile(from, to) { // it was placed before, and nothing came of that; a rename would do nothing then
			return nil
		}
		from = s.dir.alias(from)
	}
	err := s.dir.fs.Rename(from, to)
	if err == nil {
		return nil
	}
	if err = s.makeWay(from, to, err); err != nil {
		if from != s.temp {
			_ = s.dir.fs.Remove(from) // or the next start does
		}
		return failed("place "+s.digest.String(), err)
	}
	return nil
}

// makeWay goes on with a rename that has failed, and returns that error where it cannot.
func (s *staged) makeWay(from, to string, failed error) error {
	info, err := os.Lstat(to)
	switch {
	case err != nil:
		return failed
	case info.IsDir():
		if err := s.dir.discard(s.digest); err != nil {
			return err
		}
		return s.dir.fs.Rename(from, to)
	case !s.dir.keepsOpenTargets:
		return failed
	}
	err = Verify(context.Background(), s.dir, s.digest, s.size)
	switch {
	case err == nil:
		return s.dir.fs.Remove(from)
	case errors.Is(err, ErrDamaged) && s.dir.unlink(to) == nil:
		return s.dir.fs.Rename(from, to)
	}
	return failed
}

// Discard implements [Staged].
func (s *staged) Discard() error {
	if s.temp == "" || s.stays {
		return nil
	}
	if err := s.dir.fs.Remove(s.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove a temporary file", err)
	}
	s.temp = ""
	return nil
}

// Withdraw implements [Staged]. The folder is not synced: a blob that comes back harms nobody.
func (s *staged) Withdraw(confirm func() error) error {
	if !s.named && !s.stays { // a part may have been placed before
		return s.Discard()
	}
	return s.dir.pins.remove(s.digest, func() error {
		if err := confirm(); err != nil {
			return err
		}
		if err := s.dir.unlink(s.dir.path(s.digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("withdraw "+s.digest.String(), err)
		}
		return nil
	})
}

// syncFile puts a staged body on stable storage.
func syncFile(f File) error { return f.Sync() }
