package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata/tables"
)

// Infixes of the names of temporary files in the directory of the metadata file. They follow the
// name of the metadata file and precede a random number.
const (
	newInfix      = ".new-"      // a file that is being created
	snapshotInfix = ".snapshot-" // a Snapshot
)

// create creates the file under a temporary name and links it to the path when it is complete. A
// power cut during the creation can leave a file that bbolt does not open again. If two processes
// start at the same time, only one may win. A rename would replace a file that the other process
// has already opened, so it is only used on file systems without hard links.
func create(path string, now func() time.Time) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newInfix)
	if err != nil {
		return err
	}
	fresh := file.Name()
	err = errors.Join(file.Close(), initialize(fresh, now))
	if err == nil {
		err = link(fresh, path)
	}
	if _, made := os.Lstat(path); made == nil {
		err = nil // this process or another one has created it
	}
	if removing := os.Remove(fresh); !errors.Is(removing, fs.ErrNotExist) {
		err = errors.Join(err, removing)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// link links a complete file to its path, unless a file exists there. Without hard links it
// replaces that file.
func link(fresh, path string) error {
	err := os.Link(fresh, path)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = os.Rename(fresh, path)
	}
	return err
}

// initialize turns an empty file into a complete one without rows, and syncs it.
func initialize(path string, now func() time.Time) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, // it is synced once, at the end
	})
	if err != nil {
		return err
	}
	err = db.Update(func(btx *bbolt.Tx) error {
		k := &kv{bolt: btx}
		return tables.Initialize(k, k, now)
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

// removeLeftovers removes the temporary files of a killed process. The next start tries again to
// remove the rest. If another process is creating a file in the meantime, it finds the complete
// one.
func removeLeftovers(path string) {
	dir, name := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, entry := range entries {
		for _, mark := range []string{newInfix, snapshotInfix} {
			if strings.HasPrefix(entry.Name(), name+mark) {
				_ = os.Remove(dir + entry.Name())
			}
		}
	}
}

// ErrNoCopy means that a file of an older schema could not be copied before its upgrade. The file
// is unchanged.
var ErrNoCopy = errors.New("the metadata could not be copied before the upgrade to a newer version")

// Upgrade describes the upgrade of a file of an older schema by Open.
type Upgrade struct {
	From, To uint32
	Copy     string // path of the copy of the old file
}

// Upgraded returns the upgrade that Open has performed, or nil.
func (s *Store) Upgraded() *Upgrade { return s.upgraded }

// upgrade runs the migrations from a version to the current one. It saves a copy of the file first,
// because an older program cannot open the upgraded file.
func (s *Store) upgrade(version uint32) error {
	done := Upgrade{From: version, To: tables.Schema}
	var err error
	if done.Copy, err = unusedPath(fmt.Sprintf("%s.schema-%d", s.path, version)); err == nil {
		err = s.saveCopy(done.Copy)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoCopy, err)
	}
	for ; version < done.To; version++ {
		err := s.db.Update(func(btx *bbolt.Tx) error {
			k := &kv{bolt: btx}
			return tables.Migrate(k, k, version)
		})
		if err != nil {
			return asDamagedFile(err)
		}
	}
	s.upgraded = &done
	return nil
}

// unusedPath returns the path, with a number appended if the path exists. So copies of earlier
// upgrades are kept.
func unusedPath(path string) (string, error) {
	for n, name := 2, path; ; n, name = n+1, fmt.Sprintf("%s.%d", path, n) {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// saveCopy writes a copy of the file to an unused path, and returns when the copy is on stable
// storage.
func (s *Store) saveCopy(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+newInfix) // the next start removes leftovers
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	err = s.db.View(func(btx *bbolt.Tx) error {
		_, err := btx.WriteTo(file)
		return err
	})
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
