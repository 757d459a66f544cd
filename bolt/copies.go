package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// Snapshot implements metadata.Store: the snapshot is a file that Open opens, in the directory of
// the store's own until it is closed. If the store is read only, no process can change its file, so
// the snapshot is that file itself.
func (s *Store) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	copied := &snapshot{}
	seen, err := s.read(ctx, func(k *kv, _ *tables.Tx) (err error) {
		if copied.stamp, err = tables.LastStamp(k); err != nil {
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
		copied.SectionReader = io.NewSectionReader(copied.file, 0, k.bolt.Size())
		if copied.temporary {
			to := &contextWriter{to: copied.file, ended: ctx.Err}
			if _, err = k.bolt.WriteTo(to); err != nil {
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

// contextWriter is a writer that fails when the context has ended. It keeps the error with which it
// has failed, of which bbolt may keep the text only.
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

// compactBytes is about how much Compact copies in one transaction, which is kept in memory until
// its commit.
const compactBytes = 16 << 20

// Compact replaces the file at path by a copy without free pages, and returns its length in bytes
// before and after. No other process may have it open (ErrLocked). The copy is made in the same
// directory, synced and inspected, and then renamed over the old file. Until then, and after any
// error, the old file is as it was. A file in which Inspect finds something is not touched
// (ErrDamaged); without room for the copy the error is metadata.ErrNoSpace. When the context ends,
// Compact stops within one transaction of the copy, which is why bbolt's Compact is not used:
// nothing stops that one.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	if before, after, err = compact(ctx, path); err == nil {
		return before, after, nil
	}
	if kind := transient(err); kind != nil {
		err = fmt.Errorf("%w: %w", kind, err)
	}
	return 0, 0, fmt.Errorf("bolt: compact %s: %w", path, err)
}

func compact(ctx context.Context, path string) (before, after int64, err error) {
	old, err := Open(path, Options{})
	if err != nil {
		return 0, 0, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, old.Close())
		}
	}()
	if err := old.verify(ctx); err != nil {
		return 0, 0, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newInfix)
	if err != nil {
		return 0, 0, err
	}
	fresh := file.Name()
	defer func() { _ = os.Remove(fresh) }() // it is absent after the rename
	if err := errors.Join(file.Close(), old.copyTo(ctx, fresh)); err != nil {
		return 0, 0, err
	}
	was, err := old.file.Stat()
	if err != nil {
		return 0, 0, err
	}
	is, err := os.Stat(fresh)
	if err != nil {
		return 0, 0, err
	}
	// A process that waits for the lock of the old file finds after the rename that another file is
	// at the path; see openExamined. Where an open file cannot be replaced, it is closed before.
	if renamesOverOpen {
		err = os.Rename(fresh, path)
	}
	closed = true
	if err := errors.Join(err, old.Close()); err != nil {
		return 0, 0, err
	}
	if !renamesOverOpen {
		err = os.Rename(fresh, path)
	}
	return was.Size(), is.Size(), errors.Join(err, syncDir(filepath.Dir(path)))
}

// verify returns an ErrDamaged if Inspect finds anything.
func (s *Store) verify(ctx context.Context) error {
	found, first := 0, ""
	err := s.Inspect(ctx, func(v metadata.Violation) {
		if found++; found == 1 {
			first = v.String()
		}
	})
	if err == nil && found > 0 {
		err = fmt.Errorf("%w: %d violations, the first: %s", ErrDamaged, found, first)
	}
	return err
}

// copyTo fills the empty file at path with the same contents, syncs it and verifies it.
func (s *Store) copyTo(ctx context.Context, path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return err
	}
	_, err = s.read(ctx, func(k *kv, _ *tables.Tx) error {
		return k.bolt.ForEach(func(name []byte, from *bbolt.Bucket) error { return copyBucket(ctx, db, name, from) })
	})
	if err == nil {
		err = db.Sync()
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	copied, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(copied.verify(ctx), s.compareCounts(ctx, copied), copied.Close())
}

// copyBucket fills a new bucket in order of keys, so that its pages are full.
func copyBucket(ctx context.Context, db *bbolt.DB, name []byte, from *bbolt.Bucket) error {
	cursor := from.Cursor()
	key, value := cursor.First()
	for first := true; first || key != nil; first = false {
		err := db.Update(func(btx *bbolt.Tx) error {
			to, err := btx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			to.FillPercent = 1
			for bytes := 0; key != nil && bytes < compactBytes; key, value = cursor.Next() {
				if err := errors.Join(ctx.Err(), to.Put(key, value)); err != nil {
					return err
				}
				bytes += len(key) + len(value)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compareCounts returns an error if the buckets of another file hold another number of keys.
func (s *Store) compareCounts(ctx context.Context, other *Store) error {
	var here, there [tables.BucketCount]int
	count := func(into *[tables.BucketCount]int) func(*kv, *tables.Tx) error {
		return func(k *kv, _ *tables.Tx) error {
			for b := range tables.BucketCount {
				in := k.bucket(b)
				if in == nil {
					continue
				}
				err := in.ForEach(func(_, _ []byte) error { into[b]++; return nil })
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	_, err := s.read(ctx, count(&here))
	_, failed := other.read(ctx, count(&there))
	if err = errors.Join(err, failed); err == nil && here != there {
		err = fmt.Errorf("%w: the copy holds %v rows, the file %v", ErrDamaged, there, here)
	}
	return err
}
