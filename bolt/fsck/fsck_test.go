package fsck_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/bolt/fsck"
	"labshelf/bolt/fsck/fscktest"
)

// grownFile returns the used bytes of a file with branches, leaves, inline buckets, rows over
// several pages and free pages.
func grownFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(n int) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			for _, name := range []string{"few", "many", "long"} {
				b, err := tx.CreateBucketIfNotExists([]byte(name))
				if err != nil {
					return err
				}
				for i := range map[string]int{"few": 1, "many": 40, "long": 1}[name] {
					if n > 3 && name == "few" {
						continue
					}
					size := map[string]int{"few": 5, "many": 100, "long": 1000 * (n % 20)}[name]
					if err := b.Put(fmt.Appendf(nil, "%04d-%04d", n, i), make([]byte, size)); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	for n := range 40 {
		if err := db.Update(put(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fscktest.Used(file)
}

func quick(file []byte) error {
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	return fsck.Quick(bytes.NewReader(file), m)
}

func TestSoundFile(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	if found := fscktest.Findings(file); len(found) != 0 {
		t.Errorf("%q", found)
	}
	if err := quick(file); err != nil {
		t.Errorf("quick: %v", err)
	}
	all, structure := fscktest.Contents(file)
	if len(structure) < 1500 || len(all) < len(file)/3 {
		t.Errorf("%d bytes, %d of them used, %d structural", len(file), len(all), len(structure))
	}
}

// TestEveryStructuralFlipFound flips a bit in each structural byte. With -short, it flips a bit in
// every fifth byte. Five is prime to the length of every field, so that each byte of a field is
// tested.
func TestEveryStructuralFlipFound(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	_, structure := fscktest.Contents(file)
	random := rand.New(rand.NewPCG(1, 2))
	step := 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(structure); i += step {
		at, bit := structure[i], byte(1)<<random.IntN(8)
		file[at] ^= bit
		if found := fscktest.Findings(file); len(found) == 0 {
			t.Errorf("bit %#x of byte %d of page %d: no violation found", bit, at%os.Getpagesize(), at/os.Getpagesize())
		}
		file[at] ^= bit
	}
}

// TestFreelistAgainstPages removes pages from the free list, and adds used pages to it.
func TestFreelistAgainstPages(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	list := file[m.Freelist*uint64(m.PageSize):][:m.PageSize]
	count := binary.NativeEndian.Uint16(list[10:])
	if count < 2 {
		t.Fatalf("%d free pages", count)
	}
	const many = 0xffff // the first entry then contains the number of entries
	id := func(i int) uint64 { return binary.NativeEndian.Uint64(list[fsck.PageHeader+8*i:]) }
	setCount := func(n uint16) { binary.NativeEndian.PutUint16(list[10:], n) }
	for name, tc := range map[string]struct {
		change func()
		want   string
	}{
		"all lost":  {func() { setCount(0) }, fmt.Sprintf("page %d : %d pages, of which this is the first, are neither", id(0), count)},
		"last lost": {func() { setCount(count - 1) }, fmt.Sprintf("page %d : 1 pages, of which this is the first, are neither", id(int(count)-1))},
		"root is free": {func() {
			ids := []uint64{m.Root}
			for i := range int(count) {
				ids = append(ids, id(i))
			}
			slices.Sort(ids)
			for i, id := range ids {
				binary.NativeEndian.PutUint64(list[fsck.PageHeader+8*i:], id)
			}
			setCount(count + 1)
		}, fmt.Sprintf("page %d : 1 pages, of which this is the first, are both", m.Root)},
		"the marker for many pages, but with few": {func() { setCount(many); binary.NativeEndian.PutUint64(list[fsck.PageHeader:], 1<<40) }, "too small for its"},
		"out of order": {func() { copy(list[fsck.PageHeader:], list[fsck.PageHeader+8:fsck.PageHeader+16]) }, "after page"},
		"a page that the file has not": {func() {
			binary.NativeEndian.PutUint64(list[fsck.PageHeader+8*(int(count)-1):], m.Past)
		}, "after page"},
	} {
		before := bytes.Clone(list)
		tc.change()
		if found := fscktest.Findings(file); len(found) != 1 || !strings.Contains(found[0], tc.want) {
			t.Errorf("%s: found %q, want %q", name, found, tc.want)
		}
		copy(list, before)
	}
}

// TestPagesInCircles makes each branch page point to itself, and back to the root. bbolt would loop
// forever.
func TestPagesInCircles(t *testing.T) {
	t.Parallel()
	circles := 0
	for what, damaged := range fscktest.Circles(grownFile(t)) {
		circles++
		if err := quick(damaged); !errors.Is(err, fsck.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if circles == 0 {
		t.Error("the file has no branches")
	}
}
