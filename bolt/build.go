package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// Rows yields all rows of one snapshot of the file, bucket by bucket in the order of their keys;
// see tables.Rows. Damage of the file, or the end of the context, ends the sequence with an error.
// While the sequence is read, the file grows with every change, since bbolt cannot reuse pages of
// the snapshot.
func (s *Store) Rows(ctx context.Context) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		stopped := false
		_, err := s.read(ctx, func(k *kv, _ *tables.Tx) error {
			for row, err := range tables.Rows(k, ctx.Err) {
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
			yield(tables.Row{}, err)
		}
	}
}

// Build creates a file at path from the rows of an engine, and returns when it is complete and on
// stable storage. It returns metadata.ErrRecordDamaged for rows out of order, and for rows that are
// not complete metadata of the current schema. It returns fs.ErrExist if the path exists, and
// metadata.ErrNoSpace if the free space is insufficient. After an error no file is left at path.
// When the context ends, Build stops within one transaction of bounded size. Build does not verify
// the records; Inspect does.
func Build(ctx context.Context, path string, rows iter.Seq2[tables.Row, error]) error {
	err := build(ctx, path, rows)
	if err == nil {
		return nil
	}
	if kind := transient(err); kind != nil {
		err = fmt.Errorf("%w: %w", kind, err)
	}
	return fmt.Errorf("bolt: build %s: %w", path, err)
}

func build(ctx context.Context, path string, rows iter.Seq2[tables.Row, error]) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newInfix)
	if err != nil {
		return err
	}
	fresh := file.Name()
	err = errors.Join(file.Close(), fill(ctx, fresh, rows))
	if err == nil {
		err = examineBuilt(fresh)
	}
	if err == nil {
		err = link(fresh, path)
	}
	if removing := os.Remove(fresh); !errors.Is(removing, fs.ErrNotExist) {
		err = errors.Join(err, removing)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// examineBuilt returns an error if Open would refuse or upgrade the file.
func examineBuilt(path string) error {
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	var header tables.Header
	err = inspect(s.db, func(k *kv) (err error) {
		header, err = tables.ReadHeader(k)
		return err
	})
	if err == nil && header.Schema != tables.Schema {
		err = fmt.Errorf("%w: rows of version %d", metadata.ErrRecordDamaged, header.Schema)
	}
	return errors.Join(err, s.Close())
}

// fill fills an empty file with the rows, and syncs it.
func fill(ctx context.Context, path string, rows iter.Seq2[tables.Row, error]) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, // it is synced once, at the end
	})
	if err != nil {
		return err
	}
	f := &filler{db: db}
	err = f.all(ctx, rows)
	if f.bolt != nil {
		err = errors.Join(err, f.bolt.Rollback())
	}
	if err == nil {
		err = db.Sync()
	}
	if err != nil {
		err = withCause(err)
	}
	return errors.Join(err, db.Close())
}

// filler puts rows into a file, in transactions of bounded size.
type filler struct {
	db   *bbolt.DB
	bolt *bbolt.Tx     // nil: no current transaction
	into *bbolt.Bucket // the bucket of the last row
	last tables.Row    // the filler owns its key
	size int           // bytes put by the current transaction
}

func (f *filler) all(ctx context.Context, rows iter.Seq2[tables.Row, error]) error {
	err := f.db.Update(func(btx *bbolt.Tx) error {
		k := &kv{bolt: btx}
		for b := range tables.BucketCount {
			if !b.In(tables.Schema) {
				continue
			}
			if err := k.CreateBucket(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err = errors.Join(err, ctx.Err()); err == nil {
			err = f.put(row)
		}
		if err != nil {
			return err
		}
	}
	return f.commit()
}

// put adds the next row.
func (f *filler) put(row tables.Row) (err error) {
	if f.last.Key != nil && row.Compare(f.last) <= 0 {
		return fmt.Errorf("%w: %s %x comes after %s %x", metadata.ErrRecordDamaged, row.Bucket, row.Key, f.last.Bucket, f.last.Key)
	}
	if f.size >= compactBytes {
		if err := f.commit(); err != nil {
			return err
		}
	}
	if f.bolt == nil {
		if f.bolt, err = f.db.Begin(true); err != nil {
			return err
		}
	}
	if f.into == nil || row.Bucket != f.last.Bucket {
		if f.into = f.bolt.Bucket([]byte(row.Bucket.String())); f.into == nil {
			return fmt.Errorf("%w: a row in %s", metadata.ErrRecordDamaged, row.Bucket)
		}
		f.into.FillPercent = 1
	}
	f.last = tables.Row{Bucket: row.Bucket, Key: append(f.last.Key[:0], row.Key...)}
	f.size += len(row.Key) + len(row.Value)
	return f.into.Put(row.Key, append([]byte(nil), row.Value...)) // bbolt keeps the value until the commit
}

// commit commits the current transaction. If it fails, the transaction has been rolled back.
func (f *filler) commit() error {
	if f.bolt == nil {
		return nil
	}
	err := f.bolt.Commit()
	f.bolt, f.into, f.size = nil, nil, 0
	return err
}
