package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// closedStore creates a file with users in it, and returns its path.
func closedStore(t testing.TB, names int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meta.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *metadata.Tx) error {
		for i := range names {
			if err := putUser(fmt.Sprintf("user-%05d", i))(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// inFile changes a closed file with bbolt directly.
func inFile(t testing.TB, path string, change func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestFirstOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "meta.db")
	leftover := path + newInfix + "123"
	if err := os.WriteFile(leftover, []byte("of a power cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret := s.Secret()
	if err := s.Update(t.Context(), putUser("anna")); err != nil {
		t.Error(err)
	}
	checkIntegrity(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("in the directory: %v, %v", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Secret() != secret || secret == [32]byte{} {
		t.Errorf("secret %x, then %x", secret, again.Secret())
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestConcurrentFirstOpen opens an empty directory several times concurrently. One call succeeds,
// and its file is kept.
func TestConcurrentFirstOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "meta.db")
	stores := make(chan *Store, 8)
	var all sync.WaitGroup
	for range cap(stores) {
		all.Go(func() {
			s, err := Open(path, Options{})
			switch {
			case err == nil:
				stores <- s
			case !errors.Is(err, ErrLocked):
				t.Errorf("the others: %v", err)
			}
		})
	}
	all.Wait()
	close(stores)
	if len(stores) != 1 {
		t.Fatalf("%d stores have the file open", len(stores))
	}
	s := <-stores
	if err := s.Update(t.Context(), putUser("anna")); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := usersIn(t, again); !slices.Equal(got, []string{"anna"}) {
		t.Errorf("users: %q", got)
	}
	checkIntegrity(t, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenWithoutDirectory(t *testing.T) {
	t.Parallel()
	if _, err := Open(filepath.Join(t.TempDir(), "none", "meta.db"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
}

func TestLocked(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	began := time.Now()
	if _, err := Open(s.db.Path(), Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("the second one: %v", err)
	}
	if waited := time.Since(began); waited > 2*lockTimeout {
		t.Errorf("waited %v", waited)
	}
	if err := s.Update(t.Context(), putUser("anna")); err != nil {
		t.Errorf("the first one: %v", err)
	}
	checkIntegrity(t, s)
}

// TestUnknownSchema tests that a file of a newer schema version, or of a version that is no longer
// migrated, is refused and stays unchanged.
func TestUnknownSchema(t *testing.T) {
	t.Parallel()
	for version, want := range map[uint32]error{tables.Schema + 1: ErrTooNew, tables.Oldest - 1: metadata.ErrTooOld} {
		path := closedStore(t, 3)
		inFile(t, path, func(tx *bbolt.Tx) error {
			meta := tx.Bucket([]byte("meta"))
			return errors.Join(meta.Delete([]byte("token secret")), meta.Put([]byte("schema"), sealedVersion(version)))
		})
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wantExamined(t, path, want)
		for _, readOnly := range []bool{false, true} {
			if _, err := Open(path, Options{ReadOnly: readOnly}); !errors.Is(err, want) {
				t.Errorf("open version %d, read only %v: %v", version, readOnly, err)
			}
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("the file of version %d has changed (%v)", version, err)
		}
	}
}

// sealedVersion returns the record of a schema version; see package tables.
func sealedVersion(version uint32) []byte {
	fields := binary.BigEndian.AppendUint32(nil, version)
	sum := crc32.Checksum(append([]byte("schema"), fields...), crc32.MakeTable(crc32.Castagnoli))
	return append(binary.BigEndian.AppendUint32([]byte{1}, sum), fields...)
}

// TestFailedMigration tests that a failed migration changes nothing, and that the next Open
// tries it again.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	path := olderFile(t)
	inFile(t, path, func(tx *bbolt.Tx) error { // a bucket that the migration creates
		_, err := tx.CreateBucket([]byte("usage_by_storer"))
		return err
	})
	if _, err := Open(path, Options{}); !errors.Is(err, berrors.ErrBucketExists) {
		t.Errorf("a failing migration: %v", err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte("usage_by_user")) == nil {
			t.Error("a part of the failed migration is stored")
		}
		return tx.DeleteBucket([]byte("usage_by_storer"))
	})
	for _, want := range []bool{true, false} { // the second Open has nothing to migrate
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (s.Upgraded() != nil) != want {
			t.Errorf("upgraded: %+v", s.Upgraded())
		}
		checkIntegrity(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStampsRiseAcrossRestarts opens the file with clocks that jump forwards and backwards.
func TestStampsRiseAcrossRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "meta.db")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var last metadata.Stamp
	for i, by := range []time.Duration{0, -24 * time.Hour, 0, 48 * time.Hour, -time.Microsecond, 0} {
		at = at.Add(by)
		now := at
		s, err := Open(path, Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if behind, want := s.Health().ClockBehind, time.Duration(max(0, int64(last)-now.UnixMicro()))*time.Microsecond; behind != want {
			t.Errorf("start %d: the clock is %v behind, want %v", i, behind, want)
		}
		for range 3 {
			err := s.Update(t.Context(), func(tx *metadata.Tx) error {
				stamp := tx.Stamp()
				if want := metadata.NextStamp(last, now); stamp != want {
					t.Errorf("start %d: stamp %d after %d, want %d", i, stamp, last, want)
				}
				last = stamp
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		checkIntegrity(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
