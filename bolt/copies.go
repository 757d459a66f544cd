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

// Snapshot implements metadata.Store. The snapshot is a file that Open can open. It is in the
// store's directory until it is closed. If the store is read-only, no process can change its file,
// so the snapshot is the file itself.
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
	temporary bool // a copy, which Close removes
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

// contextWriter is a writer that fails when the context has ended. It keeps its error, because
// bbolt may keep only the error's text.
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

// compactBytes is the approximate size of one transaction of Compact, which is in memory until its
// commit.
const compactBytes = 16 << 20

// Compact replaces the file at path by a copy without free pages. It returns the length of the file
// in bytes before and after. No other process may have the file open (ErrLocked). The copy is
// created in the same directory, synced, inspected, and renamed over the old file. Until then, and
// after any error, the old file is unchanged. Compact does not touch a file in which Inspect finds
// something (ErrDamaged). Without free space for the copy it returns metadata.ErrNoSpace. When the
// context ends, Compact stops within one transaction of the copy; bbolt's own Compact cannot be
// stopped.
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
	defer func() { _ = os.Remove(fresh) }() // the file is gone after the rename
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
	// A process that waits for the lock of the old file finds another file at the path after the
	// rename; see openExamined. If the system cannot replace an open file, the file is closed
	// first.
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

// verify returns ErrDamaged if Inspect finds anything.
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

// copyTo copies the content to the empty file at path, syncs it and verifies it.
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

// copyBucket fills a new bucket in the order of keys, so that its pages are full.
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

// compareCounts returns an error if the buckets of the other file have other numbers of keys.
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
		err = fmt.Errorf("%w: the copy has %v rows, but the file has %v", ErrDamaged, there, here)
	}
	return err
}
