package searchtest_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/searchtest"
)

// si implements the units in the tests.
func si(value float64, unit string) (float64, string, bool) {
	known := map[string]struct {
		factor, offset float64
		dimension      string
	}{
		"%": {.01, 0, "1"}, "°F": {5. / 9, 459.67 * 5 / 9, "temperature"}, "K": {1, 0, "temperature"}, "°C": {1, 273.15, "temperature"}, "C": {1, 0, "charge"},
		"m": {1, 0, "length"}, "mm": {1e-3, 0, "length"}, "µm": {1e-6, 0, "length"},
	}
	u, ok := known[unit]
	return value*u.factor + u.offset, u.dimension, ok
}

var (
	space, set, other = [16]byte{1}, [16]byte{2}, [16]byte{3}

	file = search.Document{
		ID: [16]byte{9}, Kind: search.Resource, Dataspace: space, Set: set, Size: 1500, Incomplete: true, Year: 2025,
		Stamp: 1769904000000000, Created: 1767225600000000, // 2026-02-01 and 2026-01-01
		Name: "2026-03-14_run17_sample-A042_température.csv", Title: "Ice core", Description: "Straße nach Łódź, 温度計の記録",
		Format: "Raw Detector", MediaType: "Text/CSV; charset=utf-8", Uploader: "Jürgen",
		Tags: []string{"Été", "Deep Ice"}, Keywords: []string{"glaciology"},
		Creators: []string{"Curie, Marie 0000-0002-1825-0097", "Ada Lovelace"},
		Properties: []search.Property{
			{Path: "temperature", Kind: search.Quantity, Number: 20, Unit: "°C", Text: "20 °C"},
			{Path: "width", Kind: search.Quantity, Number: .5, Unit: "mm", Text: "0.5 mm"},
			{Path: "share", Kind: search.Number, Number: .5, Text: "0.5"},
			{Path: "speed", Kind: search.Quantity, Number: 3, Unit: "zork", Text: "3 zork"},
			{Path: "Sample ID", Kind: search.Text, Text: "S1 left"},
			{Path: "sample.n", Kind: search.Number, Number: 17, Text: "17"},
			{Path: "ok", Kind: search.Bool, Text: "true"},
			{Path: "sampled", Kind: search.Date, Number: 1767225600000000, Text: "2026-01-01"},
		},
		Body: "reading of the probe beneath",
	}
)

// find returns the ids of the paths of the tests.
func find(path string) ([][16]byte, error) {
	return map[string][][16]byte{"lab": {space}, "lab/raw": {set}, "elsewhere": {other}}[path], nil
}

