package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"labshelf/search"
	"labshelf/search/query"
)

// newTables returns an index of files with the same number of cells, and a request that reads all
// of them.
func newTables(tb testing.TB, files, cells int, cell func(*rand.Rand) string) (*Index, Request) {
	tb.Helper()
	x, _, err := Open(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = x.Close() })
	random, space := rand.New(rand.NewPCG(1, 2)), [16]byte{1}
	var changes []Change
	for n := range files {
		var text strings.Builder
		for range cells {
			text.WriteString(cell(random) + ",")
		}
		d := search.Document{Kind: search.Resource, Dataspace: space, Set: space, Name: fmt.Sprintf("run%d.csv", n), Body: text.String()}
		binary.BigEndian.PutUint64(d.ID[8:], uint64(n+1))
		changes = append(changes, Change{Document: &d})
	}
	if err := x.Apply(changes, nil); err != nil {
		tb.Fatal(err)
	}
	return x, Request{Dataspaces: [][16]byte{space}, Limit: 10}
}

func digits(random *rand.Rand) string { return fmt.Sprint(1 + random.IntN(99_999)) }

func mustParse(tb testing.TB, text string) query.Query {
	tb.Helper()
	q, err := query.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

// numbers returns the numbers from 1, separated by spaces.
func numbers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i+1))
	}
	return strings.Join(all, " ")
}

// TestDigitsAreCheap searches for many digits, each the prefix of a ninth of all words. The cost is
// below a third of the cost of reading each position of the index once.
func TestDigitsAreCheap(t *testing.T) {
	t.Parallel()
	const files, cells = 200, 1000
	x, r := newTables(t, files, cells, digits)
	r.Query = mustParse(t, numbers(9))
	result, err := x.search(t.Context(), r, files*cells*(decodeCost+locateCost)/3)
	if err != nil || result.Total != files {
		t.Errorf("%d of %d files are found (%v)", result.Total, files, err)
	}
}

// TestSearchIsCutOff exceeds the limit by words and by phrases, and checks that later searches are
// not affected.
func TestSearchIsCutOff(t *testing.T) {
	t.Parallel()
	const files, cells = 50, 500
	x, r := newTables(t, files, cells, func(random *rand.Rand) string { return []string{"a", "b"}[random.IntN(2)] })
	for _, text := range []string{"a b", `"a b a b a b"`, "a-b", "-b", "a-b-a-b-a-b-a"} {
		q := r
		q.Query = mustParse(t, text)
		if _, err := x.search(t.Context(), q, 1000); !errors.Is(err, ErrTooCostly) {
			t.Errorf("%s: error %v, want %v", text, err, ErrTooCostly)
		}
	}
	r.Query = mustParse(t, "run7")
	if result, err := x.Search(t.Context(), r); err != nil || result.Total != 1 || result.Hits[0].Score == 0 {
		t.Errorf("afterwards: %+v (%v)", result, err)
	}
}

func BenchmarkDigits(b *testing.B) {
	x, r := newTables(b, 500, 2000, digits)
	for _, n := range []int{1, 9, 32} {
		r.Query = mustParse(b, numbers(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
