package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"labshelf/blobs"
)

// Commit implements [blobs.Staged].
func (s *staged) Commit(context.Context) (blobs.Content, error) { return s.content, s.commit() }

func (s *staged) commit() error {
	if s.committed {
		return s.synced
	}
	if !s.named {
		if s.temp == "" {
			return fmt.Errorf("blobs: commit a discarded body: %w", fs.ErrClosed)
		}
		if err := s.rename(); err != nil {
			return err
		}
		s.temp, s.named = "", true
	}
	err := s.dir.folders.sync(s.content.Digest[0])
	if err != nil {
		err = unsynced("commit "+s.content.Digest.String(), err)
	}
	if errors.Is(err, blobs.ErrUnavailable) {
		return err
	}
	s.committed, s.synced = true, err
	return err
}

// rename gives the temporary file its final name. A folder with that name goes to the trash. On
// Windows an open file cannot be replaced: an existing file with the same content is then the blob,
// and one with other content is damaged and removed.
func (s *staged) rename() error {
	if err := s.dir.folders.make(s.content.Digest[0]); err != nil {
		return err
	}
	from, to := s.temp, s.dir.folders.path(s.content.Digest)
	if s.partial {
		if sameFile(from, to) { // an earlier, unacknowledged commit did this; a rename would have no effect
			return nil
		}
		from = s.dir.alias(from)
	}
	err := s.dir.fs.Rename(from, to)
	if err == nil {
		return nil
	}
	if err = s.replaceTarget(from, to, err); err != nil {
		if from != s.temp {
			_ = s.dir.fs.Remove(from) // if this fails, the next Open removes it
		}
		return failed("commit "+s.content.Digest.String(), err)
	}
	return nil
}

// replaceTarget removes the obstacle of a rename and repeats it, or returns the error of the first
// attempt.
func (s *staged) replaceTarget(from, to string, failed error) error {
	info, err := os.Lstat(to)
	switch {
	case err != nil:
		return failed
	case info.IsDir():
		if err := s.dir.discard(s.content.Digest); err != nil {
			return err
		}
		return s.dir.fs.Rename(from, to)
	case !s.dir.keepsOpenTargets:
		return failed
	}
	err = blobs.Verify(context.Background(), s.dir, s.content.Blob)
	switch {
	case err == nil:
		return s.dir.fs.Remove(from)
	case errors.Is(err, blobs.ErrDamaged) && s.dir.unlink(to) == nil:
		return s.dir.fs.Rename(from, to)
	}
	return failed
}

// Discard implements [blobs.Staged].
func (s *staged) Discard() error {
	if s.temp == "" || s.partial {
		return nil
	}
	if err := s.dir.fs.Remove(s.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove a temporary file", err)
	}
	s.temp = ""
	return nil
}

// Withdraw implements [blobs.Staged]. It does not sync the folder: a blob that reappears after a
// power failure is unreferenced and harmless.
func (s *staged) Withdraw(confirm func() error) error {
	if !s.named && !s.partial { // a partial file may have been committed before
		return s.Discard()
	}
	return s.dir.pins.remove(s.content.Digest, func() error {
		if err := confirm(); err != nil {
			return err
		}
		if err := s.dir.unlink(s.dir.folders.path(s.content.Digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("withdraw "+s.content.Digest.String(), err)
		}
		return nil
	})
}

// CommitAll implements [blobs.Writer]. It syncs the folders last, each once. By then the syncs of
// later files have mostly written the names of earlier ones, so that each sync of a folder has
// little to do.
func (d *Store) CommitAll(_ context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	var committed []blobs.Content
	var named [256]bool // folders with new names
	for body := range bodies {
		blob, err := d.writeNamed(body)
		if err != nil {
			return nil, err
		}
		named[blob.Digest[0]] = true
		committed = append(committed, blobs.Content{Blob: blob})
	}
	for first := range named {
		if !named[first] {
			continue
		}
		if err := d.folders.sync(byte(first)); err != nil {
			return nil, unsynced(fmt.Sprintf("commit blobs in folder %02x", first), err)
		}
	}
	return committed, nil
}

// writeNamed writes and syncs the file of a body and gives it its final name.
func (d *Store) writeNamed(body []byte) (b blobs.Blob, err error) {
	written, err := d.Stage(context.Background(), bytes.NewReader(body), 0)
	if err != nil {
		return b, err
	}
	s := written.(*staged)
	if err := s.rename(); err != nil {
		return b, errors.Join(err, s.Discard())
	}
	return s.content.Blob, nil
}

// SyncNames brings the names of all blobs whose digests begin with a byte to stable storage. A
// caller uses it before it relies on a blob that another process has committed, since that process
// may have ended before its sync. The folder must exist. Errors: [blobs.ErrUnsynced],
// [blobs.ErrUnavailable].
func (d *Store) SyncNames(first byte) error {
	if err := d.folders.sync(first); err != nil {
		return unsynced(fmt.Sprintf("sync the names in folder %02x", first), err)
	}
	return nil
}