// TestMatches tests the rules of docs/reference/search.md. -1 means no match.
func TestMatches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0,
		// Words: position and kind of match.
		"run17": 12, "RUN": 8, "un17": 4, "u": -1, "17": 6, "ture": 4, "temperature": 12, "temperatuur": -1,
		"ice": 9, "glacio": 6, "laciology": -1, "strasse": 6, "lodz": 6, "lod": 4, "probe": 3, "prob": 2, "obe": -1, "zork": 6,
		"curie": 9, "curie probe": 12, "probe nothing": -1, "share": 6,
		// Several words in one: adjacent; in names the first can be a suffix, the last a prefix.
		"run17_sample": 12, "run17_sam": 8, "un17-sample": 4, "042_temp": 4, "17_sa": 4, "7_sa": -1, "run17_a042": -1, "ice-co": 6, "ce-core": -1,
		"温度計": 6, "度": 6, "温計": -1,
		// Phrases: whole words, in one field.
		`"ice core"`: 9, `"ice cor"`: -1, `"run"`: -1, `"run17"`: 12, `"core ice"`: -1, `"lovelace deep"`: -1,
		"-nothing": 0, "-run17": -1, "run17 -nothing": 12,
		// Fields.
		"name:run17": 12, "name:ice": -1, "tag:ete": 0, "tag:et": -1, `tag:"DEEP ICE"`: 0, "-tag:x ice": 9,
		"type:text": 0, "type:text/csv": 0, "type:csv": 0, `type:"raw detector"`: 0, "type:tex": -1, "type:file": 0, "type:set": -1,
		"in:lab": 0, "in:lab/raw": 0, "in:elsewhere": -1, "-in:elsewhere": 0, "in:nowhere": -1,
		"by:JURGEN": 0, "by:j": -1, "creator:mar": 0, `creator:"Marie Curie"`: 0, `creator:"mar"`: -1, `creator:"marie lovelace"`: -1,
		"creator:0000-0002-1825-0097": 0, "is:incomplete": 0, "-is:incomplete": -1,
		"size:1500": 0, "size:>1.5kB": -1, "size:1kB..2kB": 0, "size:<2KiB": 0,
		"modified:2026-02-01": 0, "modified:2026-01": -1, "modified:2026-01..": 0, "created:2026": 0, "created:>2026-01-01": -1,
		"year:2025": 0, "year:2024": -1, "year:>2024": 0, "-year:2025": -1, "year:2020..2025": 0,
		// Properties.
		"temperature:20C": 0, "temperature:>19.99C": 0, "temperature:>20C": -1, "temperature:>=293.15K": 0, "temperature:<21": 0,
		"temperature:68..70F": 0, "temperature:>68F": -1, "temperature:>67.9F": 0, "temperature:20%": -1, "share:>50%": -1, "share:.5K": -1, "temperature:>5mm": -1, "width:500µm": 0, "width:<0.4mm": -1, "width:0.0004..0.0006m": 0, "width:.5": 0,
		"share:50%": 0, "share:>0.4": 0, "speed:3zork": 0, "speed:2..4zork": -1, "speed:>2": 0, "speed:3K": -1, "width:.5zork": -1,
		`"sample id":S1`: 0, `"sample id":S`: -1, `"sample id":"s1 left"`: 0, `"sample id":"left s1"`: -1, "sample.n:17": 0, "sample.n:1": -1,
		"ok:true": 0, "ok:false": -1, "-ok:false": 0, "sampled:2026-01": 0, "sampled:>2026-01-01": -1, "missing:x": -1, "-missing:x": 0,
	} {
		q, err := query.Parse(text)
		if err == nil {
			q, err = q.Resolve(find)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		matched, score := searchtest.Matches(q, file, si)
		if !matched {
			score = -1
		}
		if score != want {
			t.Errorf("%s: %d points, want %d", text, score, want)
		}
	}
}

// TestSpellings finds words by either spelling of their letters, in each of the fields, composed
// and decomposed.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for written, queries := range map[string][]string{
		"Müller Köln": {
			"mueller", "muller", "MUELLER", "Müller", "muell", "mull", `"mueller koeln"`, `"Müller koeln"`, "mueller-koeln", "koeln", "-muel",
			"tag:mueller-koeln", `tag:"Mueller Koeln"`, `creator:"koeln mueller"`, "creator:muell", `p:"mueller koeln"`, "p:koeln", "name:mueller", "name:ueller-koeln",
		},
		"Mueller Koeln":  {"müller", "Müll", `"Müller Köln"`, "müller-köl", `tag:"müller köln"`, "creator:müll", `p:"müller köln"`, "-muller", "-mull", "name:üller"},
		"Straße Malmö":   {"strasse", "Straße", "STRASSE-malmoe", "strass", `"strasse malmoe"`, "malmoe", "-malmoer"},
		"Ångström fuer":  {"aangstroem", "angstrom", "angstroem", "ångstrom", "aangs", `"angstroem für"`, "fuer", "für"},
		"Aangstroem Öl":  {"Ångström", "ångstr", "oel", "-oels", "-angstrom", `"ångström oel"`, "ångström-oel"},
		"full protocol":  {"-fuel", "-oel", "-fulel", "-toe", "-name:oel"},
		"Größenprüfung5": {"groessenpruefung5", "grössenpruefung", "groessenpruf"},
	} {
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			for _, text := range queries {
				text, written := form.String(text), norm.NFC.String(written)
				if form == norm.NFC {
					written = norm.NFD.String(written)
				}
				d := search.Document{
					Name: written, Tags: []string{"x", strings.ReplaceAll(written, " ", "-"), written}, Creators: []string{written},
					Properties: []search.Property{{Path: "p", Kind: search.Text, Text: written}},
				}
				q, err := query.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if matched, _ := searchtest.Matches(q, d, si); !matched {
					t.Errorf("%s does not find %s", text, written)
				}
			}
		}
	}
}

