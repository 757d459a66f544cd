// Package datadir finds, makes, locks and opens the data directory of a service, and adds advice to
// the errors.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/cli/exit"
	"labshelf/cli/server/metrics"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// The files in a data directory. It may also contain a configuration file; the folders belong to
// package blobs.
const (
	MetadataFile = "meta.db"
	MoveFile     = "migration.db"      // state of a move into the directory, with which an interrupted move resumes
	LockFile     = "node.lock"         // locked by the process that uses a directory without MetadataFile
	HolderFile   = "server.pid"        // for people: which process runs the service
	KeyFile      = "initial-admin.key" // the key that the first start made
	IndexFolder  = "index"             // of the search: a cache, not in any backup, rebuilt if missing
)

// ClockTolerance is how far the clock may be behind the last stamp without a warning. It covers
// leap seconds and corrections.
const ClockTolerance = time.Minute

// Errors of a data directory that does not open. The errors of its stores come from the stores.
var (
	ErrInUse      = errors.New("the data directory is in use by another process")
	ErrNoMetadata = errors.New("the metadata file is missing")
	ErrNoFiles    = errors.New("the folder of all files is missing")
)

// Dir is an open data directory with its stores, which may be elsewhere. A lock excludes other
// processes from the directory.
type Dir struct {
	Path     string // absolute
	Metadata metadata.Store
	Blobs    blobs.Store

	at       Stores
	readOnly bool
	now      func() time.Time // the clock of the metadata
	file     *bolt.Store      // the metadata, if they are a file in the directory; otherwise nil
	folder   *directory.Store // the blobs, if they are folders in the directory; otherwise nil
	closers  []func() error
}

// Open opens a data directory and creates missing parts of it. Metadata older than the files get a
// new epoch, as in a service. The caller closes it. Errors: the errors of OpenMeasured.
func Open(path string, at Stores) (*Dir, error) {
	data, err := OpenMeasured(path, at, nil)
	if err != nil {
		return nil, err
	}
	if err := maintenance.SettleWatermark(context.Background(), data.Metadata, data.Blobs, time.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: %w", err), data.Close())
	}
	return data, nil
}

// OpenMeasured opens a data directory for a service, which decides about the epoch itself. measured
// may be nil. The caller closes it. Errors: ErrInUse, ErrNoMetadata, ErrNoFiles, the errors of
// bolt.Open with advice, and exit.ErrUsage for wrong permissions.
func OpenMeasured(path string, at Stores, measured *metrics.Metrics) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	err = directory.OS{}.MkdirAll(path)
	if at, is := errors.AsType[*fs.PathError](err); is && at.Err == syscall.ENOTDIR {
		err = exit.Usage(fmt.Errorf("%s is a file", at.Path))
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := errors.Join(refuseShared(path), at.refuseOrphans(path)); err != nil {
		return nil, err
	}
	data := &Dir{Path: path, at: at}
	if err := data.open(measured); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return data, nil
}

func (d *Dir) open(measured *metrics.Metrics) error {
	if err := d.openMetadata(bolt.Options{Observe: measured.Commits()}); err != nil {
		return err
	}
	if err := d.refuseNoFiles(); err != nil {
		return err
	}
	return d.openBlobs(func() (*directory.Store, error) { return directory.Open(d.Path, measured.Disk(directory.OS{})) })
}

// OpenReadOnly opens the existing parts of a data directory whose service is stopped. It changes
// nothing in the directory or its stores. The caller closes it. Errors: the errors of Require and
// OpenMeasured.
func OpenReadOnly(path string, at Stores) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		err = at.Require(path)
	}
	if err != nil {
		return nil, err
	}
	data := &Dir{Path: path, at: at, readOnly: true}
	if err = data.openMetadata(bolt.Options{ReadOnly: true}); err == nil {
		err = data.openBlobs(func() (*directory.Store, error) { return directory.OpenReadOnly(path) })
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return data, nil
}

// Close closes the stores and releases the lock.
func (d *Dir) Close() (err error) {
	for _, closer := range slices.Backward(d.closers) {
		err = errors.Join(err, closer())
	}
	return err
}

// refuseShared returns an error if other users of the machine could replace files in the data
// directory. Windows has no such permissions.
func refuseShared(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	return exit.Usage(fmt.Errorf("the data directory %s: others can write to it (mode %04o); make it private with: chmod 700 %s",
		path, info.Mode().Perm(), path))
}

// refuseOrphans returns an error if the directory has files but no metadata: a start would look
// like a first start. It checks the files before the metadata, since another process that creates
// both begins with the metadata.
func (s Stores) refuseOrphans(path string) error {
	folder, file := filepath.Join(path, "blobs"), filepath.Join(path, MetadataFile)
	if _, err := os.Lstat(filepath.Join(path, MoveFile)); err == nil {
		return fmt.Errorf("%w: a move into %s was interrupted; resume it with the same \"labshelf migrate\", or delete the files that it has left there", ErrNoMetadata, path)
	}
	if s.Metadata != "" {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return exit.Usage(fmt.Errorf("%s has metadata, but the configuration names a database for them: move them there with "+
				`"labshelf migrate", or use another directory with --data`, file))
		}
		return nil
	}
	if _, err := os.Lstat(folder); err != nil {
		return nil
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := backup.Incomplete(path); err != nil {
		return fmt.Errorf("%w: %w", ErrNoMetadata, err)
	}
	return fmt.Errorf("%w: %s exists, but %s does not; restore a backup to another directory with "+
		`"labshelf backup restore BACKUP --data NEWDIR", or use another directory with --data`, ErrNoMetadata, folder, file)
}

// refuseNoFiles returns an error if the metadata refer to files and the folder of all files is
// missing. Its disk might not be mounted: a service that created the folder again would hide that.
func (d *Dir) refuseNoFiles() error {
	folder, named := filepath.Join(d.Path, "blobs"), false
	if _, err := os.Lstat(folder); d.at.Blobs != "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := d.Metadata.View(context.Background(), func(tx *metadata.Tx) error {
		for _, err := range tx.Blobs.All(blobs.Digest{}) {
			named = true
			return err
		}
		return nil
	})
	if err != nil || !named {
		return err
	}
	names := filepath.Join(d.Path, MetadataFile)
	if d.file == nil {
		names = "the database"
	}
	return fmt.Errorf("%w: the metadata in %s refer to files, but %s does not exist; mount its disk, or put it back; if it is lost, restore the files from a backup with: "+
		"labshelf repair --from BACKUP --data %s", ErrNoFiles, names, folder, d.Path)
}

// Require returns an error unless the metadata are a file in the directory or are elsewhere: an
// exit.ErrUsage, or ErrNoMetadata.
func (s Stores) Require(data string) error {
	if info, err := os.Stat(data); err == nil && !info.IsDir() {
		return exit.Usage(fmt.Errorf("%s is a file; name a data directory with --data", data))
	}
	if err := s.refuseOrphans(data); err != nil || s.Metadata != "" {
		return err
	}
	if _, err := os.Stat(filepath.Join(data, MetadataFile)); errors.Is(err, fs.ErrNotExist) {
		return exit.Usage(fmt.Errorf("%s is not a data directory, since it contains no %s; name the right one with --data", data, MetadataFile))
	}
	return nil
}
