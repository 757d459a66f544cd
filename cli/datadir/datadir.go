// Package datadir finds, makes, locks and opens the data directory of a service, and says what to
// do where that fails.
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
	"labshelf/bolt"
	"labshelf/cli/exit"
	"labshelf/cli/server/metrics"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// The files in a data directory. There may be a configuration file, too; the folders are those of
// package blobs.
const (
	MetadataFile = "meta.db"
	MoveFile     = "migration.db"      // what a move into the directory goes on from when it was interrupted
	LockFile     = "node.lock"         // locked by the process that has a directory without MetadataFile
	HolderFile   = "server.pid"        // which process runs the service, for people
	KeyFile      = "initial-admin.key" // the key that the first start made
	IndexFolder  = "index"             // of the search: a cache, which is in no backup and is made anew where it is missing
)

// ClockTolerance is how far the clock may be behind the last stamp without a warning: leap seconds
// and corrections.
const ClockTolerance = time.Minute

// What is wrong with a data directory that does not open; its stores report what is wrong with
// them.
var (
	ErrInUse      = errors.New("the data directory is in use by another process")
	ErrNoMetadata = errors.New("the metadata file is missing")
	ErrNoFiles    = errors.New("the folder of all files is missing")
)

// Dir is an open data directory, with its stores, which may be elsewhere. A lock keeps other
// processes out of the directory.
type Dir struct {
	Path     string // absolute
	Metadata metadata.Store
	Blobs    blobs.Store

	at       Stores
	readOnly bool
	now      func() time.Time // by which the metadata date changes
	file     *bolt.Store      // the metadata where they are a file in the directory; nil: they are elsewhere
	folder   *blobs.Dir       // the blobs where they are folders in the directory; nil: they are elsewhere
	closers  []func() error
}

// Open opens a data directory and makes what is missing of it. Metadata that are older than the
// files get a new epoch, as in a service. The caller closes it. Errors: those of OpenMeasured.
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

// OpenMeasured opens a data directory for a service, which settles the epoch by itself; measured
// may be nil. The caller closes it. Errors: ErrInUse, ErrNoMetadata, ErrNoFiles, those of bolt.Open
// with what to do about them, exit.ErrUsage for permissions.
func OpenMeasured(path string, at Stores, measured *metrics.Metrics) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	err = blobs.OS{}.MkdirAll(path)
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
	return d.openBlobs(func() (*blobs.Dir, error) { return blobs.OpenDir(d.Path, measured.Disk(blobs.OS{})) })
}

// OpenReadOnly opens what is there of a data directory whose service is stopped, and changes
// nothing in it or in its stores. The caller closes it. Errors: those of Require and OpenMeasured.
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
		err = data.openBlobs(func() (*blobs.Dir, error) { return blobs.OpenDirReadOnly(path) })
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return data, nil
}

// Close closes the stores and gives up the lock.
func (d *Dir) Close() (err error) {
	for _, closer := range slices.Backward(d.closers) {
		err = errors.Join(err, closer())
	}
	return err
}

// refuseShared returns an error where other users of the machine could replace what is in the data
// directory. (Windows keeps no such permissions.)
func refuseShared(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	return exit.Usage(fmt.Errorf("the data directory %s: others can write to it (mode %04o); make it yours alone with: chmod 700 %s",
		path, info.Mode().Perm(), path))
}

// refuseOrphans returns an error where there are files without the metadata that say whose they
// are: going on would look like a first start. The folder is looked at first, since another process
// that makes both begins with the metadata.
func (s Stores) refuseOrphans(path string) error {
	folder, file := filepath.Join(path, "blobs"), filepath.Join(path, MetadataFile)
	if _, err := os.Lstat(filepath.Join(path, MoveFile)); err == nil {
		return fmt.Errorf("%w: a move into %s was interrupted; go on with the same \"labshelf migrate\", or delete what it has left there", ErrNoMetadata, path)
	}
	if s.Metadata != "" {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return exit.Usage(fmt.Errorf("%s has metadata, and the configuration names a database for them: move them there with "+
				`"labshelf migrate", or take another directory with --data`, file))
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
	return fmt.Errorf("%w: there is %s, but not %s; restore a backup to another directory with "+
		`"labshelf backup restore BACKUP --data NEWDIR", or take another one with --data`, ErrNoMetadata, folder, file)
}

// refuseNoFiles returns an error where the metadata name files and the folder that holds all of
// them is missing: it may be a disk that is not mounted, and a service that made the folder anew
// would say that all is well.
func (d *Dir) refuseNoFiles() error {
	folder, named := filepath.Join(d.Path, "blobs"), false
	if _, err := os.Lstat(folder); d.at.Blobs != "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := d.Metadata.View(context.Background(), func(tx *metadata.Tx) error {
		for _, err := range tx.Blobs.All(nil) {
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
	return fmt.Errorf("%w: %s names files, but there is no %s; mount it, or put it back; if it is lost, bring the files back from a backup with: "+
		"labshelf repair --from BACKUP --data %s", ErrNoFiles, names, folder, d.Path)
}

// Require returns an error unless there is a metadata file in the directory, or the metadata are
// elsewhere: an exit.ErrUsage, or ErrNoMetadata.
func (s Stores) Require(data string) error {
	if info, err := os.Stat(data); err == nil && !info.IsDir() {
		return exit.Usage(fmt.Errorf("%s is a file; name a data directory with --data", data))
	}
	if err := s.refuseOrphans(data); err != nil || s.Metadata != "" {
		return err
	}
	if _, err := os.Stat(filepath.Join(data, MetadataFile)); errors.Is(err, fs.ErrNotExist) {
		return exit.Usage(fmt.Errorf("%s is no data directory: there is no %s; name the right one with --data", data, MetadataFile))
	}
	return nil
}
