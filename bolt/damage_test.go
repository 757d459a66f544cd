package bolt

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	rand2 "math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/bolt/fsck"
	"labshelf/bolt/fsck/fscktest"
	"labshelf/metadata"
	"labshelf/metadata/tables"
)

// TestDamagedFiles tests that each damaged file is reported as damaged, and stays unchanged.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	sound, err := os.ReadFile(closedStore(t, 2000))
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	first, _ := fsck.MetaAt(bytes.NewReader(sound), 0)
	second, _ := fsck.MetaAt(bytes.NewReader(sound), int64(page))
	newest := max(first.TxID, second.TxID)
	used := int(max(first.Past, second.Past)) * page
	zeroed := func(from, to int) []byte {
		file := bytes.Clone(sound)
		clear(file[from:to])
		return file
	}
	garbage := make([]byte, 64<<10)
	rand.Read(garbage)
	for name, tc := range map[string]struct {
		file []byte
		want error
	}{
		"sound":             {sound, nil},
		"just long enough":  {sound[:used], nil},
		"a page too short":  {sound[:used-page], ErrDamaged},
		"half":              {sound[:used/2], ErrDamaged},
		"two pages":         {sound[:2*page], ErrDamaged},
		"80 bytes":          {sound[:80], ErrDamaged},
		"empty":             {nil, ErrDamaged},
		"garbage":           {garbage, ErrDamaged},
		"text":              {[]byte(strings.Repeat("no database\n", 1000)), ErrDamaged},
		"no meta page":      {zeroed(0, 2*page), ErrDamaged},
		"first meta gone":   {zeroed(0, page), nil},
		"second meta gone":  {zeroed(page, 2*page), nil},
		"only metas":        {zeroed(2*page, used), ErrDamaged},
		"root beyond end":   {withMeta(sound, page, newest, 16), ErrDamaged},
		"list beyond end":   {withMeta(sound, page, newest, 32), ErrDamaged},
		"high beyond end":   {withMeta(sound, page, newest, 40), ErrDamaged},
		"page size of 0":    {withMeta(zeroed(0, page), page, newest, 8), ErrDamaged},
		"strange page size": {withMeta(zeroed(page, 2*page), page, newest, 8), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "meta.db")
			if err := os.WriteFile(path, tc.file, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{})
			if !errors.Is(err, tc.want) {
				t.Errorf("open: %v, want %v", err, tc.want)
			}
			if s != nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			after, err := os.ReadFile(path)
			if tc.want == nil {
				after = trimmed(after, len(tc.file))
			}
			if err != nil || !bytes.Equal(after, tc.file) {
				t.Errorf("the file has changed (%v)", err)
			}
		})
	}
}

// trimmed removes the zeros with which Windows extends a valid file when it is opened.
func trimmed(file []byte, length int) []byte {
	if runtime.GOOS != "windows" || len(file) <= length || len(bytes.TrimLeft(file[length:], "\x00")) > 0 {
		return file
	}
	return file[:length]
}

// wantExamined fails the test unless the file at path is refused before it is opened for writing,
// which extends it on Windows.
func wantExamined(t *testing.T, path string, want error) {
	t.Helper()
	s, err := examine(path)
	if !errors.Is(err, want) {
		t.Errorf("examined: %v, want %v", err, want)
	}
	if s != nil {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// withMeta returns the file with another number at an offset of its newest meta page, and with a
// valid checksum.
func withMeta(file []byte, page int, newest uint64, at int) []byte {
	file = bytes.Clone(file)
	for _, start := range []int{0, page} {
		if m, ok := fsck.MetaAt(bytes.NewReader(file), int64(start)); !ok || m.TxID != newest && at != 8 {
			continue
		}
		raw := file[start+fsck.PageHeader : start+fsck.PageHeader+fsck.MetaSize]
		if at == 8 {
			binary.NativeEndian.PutUint32(raw[at:], 5000)
		} else {
			binary.NativeEndian.PutUint64(raw[at:], 1<<40)
		}
		binary.NativeEndian.PutUint64(raw[56:], fsck.MetaChecksum(raw))
	}
	return file
}

// TestForeignFiles tests valid bbolt files with other contents.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bbolt.Tx) error{
		"of another program": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("meta")) },
		"without a bucket":   func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("blob_refs")) },
		"without a version":  func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("schema")) },
		"without a secret":   func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("token secret")) },
		"without a stamp":    func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("last stamp")) },
		"without an epoch":   func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("epoch")) },
		"with a damaged stamp": func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("meta")).Put([]byte("last stamp"), []byte("12345"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := closedStore(t, 1)
			inFile(t, path, change)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wantExamined(t, path, ErrDamaged)
			if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("open: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed (%v)", err)
			}
		})
	}
}

