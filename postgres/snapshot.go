package postgres

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// Snapshot implements metadata.Store. The snapshot is a file that bolt.Open can open, in the folder
// for temporary files until it is closed.
func (s *Store) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	copied, err := s.copy(ctx)
	if err != nil {
		return nil, wrap("snapshot", err)
	}
	return copied, nil
}

// snapshot is an open copy of the rows, in a separate folder.
type snapshot struct {
	*io.SectionReader
	file   *os.File
	folder string
	stamp  metadata.Stamp
}

func (s *snapshot) Stamp() metadata.Stamp { return s.stamp }

func (s *snapshot) Bytes() int64 { return s.Size() }

func (s *snapshot) Close() error { return errors.Join(s.file.Close(), os.RemoveAll(s.folder)) }

func (s *Store) copy(ctx context.Context) (_ *snapshot, err error) {
	folder, err := os.MkdirTemp("", "labshelf-snapshot-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	copied, path := &snapshot{folder: folder}, filepath.Join(folder, "meta.db")
	err = s.view(ctx, func(v *view) (err error) {
		if copied.stamp, err = tables.LastStamp(v.kv()); err != nil {
			return err
		}
		return bolt.Build(ctx, path, tables.Rows(v.kv(), ctx.Err))
	})
	if err != nil {
		return nil, err
	}
	if copied.file, err = os.Open(path); err != nil {
		return nil, err
	}
	info, err := copied.file.Stat()
	if err != nil {
		return nil, errors.Join(err, copied.file.Close())
	}
	copied.SectionReader = io.NewSectionReader(copied.file, 0, info.Size())
	return copied, nil
}

// Inspect implements metadata.Store. It inspects a snapshot, since comparing rows and entries in
// the database would take a round trip for each.
func (s *Store) Inspect(ctx context.Context, report func(metadata.Violation)) (err error) {
	copied, err := s.copy(ctx)
	if err != nil {
		return wrap("inspect", err)
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	file, err := bolt.Open(copied.file.Name(), bolt.Options{ReadOnly: true})
	if err != nil {
		return wrap("inspect", err)
	}
	return errors.Join(file.Inspect(ctx, report), file.Close())
}

// Rows returns all rows of one state, in order, for bolt.Build and Load.
func (s *Store) Rows(ctx context.Context) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		stopped := false
		err := s.view(ctx, func(v *view) error {
			for row, err := range tables.Rows(v.kv(), ctx.Err) {
				if err != nil {
					return err
				}
				if stopped = !yield(row, nil); stopped {
					return nil
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(tables.Row{}, wrap("rows", err))
		}
	}
}
