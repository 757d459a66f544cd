package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"labshelf/backup"
	"labshelf/blobs/directory"
	"labshelf/blobs/s3"
	"labshelf/bolt"
	"labshelf/cli/exit"
	"labshelf/metadata"
	"labshelf/metadata/tables"
	"labshelf/postgres"
)

// Target is the destination of a move: a data directory without metadata, and its stores.
type Target struct {
	dir     Dir
	at      Stores
	from    *Dir
	objects *s3.Store // nil: the files are in folders, or are not moved
}

// OpenTarget opens the destination of a move from the repository in from, and makes its data
// directory. If the destination has metadata, it returns an exit.ErrUsage. The caller closes the
// target.
func OpenTarget(ctx context.Context, path string, at Stores, from *Dir) (*Target, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		err = directory.OS{}.MkdirAll(path)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	t := &Target{dir: Dir{Path: path}, at: at, from: from}
	err = errors.Join(refuseShared(path), t.refuseOccupied(ctx))
	if err == nil && path != from.Path {
		err = t.dir.lock()
	}
	if err == nil {
		err = t.openFiles(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close closes the stores of the target.
func (t *Target) Close() error { return t.dir.Close() }

// refuseOccupied returns an error if the target has metadata.
func (t *Target) refuseOccupied(ctx context.Context) error {
	if t.at.Metadata != "" {
		empty, err := postgres.Empty(ctx, t.at.Metadata)
		if err == nil && !empty {
			err = exit.Usage(errors.New("the database of --to has tables of labshelf; name an empty one"))
		}
		return explainDatabase(err)
	}
	file := filepath.Join(t.dir.Path, MetadataFile)
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return exit.Usage(errors.Join(fmt.Errorf("%s exists; name another data directory in --to", file), err))
	}
	return nil
}

// sameFiles reports whether the target uses the same files as from.
func (t *Target) sameFiles() bool {
	if t.at.Blobs == "" && t.from.at.Blobs == "" {
		return t.dir.Path == t.from.Path
	}
	address := func(s Stores) string { return s.S3.Endpoint + " " + strings.TrimRight(s.Blobs, "/") }
	return address(t.at) == address(t.from.at)
}

func (t *Target) openFiles(ctx context.Context) (err error) {
	switch {
	case t.sameFiles():
		return nil
	case t.at.Blobs == "":
		t.dir.Blobs, err = directory.Open(t.dir.Path, directory.OS{})
		return err
	}
	if t.objects, err = t.from.openS3(ctx, t.at); err != nil {
		return err
	}
	t.dir.Blobs = t.objects
	t.dir.closers = append(t.dir.closers, func() error { t.objects.Close(); return nil })
	return nil
}

// Destination returns the target in the form that backup.Move takes.
func (t *Target) Destination() backup.Destination {
	to := backup.Destination{Files: t.dir.Blobs, Work: filepath.Join(t.dir.Path, MoveFile)}
	if t.objects != nil {
		to.Claim = func(ctx context.Context, of metadata.Identity) error { return t.objects.Claim(ctx, of.String()) }
	}
	file := filepath.Join(t.dir.Path, MetadataFile)
	to.Load = func(ctx context.Context, rows iter.Seq2[tables.Row, error]) error { return bolt.Build(ctx, file, rows) }
	open := func(context.Context) (rowStore, error) { return bolt.Open(file, bolt.Options{ReadOnly: true}) }
	if t.at.Metadata != "" {
		to.Load = func(ctx context.Context, rows iter.Seq2[tables.Row, error]) error {
			return postgres.Load(ctx, t.at.Metadata, rows)
		}
		open = func(ctx context.Context) (rowStore, error) {
			return postgres.Open(ctx, t.at.Metadata, postgres.Options{ReadOnly: true})
		}
	}
	to.Rows = func(ctx context.Context) iter.Seq2[tables.Row, error] { return rowsOf(ctx, open) }
	return to
}

// rowStore is a store that can return its raw rows.
type rowStore interface {
	Rows(ctx context.Context) iter.Seq2[tables.Row, error]
	Close() error
}

// rowsOf opens a store and yields its raw rows.
func rowsOf(ctx context.Context, open func(context.Context) (rowStore, error)) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		store, err := open(ctx)
		if err != nil {
			yield(tables.Row{}, err)
			return
		}
		for row, err := range store.Rows(ctx) {
			if !yield(row, err) {
				_ = store.Close() // only reads, so nothing is lost
				return
			}
		}
		if err := store.Close(); err != nil {
			yield(tables.Row{}, err)
		}
	}
}

// SetAside renames the metadata file of the moved repository if both use the same data directory,
// so that no service starts on it again. It returns the new path, or "" if nothing was renamed.
func (t *Target) SetAside() (path string, err error) {
	if t.dir.Path != t.from.Path || t.from.file == nil {
		return "", nil
	}
	path = filepath.Join(t.dir.Path, MetadataFile+".moved")
	if err := os.Rename(filepath.Join(t.dir.Path, MetadataFile), path); err != nil {
		return "", err
	}
	return path, directory.OS{}.SyncDir(t.dir.Path)
}
