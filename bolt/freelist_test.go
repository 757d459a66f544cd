package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/bolt/fsck"
	"labshelf/metadata"
)

// listed reports whether the file contains the list of free pages.
func listed(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	meta, ok := fsck.ReadMeta(file)
	if !ok {
		t.Fatal("no valid meta page")
	}
	return meta.Freelist != fsck.NoFreelist
}

// fragmented opens a store that omits a free list of more than this many pages, and frees many
// pages in it.
func fragmented(t *testing.T, long int, quiet time.Duration) (s *Store, names []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meta.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	release := block(t, s)
	s.committer.free.long, s.committer.free.idle = long, quiet
	release()
	const rows = 2_000
	write := func(fn func(tx *metadata.Tx, n int) error) {
		t.Helper()
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			for n := range rows {
				if err := fn(tx, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	container := func(n int) metadata.ID { return metadata.ID{14: byte(n >> 8), 15: byte(n)} }
	write(func(tx *metadata.Tx, n int) error { return tx.Cascades.Put(metadata.Cascade{Container: container(n)}) })
	write(func(tx *metadata.Tx, n int) error {
		if n%8 == 0 { // so that the tree keeps a branch
			return nil
		}
		return tx.Cascades.Remove(container(n))
	})
	for n := range 3 {
		name := fmt.Sprint("user-", n)
		if err := s.Update(t.Context(), putUser(name)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	stats, err := s.Stats()
	if err != nil || stats.FreePages < 20 {
		t.Fatalf("%d free pages, %v: too few for this test", stats.FreePages, err)
	}
	return s, names
}

// crashed returns the path of a copy of the store's file in its current state, as after a kill.
func crashed(t *testing.T, s *Store) (path string) {
	t.Helper()
	content, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "meta.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFreeListOnDisk tests that a short list is always in the file. Commits omit a long list, which
// is written after an idle time and before the file is closed.
func TestFreeListOnDisk(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		long   int
		quiet  time.Duration
		during bool // the file has the list after the last commit
	}{
		"short":           {10_000, time.Hour, true},
		"long":            {10, time.Hour, false},
		"long, and quiet": {10, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { listOnDisk(t, tc.long, tc.quiet, tc.during) })
		})
	}
}

func listOnDisk(t *testing.T, long int, quiet time.Duration, during bool) {
	s, _ := fragmented(t, long, quiet)
	time.Sleep(time.Minute) // of the bubble
	synctest.Wait()
	if got := listed(t, s.path); got != during {
		t.Errorf("the list is in the file: %v, want %v", got, during)
	}
	if err := s.ViewDurable(t.Context(), func(*metadata.Tx) error { return nil }); err != nil {
		t.Errorf("a durable view: %v", err)
	}
	checkIntegrity(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !listed(t, s.path) {
		t.Error("the list is not in the closed file")
	}
}

// TestFreeListOnFullDisk tests that after a failed commit, bbolt searches the whole file for free
// pages if their list was omitted. The next failed commit does not repeat this.
func TestFreeListOnFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, listOnFullDisk)
}

func listOnFullDisk(t *testing.T) {
	s, names := fragmented(t, 10, time.Hour)
	release := block(t, s)
	full := true
	s.committer.commit = func(btx *bbolt.Tx) error {
		if full {
			full = false
			return sysNoSpace
		}
		return btx.Commit()
	}
	release()
	if err := s.Update(t.Context(), putUser("refused")); !errors.Is(err, metadata.ErrNoSpace) {
		t.Errorf("on a full disk: %v", err)
	}
	synctest.Wait() // the list is written after Update has returned
	if !listed(t, s.path) {
		t.Fatal("the list is not in the file")
	}
	if got := usersIn(t, s); !slices.Equal(got, names) {
		t.Errorf("users: %q, want %q", got, names)
	}
	checkIntegrity(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashWithoutFreeList opens the file of a killed process whose list was omitted. All rows must
// exist, every page must be used or free, and the list must be written again later.
func TestCrashWithoutFreeList(t *testing.T) {
	t.Parallel()
	s, names := fragmented(t, 10, time.Hour)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	path := crashed(t, s)
	if listed(t, path) {
		t.Fatal("the list was not omitted")
	}
	before, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}

	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if listed(t, path) {
		t.Error("opening wrote to the file")
	}
	after, err := again.Stats()
	if err != nil || after.FreePages != before.FreePages {
		t.Errorf("%d free pages, %v; want %d", after.FreePages, err, before.FreePages)
	}
	if got := usersIn(t, again); fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("users: %q, want %q", got, names)
	}
	if err := again.Update(t.Context(), putUser("later")); err != nil {
		t.Error(err)
	}
	checkIntegrity(t, again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if !listed(t, path) {
		t.Error("the list is not in the closed file")
	}
}

// TestDamageWithoutFreeList flips bits in such a file. bbolt then reads all pages. No damage may
// end the program: the file opens unchanged, or is refused.
func TestDamageWithoutFreeList(t *testing.T) {
	t.Parallel()
	s, _ := fragmented(t, 10, time.Hour)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	pageSize, refused := os.Getpagesize(), 0
	whole, err := os.ReadFile(crashed(t, s))
	if err != nil {
		t.Fatal(err)
	}
	meta, _ := fsck.ReadMeta(bytes.NewReader(whole))
	whole = whole[:meta.Past*uint64(pageSize)]    // the file grows in steps of 16 MiB
	path := filepath.Join(t.TempDir(), "meta.db") // one path for all copies, because each file grows by 16 MiB
	for at := 2 * pageSize; at < len(whole); at++ {
		if !slices.Contains([]int{9, 11, 23, 27}, at%pageSize) { // bits of the flags, of the number of entries, and of the first entry's offset
			continue
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x80
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, damaged, 0o600)); err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, Options{})
		if err != nil {
			refused++
			continue
		}
		_ = again.Close() // its error does not matter here
	}
	if refused == 0 {
		t.Error("the test found no damage")
	}
}

// TestFreeListKeepsInlineCount tests that the commit that writes the list preserves the count of
// inline bodies.
func TestFreeListKeepsInlineCount(t *testing.T) {
	t.Parallel()
	s, _ := fragmented(t, 10, time.Hour)
	key := metadata.VersionKey{Resource: metadata.ID{15: 1}}
	if err := s.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Put(key, []byte("body")) }); err != nil {
		t.Fatal(err)
	}
	if listed(t, s.path) {
		t.Fatal("the list was written too early")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx *metadata.Tx) error {
		got, err := tx.InlineBodies.Total()
		if want := (metadata.BodyCount{Bodies: 1, Bytes: 4}); got != want {
			t.Errorf("%+v are inline, want %+v", got, want)
		}
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Error(err)
	}
}