// TestDamagedPages zeroes or overwrites each page of a file in turn. Opening and reading the file
// must not end the program, and must return only stored values.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	const names = 300
	source := closedStore(t, names)
	sound, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	m, _ := fsck.ReadMeta(bytes.NewReader(sound))
	noise := make([]byte, page)
	rand.Read(noise)
	dir := t.TempDir()
	for at := 2; at < int(m.Past); at++ {
		for i, over := range [][]byte{make([]byte, page), noise} {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.db", at, i))
			file := bytes.Clone(sound[:int(m.Past)*page])
			copy(file[at*page:], over)
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{})
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("page %d: open: %v", at, err)
				}
				continue
			}
			readDamaged(t, s, names)
			writeDamaged(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("page %d: close: %v", at, err)
			}
		}
	}
}

// readDamaged reads everything. Each user that is read without an error must be a stored user.
func readDamaged(t *testing.T, s *Store, names int) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		before := ""
		for user, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			if user.Username <= before || !strings.HasPrefix(user.Username, "user-") {
				t.Errorf("user %q after %q", user.Username, before)
			}
			before = user.Username
		}
		return nil
	})
	if err != nil && !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("read: %v", err)
	}
	err = s.Inspect(t.Context(), func(metadata.Violation) {})
	if err != nil {
		t.Errorf("inspect: %v", err)
	}
	snapshot, err := s.Snapshot(t.Context())
	if err == nil {
		err = snapshot.Close()
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("snapshot: %v", err)
	}
}

// writeDamaged puts new and existing rows.
func writeDamaged(t *testing.T, s *Store) {
	t.Helper()
	for _, name := range []string{"a-new-one", "user-00007"} {
		err := s.Update(t.Context(), putUser(name))
		known := errors.Is(err, metadata.ErrRecordDamaged) || errors.Is(err, metadata.ErrOutcomeUnknown) || errors.Is(err, metadata.ErrReadOnly)
		if err != nil && !known && !errors.Is(err, tables.ErrTaken) {
			t.Errorf("update: %v", err)
		}
	}
}

// TestTruncatedFiles truncates a file at the end of each page and within it.
func TestTruncatedFiles(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	dir := t.TempDir()
	for length := 0; length < len(file); length += os.Getpagesize() / 4 {
		path := filepath.Join(dir, fmt.Sprint(length))
		if err := os.WriteFile(path, file[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			if _, err := Open(path, Options{ReadOnly: readOnly}); !errors.Is(err, ErrDamaged) {
				t.Errorf("the first %d bytes of %d: %v", length, len(file), err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// TestFlippedFiles flips bits anywhere in a file. The file must be refused, or reads and writes
// must return errors. Nothing may panic.
func TestFlippedFiles(t *testing.T) {
	t.Parallel()
	const names = 300
	file := used(t, closedStore(t, names))
	all, _ := fscktest.Contents(file)
	flips := 300
	if testing.Short() {
		flips = 60
	}
	random := rand2.New(rand2.NewPCG(5, 6))
	dir := t.TempDir()
	for n := range flips {
		damaged := bytes.Clone(file)
		at := all[random.IntN(len(all))]
		damaged[at] ^= 1 << random.IntN(8)
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("open: %v", err)
			}
			continue
		}
		readDamaged(t, s, names)
		if !freesMillions(damaged, at) {
			writeDamaged(t, s)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// freesMillions reports whether a flip made the header of a page claim so many overflow pages that
// a write takes gigabytes of memory and minutes. bbolt trusts the number when it frees the page,
// and keeps each overflow page in a map. A check finds such a page.
func freesMillions(file []byte, at int) bool {
	page := os.Getpagesize()
	return at%page < fsck.PageHeader && fsck.Page(file[at-at%page:]).Header().Overflow > 1<<20
}