// TestContainers finds words in the names of the dataspace and the set. Such a match has fewer
// points than a match in the document's name, and requires a whole word or a prefix.
func TestContainers(t *testing.T) {
	t.Parallel()
	prepare := func(name, title string) *searchtest.Document {
		return searchtest.Prepare(search.Document{Name: name, Title: title}, si)
	}
	lab, raw := prepare("lab-one probe", ""), prepare("Raw run17", "Salt flats")
	for text, want := range map[string]int{
		"lab": 3, "la": 2, "ab": -1, `"lab one"`: 3, "lab-on": 2, "one-raw": -1, `"on"`: -1, "raw temperature": 15, "run17": 12, "probe": 3,
		"-raw": -1, "-lab ice": -1, "-ab ice": 9, "name:lab": -1, "lab raw": 6,
		"salt lab": 6, `"salt flats"`: 3, "run17-salt": -1,
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		matched, score := searchtest.Prepare(file, si).Matches(q, lab, raw)
		if !matched {
			score = -1
		}
		if score != want {
			t.Errorf("%s: %d points, want %d", text, score, want)
		}
	}
}

// TestNoYear checks that documents without a year match no range.
func TestNoYear(t *testing.T) {
	t.Parallel()
	q, err := query.Parse("year:<=9999")
	if err != nil {
		t.Fatal(err)
	}
	if matched, _ := searchtest.Matches(q, search.Document{Kind: search.Set}, si); matched {
		t.Error("a set without a year is found")
	}
}

// TestOnlyFilesHaveSizes tests that a condition on the size does not match sets.
func TestOnlyFilesHaveSizes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"size:0", "type:csv", "type:file"} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if matched, _ := searchtest.Matches(q, search.Document{Kind: search.Set, MediaType: "text/csv"}, si); matched {
			t.Errorf("%s finds a set", text)
		}
	}
}

// TestCorpus checks the generator: each kind of clause matches some documents, but not all.
func TestCorpus(t *testing.T) {
	t.Parallel()
	corpus := searchtest.NewCorpus(1, 10, 50)
	prepared := make([]*searchtest.Document, len(corpus.Documents))
	for i, d := range corpus.Documents {
		prepared[i] = searchtest.Prepare(d, si)
	}
	clauses, finds := make(map[query.Field]int), make(map[query.Field]int)
	for range 3000 {
		q, err := corpus.Query()
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for _, d := range prepared {
			if matched, _ := d.Matches(q); matched {
				hits++
			}
		}
		for _, c := range q.Clauses {
			clauses[c.Field]++
			if 0 < hits && hits < len(prepared) {
				finds[c.Field]++
			}
		}
	}
	for field := query.Any; field <= query.Property; field++ {
		if clauses[field] < 50 || finds[field]*10 < clauses[field] {
			t.Errorf("field %d: %d of %d clauses are in queries with matches", field, finds[field], clauses[field])
		}
	}
}

func TestCorpusIsStable(t *testing.T) {
	t.Parallel()
	a, b := searchtest.NewCorpus(7, 3, 20), searchtest.NewCorpus(7, 3, 20)
	for range 100 {
		qa, errA := a.Query()
		qb, errB := b.Query()
		if errA != nil || errB != nil || qa.String() != qb.String() {
			t.Fatalf("%q, %v and %q, %v", qa, errA, qb, errB)
		}
	}
	if !slices.EqualFunc(a.Documents, b.Documents, func(x, y search.Document) bool { return x.ID == y.ID && x.Name == y.Name }) {
		t.Error("the same seed generates two different corpora")
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	older, newer, last := search.Document{Stamp: 1}, search.Document{Stamp: 2}, search.Document{Stamp: 1, ID: [16]byte{1}}
	for i, less := range []bool{
		searchtest.Compare(older, 2, newer, 1) < 0,
		searchtest.Compare(newer, 1, older, 1) < 0,
		searchtest.Compare(older, 1, last, 1) < 0,
		searchtest.Compare(older, math.MaxInt, older, math.MaxInt) == 0,
	} {
		if !less {
			t.Errorf("pair %d is in the wrong order", i)
		}
	}
}
