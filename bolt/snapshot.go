package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"labshelf/metadata"
)

// Snapshot implements metadata.Store: the snapshot is a file that Open opens, in the directory of the store's own until it is closed. If
// the store is read only, no process can change its file, so the snapshot is that file itself.
func (s *Store) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	copied := &snapshot{}
	seen, err := s.read(ctx, func(t *tx) (err error) {
		if copied.stamp, err = metaRow(t, lastStampRow, lastStampFields); err != nil {
			return err
		}
		if s.db.IsReadOnly() {
			copied.file, err = os.Open(s.db.Path())
		} else {
			copied.file, err = os.CreateTemp(filepath.Dir(s.db.Path()), filepath.Base(s.db.Path())+snapshotInfix)
			copied.temporary = true
		}
		if err != nil {
			return err
		}
		copied.SectionReader = io.NewSectionReader(copied.file, 0, t.bolt.Size())
		if copied.temporary {
			to := &contextWriter{to: copied.file, ended: ctx.Err}
			if _, err = t.bolt.WriteTo(to); err != nil {
				err = errors.Join(to.failed, err)
			}
		}
		return err
	})
	if err == nil {
		err = s.committer.waitDurable(ctx, seen)
	}
	if err == nil {
		return copied, nil
	}
	if kind := transient(err); kind != nil {
		err = fmt.Errorf("%w: %w", kind, err)
	}
	if copied.file != nil {
		err = errors.Join(err, copied.Close())
	}
	return nil, fmt.Errorf("bolt: snapshot: %w", err)
}

// snapshot is an open copy of the file.
type snapshot struct {
	*io.SectionReader
	file      *os.File
	temporary bool // it is a copy, which Close removes
	stamp     metadata.Stamp
}

func (s *snapshot) Stamp() metadata.Stamp { return s.stamp }

func (s *snapshot) Bytes() int64 { return s.Size() }

func (s *snapshot) Close() error {
	err := s.file.Close()
	if s.temporary {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// contextWriter is a writer that fails when the context has ended. It keeps the error with which it has failed, of which bbolt may keep
// the text only.
type contextWriter struct {
	to     io.Writer
	ended  func() error
	failed error
}

func (w *contextWriter) Write(p []byte) (n int, err error) {
	if err = w.ended(); err == nil {
		n, err = w.to.Write(p)
	}
	w.failed = err
	return n, err
}
