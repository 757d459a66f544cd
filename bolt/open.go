package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"labshelf/bolt/fsck"
	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/metadata/tables"
)

// Errors of Open. It wraps them with the cause, for the log.
var (
	// ErrLocked means that another process has the file open.
	ErrLocked = errors.New("the metadata file is in use by another process")
	// ErrTooNew means that a newer version of the program wrote the file. The file is unchanged.
	ErrTooNew = metadata.ErrTooNew
	// ErrDamaged means that the file is not a valid metadata file. The file is unchanged.
	ErrDamaged = fsck.ErrDamaged
)

// Options configure a Store.
type Options struct {
	Now func() time.Time // clock of stamps; nil: the system clock

	// ReadOnly shares the file with other readers and writes nothing. No file is created or
	// upgraded, leftovers stay, and every change returns metadata.ErrReadOnly. Tables that an older
	// schema lacks are empty.
	ReadOnly bool

	// Observe is called with each commit when its outcome is known, just before the waiting callers
	// are answered. All calls come from the goroutine of the commits, so it must return
	// immediately. If nil, nothing is measured.
	Observe func(groupcommit.Commit)
}

// errAlone means that only one of the two meta pages, which hold the last two states, is valid. A
// power cut may leave an invalid page of an unacknowledged commit. A damaged disk may leave one of
// the last acknowledged commit.
var errAlone = errors.New("one of the two meta pages of the metadata file was invalid at the start: a power failure can leave this, " +
	"or the last change before it is missing")

// lockTimeout limits how long Open waits for another process to end.
const lockTimeout = 2 * time.Second

// Open opens the file at path, and creates it if it is missing. The directory must exist. The
// caller closes the Store.
func Open(path string, options Options) (*Store, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !options.ReadOnly {
		if err := create(path, options.Now); err != nil {
			return nil, fmt.Errorf("bolt: create %s: %w", path, err)
		}
	}
	s, err := open(path, options)
	if err != nil {
		return nil, fmt.Errorf("bolt: open %s: %w", path, err)
	}
	return s, nil
}

func open(path string, options Options) (*Store, error) {
	meta, err := fsck.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := openExamined(path, options)
	if err != nil {
		return nil, err
	}
	if meta.Alone {
		s.suspect = errAlone
	}
	if err := s.load(options); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if !options.ReadOnly {
		removeLeftovers(path)
	}
	return s, nil
}

// openExamined examines the file and opens it. On Windows bbolt extends a file as soon as it is
// opened for writing, so all reasons to refuse the file must be found before that.
func openExamined(path string, options Options) (*Store, error) {
	examined, err := examine(path)
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
	if err := s.checkPath(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// examine opens the file for reading, while no process can write it. It checks its pages before
// bbolt reads more than the meta pages, then the rows that every start needs. It returns ErrDamaged
// or the errors of tables.ReadHeader if the file cannot be used.
func examine(path string) (*Store, error) {
	s, err := openFile(path, true)
	if err != nil {
		return nil, err
	}
	err = inspect(s.db, func(k *kv) error {
		meta, err := fsck.TxMeta(k.bolt)
		if err != nil {
			return err
		}
		return fsck.Quick(s.file, meta)
	})
	if err == nil {
		err = inspect(s.db, func(k *kv) error {
			_, err := tables.ReadHeader(k)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// checkPath returns ErrLocked if another file is at the path of the open file, which was replaced
// while this process waited for its lock or later. If no file is there, it returns another error.
// In both cases, writes to the open file would be lost.
func (s *Store) checkPath() error {
	there, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("the metadata file is no longer in its place: %w", errors.Unwrap(err)) // without the path
	}
	if !os.SameFile(s.info, there) {
		return fmt.Errorf("%w: another file is in its place", ErrLocked)
	}
	return nil
}

// openFile opens the file at path with bbolt, and returns an error if bbolt panics. After a panic
// the file stays mapped, and with that locked, until the process ends.
func openFile(path string, readOnly bool) (*Store, error) {
	s := &Store{path: path}
	err := asDamagedFile(catchFault(func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, InitialMmapSize: initialMmapSize, ReadOnly: readOnly,
			NoFreelistSync: true, // opening writes nothing; see freelist.go
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

// load prepares the store for its first transaction. It writes nothing before it has checked the
// schema version. Writes of an earlier process might not be on stable storage, so load syncs the
// file before it uses any of them.
func (s *Store) load(options Options) error {
	var header tables.Header
	read := func(k *kv) (err error) {
		header, err = tables.ReadHeader(k)
		return err
	}
	if err := inspect(s.db, read); err != nil {
		return err
	}
	if !options.ReadOnly {
		if err := s.db.Sync(); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		if header.Schema < tables.Schema {
			if err := s.upgrade(header.Schema); err != nil {
				return err
			}
		}
	}
	return inspect(s.db, func(k *kv) error {
		err := read(k)
		if err == nil {
			s.secret = header.Secret
			s.committer, err = start(s, options, k.bolt, header.State)
		}
		return err
	})
}

// inspect runs fn in a read transaction of a file that may be damaged.
func inspect(db *bbolt.DB, fn func(*kv) error) error {
	return asDamagedFile(catchFault(func() error {
		btx, err := db.Begin(false)
		if err != nil {
			return err
		}
		defer func() { _ = btx.Rollback() }()
		return fn(&kv{bolt: btx})
	}))
}
