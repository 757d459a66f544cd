package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// ErrNoCopy tells that a file of an older version could not be copied before its upgrade. It was not changed.
var ErrNoCopy = errors.New("no copy of the metadata could be kept before they are brought to a newer version")

// Upgrade tells that Open has brought a file from an older version of the schema to the present one.
type Upgrade struct {
	From, To uint32
	Copy     string // path of the file as it was before
}

// Upgraded returns what Open has changed; nil: nothing.
func (s *Store) Upgraded() *Upgrade { return s.upgraded }

// upgrade brings the file to the last version that the steps lead to, and keeps a copy of it first: an older program refuses the file
// from then on.
func (s *Store) upgrade(version uint32, steps []migration) error {
	done := Upgrade{From: version, To: uint32(1 + len(steps))}
	var err error
	if done.Copy, err = freeName(fmt.Sprintf("%s.schema-%d", s.path, version)); err == nil {
		err = s.keepCopy(done.Copy)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoCopy, err)
	}
	for ; version < done.To; version++ {
		if err := migrate(s.db, steps[version-1], version+1); err != nil {
			return fmt.Errorf("bring to version %d: %w", version+1, err)
		}
	}
	s.upgraded = &done
	return nil
}

// freeName returns the path, with a number behind it where something is there already: the copy of an earlier upgrade stays.
func freeName(path string) (string, error) {
	for n, name := 2, path; ; n, name = n+1, fmt.Sprintf("%s.%d", path, n) {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// keepCopy writes a copy of the file to a path where nothing is, and returns when that is on stable storage.
func (s *Store) keepCopy(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+newMark) // which the next start removes
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
