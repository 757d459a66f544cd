package bolt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
	"labshelf/metadata"
)

// grownFile returns the bytes that are in use of a file with branches, leaves, buckets within a page, rows over several pages
// and free pages.
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
			return errors.Join(tx.Resources.Put(r), tx.Blobs.Put(r.Digest, 9), tx.Damages.Put(metadata.Damage{Digest: r.Digest}))
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

// used reads the part of a file that is in use.
func used(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, ok := readFileMeta(bytes.NewReader(file))
	if !ok {
		t.Fatal("no meta page")
	}
	return file[:m.past*uint64(m.pageSize)]
}

// walkOver returns what a walk finds in a file.
func walkOver(file []byte, full bool) (found []string, used bitmap) {
	m, _ := readFileMeta(bytes.NewReader(file))
	w := &pageWalk{file: bytes.NewReader(file), meta: m, full: full, budget: branchesAtStart}
	w.ended = func() error { return nil }
	w.found = func(id uint64, in, wrong string) { found = append(found, fmt.Sprintf("page %d %s: %s", id, in, wrong)) }
	_ = w.run() // ended returns nil
	return found, w.used
}

// contents are the bytes of a file that mean something: not what is left of a page, nor a free one. The second is those of
// them on which the way through the pages depends.
func contents(file []byte) (all, ways []int) {
	m, _ := readFileMeta(bytes.NewReader(file))
	size := int(m.pageSize)
	add := func(to []int, begin, end int) []int {
		for at := begin; at < end; at++ {
			to = append(to, at)
		}
		return to
	}
	_, used := walkOver(file, true)
	for id := 2; id < int(m.past); id++ {
		if used.add(uint64(id)) {
			continue
		}
		page := node(file[id*size:])
		h := headerOf(page)
		end := pageHeader + 8*int(h.count)
		if h.flags != freelistPage {
			length, _ := page.size()
			end = int(length)
		}
		way := end
		if h.flags == leafPage {
			way = pageHeader
		}
		all, ways = add(all, id*size, id*size+end), add(ways, id*size, id*size+way)
		id += int(h.overflow)
	}
	for _, meta := range []int{0, size} {
		all = add(all, meta, meta+10) // its number and flags
		all = add(all, meta+pageHeader, meta+pageHeader+metaSize)
	}
	return all, ways
}

func TestPagesOfASoundFile(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	for _, full := range []bool{true, false} {
		if found, _ := walkOver(file, full); len(found) != 0 {
			t.Errorf("full: %v: %q", full, found)
		}
	}
	all, ways := contents(file)
	if len(ways) < 1500 || len(all) < len(file)/3 {
		t.Errorf("%d bytes, %d of them in use, %d of ways", len(file), len(all), len(ways))
	}
}

// TestPagesFindDamagedWays flips a bit in each byte that tells where something is.
func TestPagesFindDamagedWays(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	_, ways := contents(file)
	random := rand.New(rand.NewPCG(1, 2))
	for _, at := range ways {
		bit := byte(1) << random.IntN(8)
		file[at] ^= bit
		if found, _ := walkOver(file, true); len(found) == 0 {
			t.Errorf("bit %#x of byte %d of page %d: nothing found", bit, at%os.Getpagesize(), at/os.Getpagesize())
		}
		file[at] ^= bit
	}
}

