package index

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"labshelf/search"
)

// TestSpellings counts the documents found by each spelling of their letters: in names and
// contents, by words, prefixes and phrases.
func TestSpellings(t *testing.T) {
	t.Parallel()
	x, _, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	space := [16]byte{1}
	var changes []Change
	for n, d := range []search.Document{
		{Name: "Müller Köln.csv"}, {Name: "Mu\u0308ller_Koeln.csv"}, {Body: "Mueller aus Köln, Muller"}, {Body: "Müllerin in Koeln"},
		{Name: "control full.csv", Tags: []string{"Öl"}},
		{Name: "a", Uploader: "mueller", Properties: []search.Property{{Path: "Probe.Größe", Kind: search.Number, Number: 5}}},
		{Name: "b", Uploader: "muller", Properties: []search.Property{{Path: "probe.gro\u0308\u00dfe", Kind: search.Text, Text: "klein"}}},
		{Name: "c", Properties: []search.Property{{Path: "probe.groesse", Kind: search.Number, Number: 7}}},
	} {
		d.Kind, d.Dataspace, d.Set = search.Resource, space, space
		binary.BigEndian.PutUint64(d.ID[8:], uint64(n+1))
		changes = append(changes, Change{Document: &d})
	}
	if err := x.Apply(changes, nil); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"mueller": 4, "Müller": 4, "muller": 4, "muell*": 4, `"mueller"`: 3, `"Müller"`: 3, "name:mueller": 2, "name:ueller": 2, "koeln": 4, "Köln": 4,
		`"mueller koeln"`: 2, `"Müller Köln"`: 2, "mueller-koeln": 2, "üller_köl": 2, `"mueller aus koeln"`: 1, "muellerin-in-köl": 1, "koeln-mull": 1,
		"-mueller": 4, "-Köln": 4, "mueller -muellerin": 3, "oel": 2, "tag:oel": 1, "name:oel": 1, "fuel": 0,
		"by:mueller": 1, "by:muller": 1, "by:Müller": 2, "by:mu\u0308ller": 2, "probe.größe:>4": 2, "probe.gro\u0308ße:>4": 2, "probe.Groesse:>4": 2, "probe.größe:klein": 1,
		"-probe.groesse:>4 probe.grösse:klein": 1,
	} {
		r := Request{Query: mustParse(t, text), Dataspaces: [][16]byte{space}, Limit: 10}
		if result, err := x.Search(t.Context(), r); err != nil || result.Total != want || len(result.Hits) != want {
			t.Errorf("%s finds %d and lists %d, want %d (%v)", text, result.Total, len(result.Hits), want, err)
		}
	}
}

// TestSpellingsAreCheap searches for the maximum number of words, each with eight spellings. The
// cost is at most a hundredth of the cost of reading each position of the index once.
func TestSpellingsAreCheap(t *testing.T) {
	t.Parallel()
	const files, cells = 20, 1000
	x, r := newTables(t, files, cells, digits)
	var all []string
	for i := range 32 {
		all = append(all, fmt.Sprintf("äöü%d", i))
	}
	for _, text := range []string{strings.Join(all, " "), "-" + strings.Join(all, " -"), strings.Join(all, "-")} {
		r.Query = mustParse(t, text)
		if n := len(r.Query.Clauses[0].Others[0]); n != 7 {
			t.Errorf("%s: %d other spellings", text, n)
		}
		if _, err := x.search(t.Context(), r, files*cells*(decodeCost+locateCost)/100); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
