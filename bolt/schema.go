package bolt

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// What follows the name of the metadata file in that of a temporary file in the same directory, before a random number.
const (
	newInfix      = ".new-"      // of a file that is being made
	snapshotInfix = ".snapshot-" // of a Snapshot
)

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
		func(btx *bbolt.Tx) error { return addBuckets(btx, 8) },
		steps(mergeRefs, func(btx *bbolt.Tx) error { return addBuckets(btx, 9) }, beginLog),
		func(btx *bbolt.Tx) error { return addBuckets(btx, 10) },
		func(btx *bbolt.Tx) error { return addBuckets(btx, 11) },
		steps(func(btx *bbolt.Tx) error { return addBuckets(btx, 12) }, countUsers),
	}
}

// steps is several migrations, one after the other.
func steps(all ...migration) migration {
	return func(btx *bbolt.Tx) error {
		for _, step := range all {
			if err := step(btx); err != nil {
				return err
			}
		}
		return nil
	}
}

// refsVersion is the schema version since which the references of former versions are among those of the present ones.
const refsVersion = 9

// mergeRefs moves the references of former versions among those of the present ones.
func mergeRefs(btx *bbolt.Tx) error {
	t := &tx{bolt: btx}
	for key := range t.walk(versionRefs, span{}) {
		t.put(blobRefs, key, nil)
	}
	if t.failed != nil {
		return t.failed
	}
	return btx.DeleteBucket([]byte(versionRefs.String()))
}

// countUsers counts what users use.
func countUsers(btx *bbolt.Tx) error {
	t := &tx{bolt: btx}
	used := map[metadata.ID]int64{}
	for r, err := range resourceTable.all(t, span{}) {
		if err != nil {
			return err
		}
		if r.Body != metadata.Purged {
			used[r.CreatedBy] += r.Bytes
		}
	}
	for v, err := range versionTable.all(t, span{}) {
		if err != nil {
			return err
		}
		if v.Body == metadata.Purged {
			continue
		}
		r, err := resourceTable.get(t, idKey(v.ResourceID))
		if err != nil {
			return err
		}
		used[r.CreatedBy] += v.Bytes
	}
	for user, bytes := range used {
		t.put(usageByUser, idKey(user), seal(idKey(user), userUsageFields, metadata.UserUsage{UserID: user, Bytes: bytes}))
	}
	return t.failed
}

// addBuckets makes the buckets that a schema version adds.
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

// create makes the file under a temporary name and links it to the path when it is complete: a power cut while bbolt makes a file can
// leave one that it does not open again, and of two processes that start at once only one may win. A rename would replace the file that
// the other process has already opened; it is used where there are no hard links.
func create(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newInfix)
	if err != nil {
		return err
	}
	fresh := file.Name()
	err = errors.Join(file.Close(), initialize(fresh))
	if err == nil {
		if err = os.Link(fresh, path); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			err = os.Rename(fresh, path)
		}
	}
	if _, made := os.Lstat(path); made == nil {
		err = nil // this process or another one has made it
	}
	if removing := os.Remove(fresh); !errors.Is(removing, fs.ErrNotExist) {
		err = errors.Join(err, removing)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

// initialize makes an empty file into a complete one without rows, and syncs it.
func initialize(path string) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, // it is synced once, at the end
	})
	if err != nil {
		return err
	}
	newest := uint32(1 + len(migrations()))
	err = db.Update(func(btx *bbolt.Tx) error {
		for b := range bucketCount {
			if !b.isIn(newest) {
				continue
			}
			if _, err := btx.CreateBucket([]byte(b.String())); err != nil {
				return err
			}
		}
		t := &tx{bolt: btx}
		var secret [32]byte
		rand.Read(secret[:]) // never fails
		putMetaRow(t, schemaRow, schemaFields, newest)
		putMetaRow(t, lastStampRow, lastStampFields, 0)
		putMetaRow(t, secretRow, secretFields, secret)
		if t.failed != nil {
			return t.failed
		}
		return steps(addEpoch, beginLog)(btx)
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

// removeLeftovers removes the temporary files of a process that was killed. What it cannot remove now is left to the next start. A
// process that is making a file at this moment finds the complete one.
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

// ErrNoCopy says that a file of an older schema could not be copied before its upgrade. It was not changed.
var ErrNoCopy = errors.New("no copy of the metadata could be kept before they are brought to a newer version")

// Upgrade is what Open has done to a file of an older schema.
type Upgrade struct {
	From, To uint32
	Copy     string // path of the file as it was before
}

// Upgraded returns the upgrade that Open has made; nil: none was needed.
func (s *Store) Upgraded() *Upgrade { return s.upgraded }

// upgrade runs the migrations from a version to the present one, and saves a copy of the file first: an older program refuses the file
// after that.
func (s *Store) upgrade(version uint32, steps []migration) error {
	done := Upgrade{From: version, To: uint32(1 + len(steps))}
	var err error
	if done.Copy, err = unusedPath(fmt.Sprintf("%s.schema-%d", s.path, version)); err == nil {
		err = s.saveCopy(done.Copy)
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

// unusedPath returns the path, with a number appended if there is a file already: the copy of an earlier upgrade stays.
func unusedPath(path string) (string, error) {
	for n, name := 2, path; ; n, name = n+1, fmt.Sprintf("%s.%d", path, n) {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// saveCopy writes a copy of the file to an unused path, and returns when it is on stable storage.
func (s *Store) saveCopy(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+newInfix) // which the next start removes
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
		putMetaRow(t, schemaRow, schemaFields, version)
		return t.failed
	})
}
