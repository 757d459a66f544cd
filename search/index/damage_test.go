package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"labshelf/search/searchtest"
)

// saved returns a closed world whose index has several files with dead documents.
func saved(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, corpus: searchtest.NewCorpus(3, 4, 40), dir: t.TempDir(), docs: map[[16]byte]*searchtest.Document{}}
	w.random = newRandom(3)
	w.open()
	w.fill()
	for range 10 {
		w.change()
	}
	if err := w.index.flush(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.change()
	}
	w.close()
	return w
}

// askAll compares the results of requests with brute force, and reports whether the index reported
// damage.
func (w *world) askAll(x *Index, requests []Request) (damaged bool) {
	w.t.Helper()
	for _, r := range requests {
		got, err := x.Search(context.Background(), r)
		if errors.Is(err, ErrDamaged) {
			damaged = true
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		want := w.brute(r)
		want.Hits = want.Hits[:min(r.Limit, len(want.Hits))]
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			w.t.Fatalf("%q: a wrong result from a damaged index:\n%s", r.Query, diff)
		}
	}
	return damaged
}

// everything returns requests for all documents in each order, and for some queries.
func (w *world) everything() []Request {
	var all []Request
	for order := ByRelevance; order <= ByName; order++ {
		all = append(all, Request{All: true, Order: order, Limit: 1000, Counts: 1000})
	}
	for range 20 {
		r := w.request()
		r.All = true
		all = append(all, r)
	}
	return all
}

func TestDamageIsDetected(t *testing.T) {
	t.Parallel()
	w := saved(t)
	requests := w.everything()
	want := w.position()
	for name, data := range filesOf(t, w.dir) {
		step := 1 + len(data)/150
		for at := w.random.IntN(step); at < len(data); at += step {
			changed := append([]byte(nil), data...)
			changed[at] ^= 1 << w.random.IntN(8)
			w.expectDamage(name, changed, requests, want)
		}
		for _, size := range []int{0, 1, len(data) / 2, len(data) - 1} {
			w.expectDamage(name, data[:size], requests, want)
		}
		w.expectDamage(name, append(data[:len(data):len(data)], 0), requests, want)
	}
}

// expectDamage opens the index with one changed file. The index must be empty, or give correct
// results or errors. It must not accept changes without reading existing data.
func (w *world) expectDamage(name string, data []byte, requests []Request, position string) {
	w.t.Helper()
	dir := w.t.TempDir()
	for other, content := range filesOf(w.t, w.dir) {
		if other == name {
			content = data
		}
		if err := os.WriteFile(filepath.Join(dir, other), content, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	x, got, err := Open(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	switch {
	case got == nil:
		if n := x.Status().Documents; n != 0 {
			w.t.Fatalf("%d documents without a position", n)
		}
	case string(got) != position:
		w.t.Fatalf("position %q", got)
	default:
		damaged := w.askAll(x, requests)
		probe := w.corpus.Documents[0]
		if err := x.Apply([]Change{{ID: probe.ID}}, []byte("x")); err != nil && !errors.Is(err, ErrDamaged) {
			w.t.Fatal(err)
		} else if !damaged && err == nil {
			w.t.Fatalf("%s: no damage reported", name)
		}
	}
	_ = x.Close()
	if err := os.RemoveAll(dir); err != nil {
		w.t.Fatal(err)
	}
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = data
	}
	return files
}

func TestOtherVersionIsDiscarded(t *testing.T) {
	t.Parallel()
	w := saved(t)
	path := filepath.Join(w.dir, manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "manifest 1", "manifest 2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	x, position, err := Open(w.dir)
	if err != nil || position != nil {
		t.Fatalf("position %q, %v", position, err)
	}
	if left := filesOf(t, w.dir); len(left) != 0 {
		t.Errorf("%d files remain", len(left))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashes copies the directory after each change of a file, and opens the copy. The copy has
// the state at some position, and the remaining changes lead to the current state.
func TestCrashes(t *testing.T) {
	t.Parallel()
	w := &world{t: t, corpus: searchtest.NewCorpus(5, 5, 30), dir: t.TempDir(), docs: map[[16]byte]*searchtest.Document{}}
	w.random = newRandom(5)
	var copies []map[string][]byte
	var err error
	w.index, _, err = open(w.dir, func(string) { copies = append(copies, filesOf(t, w.dir)) })
	if err != nil {
		t.Fatal(err)
	}
	w.log = &[][]Change{}
	w.fill()
	flushes := 6
	if testing.Short() {
		flushes = 2
	}
	for range flushes {
		for range 4 {
			w.change()
		}
		if err := w.index.flush(); err != nil {
			t.Fatal(err)
		}
		for w.index.mergeOnce() {
		}
	}
	requests := w.everything()
	w.close()
	positions := map[string]bool{}
	for _, files := range copies {
		dir := t.TempDir()
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		x, position, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		positions[string(position)] = true
		for i, batch := range (*w.log)[batchOf(t, position):] {
			if err := x.Apply(batch, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if w.askAll(x, requests) {
			t.Fatal("damaged")
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d crashes, %d positions", len(copies), len(positions))
	if len(positions) < flushes {
		t.Errorf("%d positions", len(positions))
	}
}
