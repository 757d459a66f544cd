package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
	"labshelf/bolt/fsck"
	"labshelf/bolt/fsck/fscktest"
	"labshelf/metadata"
)

// grownFile returns the used bytes of a file with branches, leaves, inline buckets, rows over
// several pages and free pages.
func grownFile(t testing.TB) []byte {
	t.Helper()
	path := closedStore(t, 400)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			stamp := tx.Stamp()
			r := metadata.Resource{
				Record: metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp},
				Name:   fmt.Sprint("map-", i), Description: strings.Repeat("d", 1000*(i%20)), Digest: blobs.Digest{byte(i)},
			}
			return errors.Join(tx.Resources.Put(r), tx.Blobs.Put(blobs.Blob{Digest: r.Digest, Size: 9}), tx.Damages.Put(metadata.Damage{Digest: r.Digest}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return used(t, path)
}

// used returns the used part of a file.
func used(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fscktest.Used(file)
}

// TestInspectFindsEveryFlip flips bits in all parts of the file. The file must be refused, or
// Inspect must report a violation, or the flip changed a separator key between two pages without
// changing any result. No read may panic.
func TestInspectFindsEveryFlip(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	all, _ := fscktest.Contents(file)
	flips := 500
	if testing.Short() {
		flips = 100
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	if err := os.WriteFile(sound, file, 0o600); err != nil {
		t.Fatal(err)
	}
	want := everyRow(t, sound)
	for n := range flips {
		at, bit := all[random.IntN(len(all))], byte(1)<<random.IntN(8)
		damaged := bytes.Clone(file)
		damaged[at] ^= bit
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		separator := fsck.Page(file[at/os.Getpagesize()*os.Getpagesize():]).Header().Flags == fsck.BranchPage
		if found := lookInto(t, path); len(found) == 0 && !(separator && everyRow(t, path) == want) {
			t.Errorf("bit %#x of byte %d of page %d: no violation found", bit, at%os.Getpagesize(), at/os.Getpagesize())
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// everyRow returns a digest of all keys and values, read without the store.
func everyRow(t testing.TB, path string) [sha256.Size]byte {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	sum := sha256.New()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			_, _ = fmt.Fprintf(sum, "%q\n", name) // a hash never fails
			return b.ForEach(func(k, v []byte) error { _, err := fmt.Fprintf(sum, "%x %x\n", k, v); return err })
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// lookInto opens a possibly damaged file for reading, and returns the violations.
func lookInto(t testing.TB, path string) (found []string) {
	t.Helper()
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("open: %v", err)
		}
		return []string{err.Error()}
	}
	if err := s.Inspect(t.Context(), func(v metadata.Violation) { found = append(found, v.String()) }); err != nil {
		t.Errorf("inspect: %v, after %q", err, found)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return found
}

// TestPagesInCirclesRefused makes a branch page point to itself, and back to the root. bbolt would
// loop forever.
func TestPagesInCirclesRefused(t *testing.T) {
	t.Parallel()
	circles := 0
	for what, damaged := range fscktest.Circles(grownFile(t)) {
		circles++
		path := filepath.Join(t.TempDir(), "meta.db")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: open: %v", what, err)
		}
	}
	if circles == 0 {
		t.Error("the file has no branches")
	}
}

// TestInspectWhileOthersWrite tests that Inspect finds nothing during concurrent writes.
func TestInspectWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ended := make(chan error, 1)
	var wrote atomic.Bool
	go func() {
		var err error
		for i := 0; i < 300 && err == nil; i++ {
			err = s.Update(context.WithoutCancel(t.Context()), func(tx *metadata.Tx) error {
				digest := blobs.Digest{byte(i), byte(i % 7)}
				return errors.Join(putUser(fmt.Sprint("user-", i))(tx), tx.Blobs.Put(blobs.Blob{Digest: digest, Size: 9}), tx.Blobs.Remove(blobs.Digest{byte(i - 50)}))
			})
		}
		wrote.Store(true)
		ended <- err
	}()
	for !wrote.Load() {
		if err := s.Inspect(t.Context(), func(v metadata.Violation) { t.Errorf("violation: %v", v) }); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	checkIntegrity(t, s)
}

// TestPagesFilledToTheLastByte tests that a row that ends exactly at the end of a page uses no
// further page.
func TestPagesFilledToTheLastByte(t *testing.T) {
	t.Parallel()
	pageSize := os.Getpagesize()
	key := metadata.VersionKey{Resource: metadata.ID{15: 1}}
	const keyBytes, recordHeader = 20, 5 // the resource and 4 bytes of the version; see package tables
	for pages := 1; pages <= 3; pages++ {
		for _, less := range []int{1, 0, -1} {
			s := openStore(t)
			body := make([]byte, pages*pageSize-fsck.PageHeader-fsck.EntrySize-keyBytes-recordHeader-less)
			if err := s.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Put(key, body) }); err != nil {
				t.Fatal(err)
			}
			checkIntegrity(t, s)
		}
	}
}