// TestInspectFindsEveryFlip flips bits all over the file: it is refused, or Inspect reports something, or a key that only separates
// two pages is another one between them, and all that can be read is as it was. Whatever is read from it, nothing panics.
func TestInspectFindsEveryFlip(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	all, _ := contents(file)
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
		separator := headerOf(file[at/os.Getpagesize()*os.Getpagesize():]).flags == branchPage
		if found := lookInto(t, path); len(found) == 0 && !(separator && everyRow(t, path) == want) {
			t.Errorf("bit %#x of byte %d of page %d: nothing found", bit, at%os.Getpagesize(), at/os.Getpagesize())
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// everyRow is a digest of all keys and values, read past the store.
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

// lookInto opens a file that may be damaged to read it, and returns what is wrong.
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

// TestPagesLost takes pages out of the list of free ones, and adds some that are in use.
func TestPagesLost(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	m, _ := readFileMeta(bytes.NewReader(file))
	list := file[m.freelist*uint64(m.pageSize):][:m.pageSize]
	count := binary.NativeEndian.Uint16(list[10:])
	if count < 2 {
		t.Fatalf("%d free pages", count)
	}
	id := func(i int) uint64 { return binary.NativeEndian.Uint64(list[pageHeader+8*i:]) }
	setCount := func(n uint16) { binary.NativeEndian.PutUint16(list[10:], n) }
	for name, tc := range map[string]struct {
		change func()
		want   string
	}{
		"all lost":  {func() { setCount(0) }, fmt.Sprintf("page %d : %d pages, of which this is the first, are neither", id(0), count)},
		"last lost": {func() { setCount(count - 1) }, fmt.Sprintf("page %d : 1 pages, of which this is the first, are neither", id(int(count)-1))},
		"root is free": {func() {
			ids := []uint64{m.root}
			for i := range int(count) {
				ids = append(ids, id(i))
			}
			slices.Sort(ids)
			for i, id := range ids {
				binary.NativeEndian.PutUint64(list[pageHeader+8*i:], id)
			}
			setCount(count + 1)
		}, fmt.Sprintf("page %d : 1 pages, of which this is the first, are both", m.root)},
		"many, of which there are not so many": {func() { setCount(manyFree); binary.NativeEndian.PutUint64(list[pageHeader:], 1<<40) }, "entries do not fit"},
		"out of order":                         {func() { copy(list[pageHeader:], list[pageHeader+8:pageHeader+16]) }, "after page"},
		"a page that the file has not": {func() {
			binary.NativeEndian.PutUint64(list[pageHeader+8*(int(count)-1):], m.past)
		}, "after page"},
	} {
		before := bytes.Clone(list)
		tc.change()
		if found, _ := walkOver(file, true); len(found) != 1 || !strings.Contains(found[0], tc.want) {
			t.Errorf("%s: found %q, want %q", name, found, tc.want)
		}
		copy(list, before)
	}
}

// TestWaysInCircles lets a page of a branch lead to the branch itself, and back to the root: bbolt would never come to an end.
func TestWaysInCircles(t *testing.T) {
	t.Parallel()
	file := grownFile(t)
	m, _ := readFileMeta(bytes.NewReader(file))
	size := int(m.pageSize)
	branches := 0
	for at := 2 * size; at < len(file); at += size {
		page := file[at : at+size]
		if h := headerOf(page); h.flags != branchPage || h.id != uint64(at/size) {
			continue
		}
		branches++
		for _, to := range []uint64{uint64(at / size), m.root} {
			damaged := bytes.Clone(file)
			binary.NativeEndian.PutUint64(damaged[at+pageHeader+8:], to)
			path := filepath.Join(t.TempDir(), "meta.db")
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if m, _ := walkOver(damaged, true); len(m) == 0 {
				continue // a page that is free now
			}
			if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d leads to %d: open: %v", at/size, to, err)
			}
		}
	}
	if branches == 0 {
		t.Error("the file has no branches")
	}
}

// TestInspectWhileOthersWrite finds nothing, whatever is written meanwhile.
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
				return errors.Join(putUser(fmt.Sprint("user-", i))(tx), tx.Blobs.Put(digest, 9), tx.Blobs.Remove(blobs.Digest{byte(i - 50)}))
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

// TestPagesFilledToTheLastByte: what ends just where a page does takes no page more.
func TestPagesFilledToTheLastByte(t *testing.T) {
	t.Parallel()
	pageSize := os.Getpagesize()
	key := metadata.BodyKey{Resource: metadata.ID{15: 1}}
	for pages := 1; pages <= 3; pages++ {
		for _, less := range []int{1, 0, -1} {
			s := openStore(t)
			body := make([]byte, pages*pageSize-pageHeader-entrySize-len(bodyKey(key))-recordHeader-less)
			if err := s.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Bodies.Put(key, body) }); err != nil {
				t.Fatal(err)
			}
			checkIntegrity(t, s)
		}
	}
}
