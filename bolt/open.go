package bolt

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// What Open reports; it wraps them, with the cause for the log.
var (
	// ErrLocked: another process has the file open.
	ErrLocked = errors.New("the metadata file is in use by another process")
	// ErrTooNew: the file was written by a newer version of the program. It was not touched.
	ErrTooNew = errors.New("the metadata file is of a newer version")
	// ErrDamaged: the file is not, or no longer, a metadata file. It was not touched.
	ErrDamaged = errors.New("the metadata file is damaged")
)

// Options of a Store.
type Options struct {
	Now func() time.Time // the clock behind stamps; nil: the system's
}

// lockTimeout is how long Open waits for another process to end.
const lockTimeout = 2 * time.Second

// migration brings the contents of the file from one schema version to the next.
type migration func(*bbolt.Tx) error

// migrations lead from version 1, one by one, to the version that this program writes.
func migrations() []migration { return nil }

// newMark is in the name of a file that is being made: path, newMark, a random number.
const newMark = ".new-"

// Open opens the file at path, and makes it if there is none; its directory must exist. The caller closes the Store.
func Open(path string, options Options) (*Store, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("bolt: create %s: %w", path, err)
		}
	}
	s, err := open(path, options.Now, migrations())
	if err != nil {
		return nil, fmt.Errorf("bolt: open %s: %w", path, err)
	}
	return s, nil
}

func open(path string, now func() time.Time, steps []migration) (*Store, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	db, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s, err := load(db, now, steps)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	removeLeftovers(path)
	return s, nil
}

// openFile opens the file at path as bbolt does, but returns an error where bbolt panics. (Then the file stays mapped, and with
// that locked, until the process ends.)
func openFile(path string) (db *bbolt.DB, err error) {
	var file *os.File
	err = guarded(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, InitialMmapSize: mapped, NoStatistics: true,
			OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
				file, err = os.OpenFile(name, flag&^os.O_CREATE, mode)
				return file, err
			},
		})
		return err
	})
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, berrors.ErrTimeout):
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if closing := file.Close(); closing != nil && !errors.Is(closing, os.ErrClosed) && !errors.Is(closing, os.ErrInvalid) {
		err = errors.Join(err, closing)
	}
	return nil, err
}

// guarded runs fn, which reads a file that may be damaged in any way, and turns a panic or a fault into an ErrDamaged.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return fn()
}

// load reads what must be known before the first transaction. Nothing is written before the version is known to be right. What
// an earlier process has written may not have reached the disk, so the file is synced before anything in it counts.
func load(db *bbolt.DB, now func() time.Time, steps []migration) (*Store, error) {
	known, version := uint32(1+len(steps)), uint32(0)
	err := inspect(db, func(t *tx) (err error) {
		version, err = metaRow(t, schemaRow, schemaFields)
		return err
	})
	if err != nil {
		return nil, err
	}
	if version > known {
		return nil, fmt.Errorf("%w: %d, known is %d", ErrTooNew, version, known)
	}
	if err := db.Sync(); err != nil {
		return nil, fmt.Errorf("sync: %w", err)
	}
	for ; version < known; version++ {
		if err := migrate(db, steps[version-1], version+1); err != nil {
			return nil, fmt.Errorf("bring to version %d: %w", version+1, err)
		}
	}
	s := &Store{db: db}
	err = inspect(db, func(t *tx) error {
		last, err := metaRow(t, lastStampRow, lastStampFields)
		if err == nil {
			s.secret, err = metaRow(t, secretRow, secretFields)
		}
		for b := bucket(0); b < bucketCount && err == nil; b++ {
			if t.bolt.Bucket([]byte(b.String())) == nil {
				err = fmt.Errorf("%w: no bucket %s", ErrDamaged, b)
			}
		}
		if err == nil {
			s.committer = start(db, now, t.bolt.ID(), last)
		}
		return err
	})
	return s, err
}

// inspect runs fn in a read transaction of a file that may be damaged.
func inspect(db *bbolt.DB, fn func(*tx) error) error {
	return guarded(func() error {
		btx, err := db.Begin(false)
		if err != nil {
			return err
		}
		defer func() { _ = btx.Rollback() }()
		if btx.Bucket([]byte(metaBucket.String())) == nil {
			return fmt.Errorf("%w: it holds something else", ErrDamaged)
		}
		return fn(&tx{bolt: btx})
	})
}

func metaRow[T any](t *tx, row string, fields func(*codec, *T)) (v T, err error) {
	v, err = unseal(nameKey(row), t.bucket(metaBucket).Get(nameKey(row)), fields)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, row, err)
	}
	return v, err
}

func migrate(db *bbolt.DB, step migration, version uint32) error {
	return db.Update(func(btx *bbolt.Tx) error {
		if err := step(btx); err != nil {
			return err
		}
		t := &tx{bolt: btx}
		t.put(metaBucket, nameKey(schemaRow), seal(nameKey(schemaRow), schemaFields, version))
		return t.failed
	})
}

// create makes the file beside its place, and links it there when it is complete: a power cut while bbolt makes a file can
// leave one that it does not open again, and of two processes that start at once only one may win. (A rename would put one's
// file over that which the other has already opened; it serves where there are no hard links.)
func create(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newMark)
	if err != nil {
		return err
	}
	fresh := file.Name()
	err = errors.Join(file.Close(), fill(fresh))
	if err == nil {
		if err = os.Link(fresh, path); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			err = os.Rename(fresh, path)
		}
	}
	if _, made := os.Lstat(path); made == nil {
		err = nil // by the other process
	}
	if removing := os.Remove(fresh); !errors.Is(removing, fs.ErrNotExist) {
		err = errors.Join(err, removing)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// fill makes an empty file into a complete one without rows, and brings it to stable storage.
func fill(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(btx *bbolt.Tx) error {
		for _, b := range buckets {
			if _, err := btx.CreateBucket([]byte(b.name)); err != nil {
				return err
			}
		}
		t := &tx{bolt: btx}
		var secret [32]byte
		rand.Read(secret[:]) // never fails
		version := uint32(1 + len(migrations()))
		t.put(metaBucket, nameKey(schemaRow), seal(nameKey(schemaRow), schemaFields, version))
		t.put(metaBucket, nameKey(lastStampRow), seal(nameKey(lastStampRow), lastStampFields, 0))
		t.put(metaBucket, nameKey(secretRow), seal(nameKey(secretRow), secretFields, secret))
		return t.failed
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := db.Close(); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// removeLeftovers removes what a power cut in create has left. What it cannot remove now waits for the next start. (Where
// another process is making a file at this moment, it will find this one.)
func removeLeftovers(path string) {
	dir, prefix := filepath.Dir(path), filepath.Base(path)+newMark
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
