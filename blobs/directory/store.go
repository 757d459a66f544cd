package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"labshelf/blobs"
)

// Store is a [blobs.Folder] in a directory:
//
//	blobs/00 … blobs/ff   blobs, each named by its digest in lower-case hex
//	blobs/watermark       the value of SetWatermark
//	tmp/                  bodies being staged, emptied by Open
//	parts/                partial files
//	trash/                removed blobs, named by their digests
//
// A folder of blobs is named by the first byte of their digests; its first blob creates it. Next to
// the watermark, .ahead is one that was set aside and .new one that is being written. The
// modification time of a removed blob is the time of its removal. Directories have mode 0700 and
// files 0600. One process owns the directory; Store does not lock it. Blobs can be replaced and
// removed while they are read. On Windows a name given just before a power failure may be lost
// ([FS].SyncDir). A Store keeps no files open, so it need not be closed.
type Store struct {
	fs               FS
	blobs            string
	tmp              string
	trash            string
	partials         string
	temps            atomic.Uint64 // number of temporary names so far
	chunks           chunkPool
	pins             *pins
	folders          folders
	trashNames       names      // in trash/
	partialNames     names      // in parts/
	trashing         sync.Mutex // prevents EmptyTrash from confusing a file that was just removed with the older file that it replaces
	keepsOpenTargets bool
	readOnly         bool
}

var (
	_ blobs.Folder    = (*Store)(nil)
	_ blobs.Inspector = (*Store)(nil)
)

// Open opens the store below path, an existing directory that no other process uses as a store.
// It writes through fsys, which is OS{} outside of tests.
//
// Open creates missing parts of the layout, syncs their names, and removes the files in tmp/. It
// returns an error if a path of the layout exists but is not a directory (for example, a symbolic
// link), or if the directories are on different file systems, since renames would not be atomic. It
// also fails if tmp/ contains anything that cannot be removed, such as a directory that is not
// empty.
func Open(path string, fsys FS) (*Store, error) {
	d := newStore(path, fsys)
	if err := d.layOut(); err != nil {
		return nil, err
	}
	// These two contain the names of the others. They are synced even if nothing was missing, since
	// an earlier process may have ended before its sync.
	if err := d.folders.syncNames(); err != nil {
		return nil, unsynced("open the store", err)
	}
	if err := fsys.SyncDir(path); err != nil {
		return nil, unsynced("open the store", err)
	}
	if err := d.emptyTmp(); err != nil {
		return nil, err
	}
	return d, nil
}

func newStore(path string, fsys FS) *Store {
	return &Store{
		fs:               fsys,
		blobs:            filepath.Join(path, "blobs"),
		tmp:              filepath.Join(path, "tmp"),
		trash:            filepath.Join(path, "trash"),
		partials:         filepath.Join(path, "parts"),
		chunks:           chunkPool{pool: sync.Pool{New: func() any { return new(chunk) }}},
		pins:             newPins(),
		folders:          folders{disk: fsys, root: filepath.Join(path, "blobs")},
		keepsOpenTargets: !renameReplacesOpenFile,
	}
}

// layOut creates missing directories, except the folders of first bytes.
func (d *Store) layOut() error {
	tops := []string{d.blobs, d.tmp, d.trash, d.partials}
	for _, dir := range tops {
		if err := ensure(d.fs, dir); err != nil {
			return err
		}
	}
	if err := d.folders.read(); err != nil {
		return err
	}
	return oneDevice(tops...)
}

// oneDevice returns an error unless all directories are on the same file system.
func oneDevice(dirs ...string) error {
	var first uint64
	for i, dir := range dirs {
		number, err := device(dir)
		if err != nil {
			return failed("open the store", err)
		}
		if i == 0 {
			first = number
		}
		if number != first {
			return fmt.Errorf("blobs: open the store: %s and %s must be on one file system", dirs[0], dir)
		}
	}
	return nil
}

