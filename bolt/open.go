package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

	// ReadOnly shares the file with others who only read it, and writes nothing: no file is made or brought to the present
	// schema, leftovers stay, every change is refused with metadata.ErrReadOnly. What an older schema lacks is empty.
	ReadOnly bool

	// Watch hears of each commit once its outcome is known, just before those who wait for it do. It is called from one
	// goroutine, that of all commits, and must return at once. nil: nobody hears, and nothing is measured.
	Watch func(Commit)
}

// lockTimeout is how long Open waits for another process to end.
const lockTimeout = 2 * time.Second

// migration brings the contents of the file from one schema version to the next.
type migration func(*bbolt.Tx) error

// migrations lead from version 1, one by one, to the version that this program writes.
func migrations() []migration {
	return []migration{
		func(btx *bbolt.Tx) error { return addBuckets(btx, 2) },
		func(btx *bbolt.Tx) error { return addBuckets(btx, 3) },
		func(btx *bbolt.Tx) error { return addBuckets(btx, 4) },
		func(btx *bbolt.Tx) error { return addBuckets(btx, 5) },
		addEpoch,
		func(btx *bbolt.Tx) error { return addBuckets(btx, 7) },
	}
}

// addBuckets makes the buckets that a version brings.
func addBuckets(btx *bbolt.Tx, version uint32) error {
	for _, b := range buckets {
		if b.since != version {
			continue
		}
		if _, err := btx.CreateBucket([]byte(b.name)); err != nil {
			return err
		}
	}
	return nil
}

// Open opens the file at path, and makes it if there is none; its directory must exist. The caller closes the Store.
func Open(path string, options Options) (*Store, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !options.ReadOnly {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("bolt: create %s: %w", path, err)
		}
	}
	s, err := open(path, options, migrations())
	if err != nil {
		return nil, fmt.Errorf("bolt: open %s: %w", path, err)
	}
	return s, nil
}

func open(path string, options Options, steps []migration) (*Store, error) {
	alone, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	s, err := openWhole(path, options, uint32(1+len(steps)))
	if err != nil {
		return nil, err
	}
	if alone {
		s.suspect = errAlone
	}
	if err := s.load(options, steps); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if !options.ReadOnly {
		removeLeftovers(path)
	}
	return s, nil
}

// openWhole opens the file once it has been examined. On Windows bbolt makes a file longer as soon as it is opened for writing, so
// whatever Open refuses a file for is found before that.
func openWhole(path string, options Options, known uint32) (*Store, error) {
	examined, err := examine(path, known)
	if err != nil || options.ReadOnly {
		return examined, err
	}
	if err := examined.db.Close(); err != nil {
		return nil, err
	}
	s, err := openFile(path, false)
	if err != nil {
		return nil, err
	}
	if err := s.inPlace(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// examine opens the file for reading, while nobody can write it, and looks at its pages before bbolt reads more of them than the meta
// pages, then at the rows that every start needs. It returns an ErrDamaged or an ErrTooNew if the file cannot be used by a program that
// knows versions up to known.
func examine(path string, known uint32) (*Store, error) {
	s, err := openFile(path, true)
	if err != nil {
		return nil, err
	}
	err = s.checkTrees()
	if err == nil {
		err = inspect(s.db, func(t *tx) error {
			_, err := s.readRows(t, known)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// inPlace returns an ErrLocked if another file is in the place of the one that is open, which was replaced while this waited for
// its lock or since then, and another error if there is none: nobody would find again what is written to it.
func (s *Store) inPlace() error {
	there, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("the metadata file is no longer in its place: %w", errors.Unwrap(err)) // without the path
	}
	if !os.SameFile(s.info, there) {
		return fmt.Errorf("%w: another file is in its place", ErrLocked)
	}
	return nil
}

// openFile opens the file at path as bbolt does, but returns an error where bbolt panics. (Then the file stays mapped, and with
// that locked, until the process ends.)
func openFile(path string, readOnly bool) (*Store, error) {
	s := &Store{path: path}
	err := asDamagedFile(guarded(func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, InitialMmapSize: mapped, ReadOnly: readOnly,
			NoFreelistSync: true, // so that opening writes nothing; see freelist.go
			OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
				if s.file, err = os.OpenFile(name, flag&^os.O_CREATE, mode); err == nil {
					s.info, err = s.file.Stat()
				}
				return s.file, err
			},
		})
		return err
	}))
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, berrors.ErrTimeout):
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if closing := s.file.Close(); closing != nil && !errors.Is(closing, os.ErrClosed) && !errors.Is(closing, os.ErrInvalid) {
		err = errors.Join(err, closing)
	}
	return nil, err
}

// load prepares the store for its first transaction. Nothing is written before the version is known to be right. What an earlier
// process has written may not have reached the disk, so the file is synced before anything in it counts.
func (s *Store) load(options Options, steps []migration) error {
	known, version := uint32(1+len(steps)), uint32(0)
	err := inspect(s.db, func(t *tx) (err error) {
		version, err = s.readRows(t, known)
		return err
	})
	if err != nil {
		return err
	}
	if !options.ReadOnly {
		if err := s.db.Sync(); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		if version < known {
			if err := s.upgrade(version, steps); err != nil {
				return err
			}
			version = known
		}
	}
	return inspect(s.db, func(t *tx) error {
		_, err := s.readRows(t, known)
		if err == nil {
			s.committer, err = start(s, options, t)
		}
		return err
	})
}

// readRows reads what must be known before the first transaction, and returns the version of the file.
func (s *Store) readRows(t *tx, known uint32) (version uint32, err error) {
	if t.bucket(metaBucket) == nil {
		return 0, fmt.Errorf("%w: it holds something else", ErrDamaged)
	}
	if version, err = metaRow(t, schemaRow, schemaFields); err != nil {
		return 0, err
	}
	if version > known {
		return 0, fmt.Errorf("%w: %d, known is %d", ErrTooNew, version, known)
	}
	t.last, err = metaRow(t, lastStampRow, lastStampFields)
	if err == nil {
		s.secret, err = metaRow(t, secretRow, secretFields)
	}
	if err == nil && version >= epochVersion {
		_, err = metaRow(t, epochRow, epochFields)
	}
	for b := bucket(0); b < bucketCount && err == nil; b++ {
		if t.bucket(b) == nil && buckets[b].since <= version {
			err = fmt.Errorf("%w: no bucket %s", ErrDamaged, b)
		}
	}
	if err == nil {
		t.held, err = bodies{t}.Total()
	}
	return version, err
}

// inspect runs fn in a read transaction of a file that may be damaged.
func inspect(db *bbolt.DB, fn func(*tx) error) error {
	return asDamagedFile(guarded(func() error {
		btx, err := db.Begin(false)
		if err != nil {
			return err
		}
		defer func() { _ = btx.Rollback() }()
		return fn(&tx{bolt: btx})
	}))
}

func metaRow[T any](t *tx, row string, fields func(*codec, *T)) (v T, err error) {
	v, err = unseal(nameKey(row), t.get(metaBucket, nameKey(row)), fields)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, row, err)
	}
	return v, err
}
