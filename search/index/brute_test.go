package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"labshelf/formats/descriptive/units"
	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/searchtest"
	"labshelf/search/words"
)

// pairs returns the number of compared pairs of dataspaces and queries: SEARCH_PAIRS, or a number
// for daily runs.
func pairs(t *testing.T) int {
	if text := os.Getenv("SEARCH_PAIRS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 300
	}
	return 2000
}

// world is an index with its expected documents.
type world struct {
	t      *testing.T
	corpus *searchtest.Corpus
	random *rand.Rand
	dir    string
	index  *Index
	docs   map[[16]byte]*searchtest.Document
	batch  int
	log    *[][]Change // if not nil, collects all batches
}

func newWorld(t *testing.T, seed uint64, dataspaces, resources int) *world {
	t.Helper()
	w := &world{
		t: t, corpus: searchtest.NewCorpus(seed, dataspaces, resources), random: newRandom(seed),
		dir: t.TempDir(), docs: map[[16]byte]*searchtest.Document{},
	}
	for i := range w.corpus.Documents {
		if d := &w.corpus.Documents[i]; i%2 == 0 {
			d.Stamp -= d.Stamp % (30 * 86400e6) // the same value as in other documents
		}
	}
	w.open()
	t.Cleanup(func() { w.close() })
	return w
}

func (w *world) open() {
	w.t.Helper()
	x, position, err := Open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := string(position); w.batch > 0 && got != w.position() {
		w.t.Fatalf("opened at %q, want %q", got, w.position())
	}
	w.index = x
}

func (w *world) close() {
	w.t.Helper()
	if err := w.index.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) position() string { return fmt.Sprintf("batch %d", w.batch) }

// batchOf returns the number of batches before a position.
func batchOf(t *testing.T, position []byte) int {
	t.Helper()
	if position == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(position), "batch "))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func (w *world) apply(batch []Change) {
	w.t.Helper()
	w.batch++
	if w.log != nil {
		*w.log = append(*w.log, batch)
	}
	if err := w.index.Apply(batch, []byte(w.position())); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range batch {
		if c.Document == nil {
			delete(w.docs, c.ID)
		} else {
			w.docs[c.Document.ID] = searchtest.Prepare(*c.Document, units.SI)
		}
	}
}

// fill adds all documents of the corpus, in batches of any size.
func (w *world) fill() {
	w.t.Helper()
	for rest := w.corpus.Documents; len(rest) > 0; {
		n := 1 + w.random.IntN(min(len(rest), 200))
		var batch []Change
		for i := range rest[:n] {
			batch = append(batch, Change{Document: &rest[i]})
		}
		w.apply(batch)
		rest = rest[n:]
	}
}

// change creates a batch of changes: replaced, moved, removed and restored documents, some of them
// twice.
func (w *world) change() {
	w.t.Helper()
	var batch []Change
	for range 1 + w.random.IntN(20) {
		old := &w.corpus.Documents[w.random.IntN(len(w.corpus.Documents))]
		switch w.random.IntN(4) {
		case 0:
			batch = append(batch, Change{ID: old.ID})
		case 1:
			batch = append(batch, Change{Document: old})
		default:
			d := w.corpus.Document(old.Kind)
			home := &w.corpus.Documents[w.random.IntN(len(w.corpus.Documents))]
			d.ID, d.Dataspace, d.Set = old.ID, home.Dataspace, home.Set
			batch = append(batch, Change{Document: &d})
		}
	}
	w.apply(batch)
}

// request returns a random request.
func (w *world) request() Request {
	w.t.Helper()
	q, err := w.corpus.Query()
	if err == nil && w.random.IntN(4) == 0 {
		q, err = query.Parse(w.excerpt())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	r := Request{Query: q, Order: Order(w.random.IntN(4)), Limit: w.random.IntN(30), Counts: w.random.IntN(8), All: w.random.IntN(5) == 0}
	for _, d := range w.corpus.Documents {
		if d.Kind == search.Dataspace && w.random.IntN(2) == 0 {
			r.Dataspaces = append(r.Dataspaces, d.ID)
		}
	}
	slices.SortFunc(r.Dataspaces, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return r
}

// excerpt returns a query for a random part of a random text.
func (w *world) excerpt() string {
	d := &w.corpus.Documents[w.random.IntN(len(w.corpus.Documents))]
	var texts []string
	for z := range zoneCount {
		zoneTextsOf(d, z, func(text string) {
			if text != "" {
				texts = append(texts, text)
			}
		})
	}
	text := []rune(texts[w.random.IntN(len(texts))])
	begin := w.random.IntN(len(text))
	part := string(text[begin:min(len(text), begin+1+w.random.IntN(12))])
	part = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			return r
		}
		return '.' // turns a phrase into incomplete words
	}, part)
	return strings.Trim(part, ".")
}

// found is a document found by brute force.
type found struct {
	*searchtest.Document
	score int
	name  string
}