func (d *Store) emptyTmp() error {
	entries, err := os.ReadDir(d.tmp)
	if err != nil {
		return failed("empty the temporary directory", err)
	}
	for _, entry := range entries {
		if err := d.fs.Remove(filepath.Join(d.tmp, entry.Name())); err != nil {
			return failed("empty the temporary directory", err)
		}
	}
	return nil
}

// Open implements [blobs.Store]. The dynamic type of its result is *os.File, so that it can be sent
// with sendfile.
func (d *Store) Open(_ context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	f, found, err := openRegular(d.folders.path(b.Digest), b.Digest)
	if err != nil {
		return nil, err
	}
	if found != b.Size {
		return nil, errors.Join(fmt.Errorf("%w: %s has %d bytes, not %d", blobs.ErrDamaged, b.Digest, found, b.Size), f.Close())
	}
	return f, nil
}

// Stat implements [blobs.Store].
func (d *Store) Stat(_ context.Context, b blobs.Blob) (int64, error) {
	info, err := os.Lstat(d.folders.path(b.Digest))
	if err != nil {
		return 0, missing(b.Digest, err)
	}
	if !info.Mode().IsRegular() {
		return 0, irregular(b.Digest)
	}
	return info.Size(), nil
}

// openRegular opens the file of a blob, which must be a regular file, not a link or a blocking
// pipe.
func openRegular(path string, digest blobs.Digest) (*os.File, int64, error) {
	f, err := openToRead(path)
	if errors.Is(err, errIrregular) {
		return nil, 0, irregular(digest)
	}
	if err != nil {
		return nil, 0, missing(digest, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(digest)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// errIrregular means that a path is not opened because it is not a regular file.
var errIrregular = errors.New("not a regular file")

func irregular(digest blobs.Digest) error {
	return fmt.Errorf("%w: %s is not a regular file", blobs.ErrDamaged, digest)
}

// Walk implements [blobs.Walker]. It skips entries that are not regular files, named by their
// digest in the folder of that digest.
func (d *Store) Walk(ctx context.Context, fn func(blobs.Digest, int64) error) error {
	for first := range 256 {
		entries, err := d.list(d.folders.folder(byte(first)))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := visit(byte(first), entry, fn); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// visit calls fn if entry, found in the folder of first, is a blob.
func visit(first byte, entry fs.DirEntry, fn func(blobs.Digest, int64) error) error {
	digest, err := blobs.ParseDigest(entry.Name())
	if err != nil || digest[0] != first || digest.String() != entry.Name() || !entry.Type().IsRegular() {
		return nil
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since the folder was read
	}
	if err != nil {
		return failed("look at a blob", err)
	}
	return fn(digest, info.Size())
}

// list reads a directory of the layout. A folder of a first byte may be missing if it never had a
// file; other directories may only be missing in a store opened read-only.
func (d *Store) list(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && (d.readOnly || filepath.Dir(dir) == d.blobs) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("list a folder", err)
	}
	return entries, nil
}

// Pin implements [blobs.Store].
func (d *Store) Pin(digest blobs.Digest) (release func()) { return d.pins.pin(digest) }

// missing adds the blob to an error, and turns the absence of its file into [blobs.ErrNotFound].
func missing(digest blobs.Digest, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", blobs.ErrNotFound, digest)
	}
	return failed("reach blob "+digest.String(), err)
}

// failed adds the failed operation to an error, and the sentinel for its cause.
func failed(what string, err error) error {
	switch {
	case noSpace(err):
		return fmt.Errorf("blobs: %s: %w: %w", what, blobs.ErrNoSpace, err)
	case unopened(err), readOnly(err) && !errors.Is(err, blobs.ErrUnsynced):
		return fmt.Errorf("blobs: %s: %w: %w", what, blobs.ErrUnavailable, err)
	}
	return fmt.Errorf("blobs: %s: %w", what, err)
}

// unsynced is failed for a sync of data that stay. If the directory could not be opened, the sync
// was not tried, and may be repeated.
func unsynced(what string, err error) error {
	if unopened(err) {
		return failed(what, err)
	}
	return failed(what, fmt.Errorf("%w: %w", blobs.ErrUnsynced, err))
}
