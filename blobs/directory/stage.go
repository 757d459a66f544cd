package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"labshelf/blobs"
)

// Stage implements [blobs.Store].
func (d *Store) Stage(ctx context.Context, r io.Reader, limit int64) (_ blobs.Staged, err error) {
	if limit < 0 {
		return nil, blobs.ErrTooLarge
	}
	temp := d.tempName()
	f, err := d.fs.Create(temp)
	if err != nil {
		return nil, failed("create a temporary file", err)
	}
	s := &staged{dir: d, temp: temp}
	complete := false
	// Deferred, so that a panic of the reader leaves no file either.
	defer func() {
		if !complete {
			err = errors.Join(err, s.Discard())
		}
	}()
	if err := s.write(ctx, f, r, limit); err != nil {
		return nil, err
	}
	complete = true
	return s, nil
}

// tempName returns an unused name. It is a number, because tmp/ was empty at the start and only
// this Store creates files there.
func (d *Store) tempName() string {
	return filepath.Join(d.tmp, strconv.FormatUint(d.temps.Add(1), 10))
}

type staged struct {
	dir       *Store
	content   blobs.Content
	temp      string // path of the file; empty after it was moved or removed
	partial   bool   // a partial file, which keeps its own name until RemovePartial
	named     bool   // the file has its final name
	committed bool   // the sync of the name was tried, which is never repeated
	synced    error  // the result of that sync
}

var _ blobs.Staged = (*staged)(nil)

// Content implements [blobs.Staged].
func (s *staged) Content() blobs.Content { return s.content }

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

// syncBody syncs data that are not acknowledged yet. A full disk is not a [blobs.ErrUnsynced]: all
// of the data are removed, or written again.
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

// fill copies r to w and sets the content.
func (s *staged) fill(ctx context.Context, w io.Writer, r io.Reader, limit int64) error {
	copied := newCopier(w, &s.dir.chunks, nil)
	defer func() { _, _ = copied.close() }() // another error came first
	for last := false; !last; {
		read := filled{chunk: copied.chunk()}
		var err error
		if read.size, err = s.next(ctx, r, limit, read.chunk); err != nil && err != io.EOF {
			return err
		}
		last = err == io.EOF
		if err := copied.add(read, last); err != nil {
			return failed("write a temporary file", err)
		}
	}
	var err error
	if s.content.Digest, err = copied.close(); err != nil {
		return failed("write a temporary file", err)
	}
	return nil
}

// next reads a chunk of the body into c and counts the bytes. io.EOF comes with the last chunk.
func (s *staged) next(ctx context.Context, r io.Reader, limit int64, c *chunk) (int, error) {
	buf := c[:]
	if limit > 0 {
		buf = c[:1+min(chunkSize-1, limit-s.content.Size)]
	}
	n, err := blobs.ReadFull(ctx, r, buf)
	if s.content.Size == 0 {
		s.content.Head = bytes.Clone(buf[:min(n, blobs.HeadSize)])
	}
	s.content.Size += int64(n)
	if limit > 0 && s.content.Size > limit {
		return n, blobs.ErrTooLarge
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("blobs: read the body: %w", err)
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

// syncFile brings a staged body to stable storage.
func syncFile(f File) error { return f.Sync() }