var foundOrders = map[Order]func(a, b found) int{
	ByRelevance: func(a, b found) int {
		return searchtest.Compare(a.Document.Document, a.score, b.Document.Document, b.score)
	},
	Newest: func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Stamp, a.Stamp), slices.Compare(a.ID[:], b.ID[:]))
	},
	Oldest: func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Stamp, b.Stamp), slices.Compare(a.ID[:], b.ID[:]))
	},
	ByName: func(a, b found) int { return cmp.Or(cmp.Compare(a.name, b.name), slices.Compare(a.ID[:], b.ID[:])) },
}

// brute returns the result of a request by reading every document.
func (w *world) brute(r Request) Result {
	var all []found
	for _, d := range w.docs {
		if !r.reads(d.Dataspace) {
			continue
		}
		var containers []*searchtest.Document
		for _, id := range [][16]byte{d.Dataspace, d.Set} {
			if c := w.docs[id]; c != nil && r.reads(c.Dataspace) {
				containers = append(containers, c)
			}
		}
		if ok, score := d.Matches(r.Query, containers...); ok {
			all = append(all, found{d, score, words.Fold(d.Name)})
		}
	}
	slices.SortFunc(all, foundOrders[r.Order])
	result := Result{Total: len(all)}
	if r.Counts > 0 {
		result.Counts = bruteCounts(all, r.Counts)
	}
	for _, f := range all {
		h := Hit{f.Dataspace, f.Kind, Position{f.score, f.Stamp, "", f.ID}}
		if r.Order == ByName {
			h.Name = f.name
		}
		result.Hits = append(result.Hits, h)
	}
	return result
}

func bruteCounts(all []found, limit int) Counts {
	kinds, spaces, years := map[search.Kind]int{}, map[[16]byte]int{}, map[int]int{}
	tags, creators := map[string]int{}, map[string]int{}
	written := map[string]string{}
	count := func(to map[string]int, prefix string, texts []string) {
		seen := map[string]bool{}
		for _, text := range texts {
			folded := words.Fold(text)
			if !seen[folded] {
				to[folded]++
			}
			seen[folded] = true
			if old, ok := written[prefix+folded]; !ok || text < old {
				written[prefix+folded] = text
			}
		}
	}
	for _, f := range all {
		kinds[f.Kind]++
		spaces[f.Dataspace]++
		if f.Year != 0 {
			years[f.Year]++
		}
		count(tags, "t", f.Tags)
		count(creators, "c", f.Creators)
	}
	label := func(from []Count[string], prefix string) []Count[string] {
		for i := range from {
			from[i].Value = written[prefix+from[i].Value]
		}
		return from
	}
	return Counts{
		bruteTop(kinds, limit, cmp.Compare[search.Kind]),
		bruteTop(spaces, limit, func(a, b [16]byte) int { return slices.Compare(a[:], b[:]) }),
		label(bruteTop(tags, limit, cmp.Compare[string]), "t"),
		label(bruteTop(creators, limit, cmp.Compare[string]), "c"),
		bruteTop(years, limit, cmp.Compare[int]),
	}
}

func bruteTop[K comparable](counts map[K]int, limit int, compare func(a, b K) int) []Count[K] {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), compare(a, b))
	})
	top := []Count[K]{}
	for _, k := range keys[:min(limit, len(keys))] {
		top = append(top, Count[K]{k, counts[k]})
	}
	return top
}

// compare compares one page, and the next page.
func (w *world) compare(r Request) (hits int) {
	w.t.Helper()
	want := w.brute(r)
	rest := want.Hits
	for page := range 3 {
		got, err := w.index.Search(context.Background(), r)
		if err != nil {
			w.t.Fatal(err)
		}
		want.Hits = rest[:min(r.Limit, len(rest))]
		if diff := gocmp.Diff(want.Hits, got.Hits, cmpopts.EquateEmpty()); diff != "" {
			w.t.Fatalf("page %d of %q, order %d, limit %d: (-brute +index)\n%s", page, r.Query, r.Order, r.Limit, diff)
		}
		if got.Total != want.Total {
			w.t.Fatalf("%q: %d hits, want %d", r.Query, got.Total, want.Total)
		}
		if diff := gocmp.Diff(want.Counts, got.Counts, cmpopts.EquateEmpty()); diff != "" {
			w.t.Fatalf("counts of %q: (-brute +index)\n%s", r.Query, diff)
		}
		if len(got.Hits) == 0 {
			break
		}
		r.After = &got.Hits[len(got.Hits)-1].Position
		rest = rest[len(got.Hits):]
	}
	return want.Total
}

func TestSearchAgreesWithBruteForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 40, 45)
	w.fill()
	if len(w.docs) < 1800 {
		t.Fatalf("%d documents", len(w.docs))
	}
	n, matched := pairs(t), 0
	for i := range n {
		if i%10 == 0 {
			w.change()
		}
		switch i % 400 {
		case 150:
			w.close()
			w.open()
		case 250:
			if err := w.index.flush(); err != nil {
				t.Fatal(err)
			}
		case 300:
			if err := w.index.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		if w.compare(w.request()) > 0 {
			matched++
		}
	}
	t.Logf("%d of %d queries have hits; %+v", matched, n, w.index.Status())
	if matched < n/3 {
		t.Errorf("%d of %d queries have hits", matched, n)
	}
}
