package query_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

const open = math.MaxInt64

func word(text ...string) query.Clause { return query.Clause{Field: query.Any, Words: text} }

func phrase(text ...string) query.Clause {
	return query.Clause{Field: query.Any, Words: text, Whole: true}
}

func not(c query.Clause) query.Clause { c.Not = true; return c }

func span(field query.Field, from, to int64) query.Clause {
	return query.Clause{Field: field, Span: &query.Span{From: from, To: to}}
}

// day returns the start of a day in microseconds.
func day(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).UnixMicro()
}

// property returns a clause of a property; low and high may be nil, and words "".
func property(path, words string, low, high *query.Bound) query.Clause {
	c := query.Clause{Field: query.Property, Path: path, Words: strings.Fields(words), Whole: true}
	if low != nil || high != nil {
		c.Numbers = &query.Numbers{Low: low, High: high}
	}
	return c
}

func closed(value float64, unit string) *query.Bound {
	return &query.Bound{Value: value, Unit: unit, Closed: true}
}

func beyond(value float64, unit string) *query.Bound { return &query.Bound{Value: value, Unit: unit} }

func withSpan(c query.Clause, from, to int64) query.Clause {
	c.Span = &query.Span{From: from, To: to}
	return c
}

// TestParse tests the rows of docs/reference/search.md, and strings that look like fields.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tests := range [][]parsed{wordTests, fieldTests, sizeTests, dateTests, yearTests, propertyTests, quantityTests, mixtures} {
		for _, test := range tests {
			q, err := query.Parse(test.text)
			if err != nil {
				t.Errorf("%s: %v", test.text, err)
				continue
			}
			checkClauses(t, test.text, q, test.want)
			checkRoundTrip(t, q)
		}
	}
}

type parsed struct {
	text string
	want []query.Clause
}

func one(text string, want query.Clause) parsed { return parsed{text, []query.Clause{want}} }

var wordTests = []parsed{
	{"", nil},
	{"   ", nil},
	{"Run17 café", []query.Clause{word("run17"), word("cafe")}},
	{"run17\tcafé\u3000温度", []query.Clause{word("run17"), word("cafe"), word("温", "度")}},
	one("2026-03-14_run17.csv", word("2026", "03", "14", "run17", "csv")),
	one(`"Ice Core"`, phrase("ice", "core")),
	one(`“Ice "Core"”`, phrase("ice", "core")),
	one(`„Eis“`, phrase("eis")),
	one(`"a ""b"" c"`, phrase("a", "b", "c")),
	{`"a"b"c"`, []query.Clause{phrase("a"), word("b", "c")}},
	{`-raw -"ice core" x`, []query.Clause{not(word("raw")), not(phrase("ice", "core")), word("x")}},
	{"a - b & c -", []query.Clause{word("a"), word("b"), word("c")}},
	one("--force", word("force")),
	{"a OR b", []query.Clause{word("a"), word("or"), word("b")}},
	one("12:30", word("12", "30")),
	one("2026-03-14T12:30:05", word("2026", "03", "14t12", "30", "05")),
	one("http://example.org/a?b=c:d", word("http", "example", "org", "a", "b", "c", "d")),
	one(`C:\data`, word("c", "data")),
	one("std::map", word("std", "map")),
	{"note: hello", []query.Clause{word("note"), word("hello")}},
	one("smile:)", word("smile")),
	one("(a,b:c)", word("a", "b", "c")),
	one("in://x", word("in", "x")),
	one(`5"`, word("5")),
	{`"a"-"b"`, []query.Clause{phrase("a"), not(phrase("b"))}},
}

var fieldTests = []parsed{
	one("name:run17_sam", query.Clause{Field: query.Name, Words: []string{"run17", "sam"}}),
	one(`NAME:"run 17"`, query.Clause{Field: query.Name, Words: []string{"run", "17"}, Whole: true}),
	one("tag:Été", query.Clause{Field: query.Tag, Text: "ete"}),
	one(`-tag:"Ice Core"`, not(query.Clause{Field: query.Tag, Text: "ice core"})),
	one("type:image", query.Clause{Field: query.Type, Text: "image"}),
	one("type:image/*", query.Clause{Field: query.Type, Text: "image"}),
	one("type:Image/PNG", query.Clause{Field: query.Type, Text: "image/png"}),
	one("type:csv", query.Clause{Field: query.Type, Text: "csv"}),
	one("type:set", query.Clause{Field: query.OfKind, Kind: search.Set}),
	one("type:dataspace", query.Clause{Field: query.OfKind, Kind: search.Dataspace}),
	one("type:file", query.Clause{Field: query.OfKind, Kind: search.Resource}),
	one("in:Physics", query.Clause{Field: query.In, Text: "Physics"}),
	one(`in:"Physics/Raw data"`, query.Clause{Field: query.In, Text: "Physics/Raw data"}),
	one("by:Ada", query.Clause{Field: query.By, Text: "ada"}),
	one("creator:Curie", query.Clause{Field: query.Creator, Words: []string{"curie"}}),
	one(`creator:"Marie Curie"`, query.Clause{Field: query.Creator, Words: []string{"marie", "curie"}, Whole: true}),
	one("creator:0000-0002-1825-0097", query.Clause{Field: query.Creator, Words: []string{"0000", "0002", "1825", "0097"}}),
	one("is:incomplete", query.Clause{Field: query.Incomplete}),
	one("-is:Incomplete", not(query.Clause{Field: query.Incomplete})),
}

var sizeTests = []parsed{
	one("size:>1GB", span(query.Size, 1e9+1, open)),
	one("size:>=1GB", span(query.Size, 1e9, open)),
	one("size:≥1gb", span(query.Size, 1e9, open)),
	one("size:<1KiB", span(query.Size, math.MinInt64, 1024)),
	one("size:<=1.5kB", span(query.Size, math.MinInt64, 1501)),
	one("size:1kB..2MB", span(query.Size, 1000, 2e6+1)),
	one("size:1..2MB", span(query.Size, 1e6, 2e6+1)),
	one("size:1MB..2", span(query.Size, 1e6, 2e6+1)),
	one("size:1.1GB..", span(query.Size, 1.1e9, open)),
	one("size:..2M", span(query.Size, math.MinInt64, 2e6+1)),
	one("size:0", span(query.Size, 0, 1)),
	one(`size:>"10 MiB"`, span(query.Size, 10<<20+1, open)),
	one(`size:">10 MiB"`, span(query.Size, 10<<20+1, open)),
}

var dateTests = []parsed{
	one("modified:2026", span(query.Modified, day(2026, 1, 1), day(2027, 1, 1))),
	one("modified:2026-01", span(query.Modified, day(2026, 1, 1), day(2026, 2, 1))),
	one("modified:2026-02-28", span(query.Modified, day(2026, 2, 28), day(2026, 3, 1))),
	one("modified:2026-01..", span(query.Modified, day(2026, 1, 1), open)),
	one("modified:..2026-01", span(query.Modified, math.MinInt64, day(2026, 2, 1))),
	one("modified:2025-12..2026", span(query.Modified, day(2025, 12, 1), day(2027, 1, 1))),
	one("modified:2025..2026", span(query.Modified, day(2025, 1, 1), day(2027, 1, 1))),
	one("created:>2026-01-01", span(query.Created, day(2026, 1, 2), open)),
	one("created:>=2026-01-01", span(query.Created, day(2026, 1, 1), open)),
	one("created:<2026-01-01", span(query.Created, math.MinInt64, day(2026, 1, 1))),
	one("created:<=2026-01-01", span(query.Created, math.MinInt64, day(2026, 1, 2))),
	one("created:2026-01-01T10:30", span(query.Created, day(2026, 1, 1)+630*60e6, day(2026, 1, 1)+631*60e6)),
	one("created:2026-01-01T00:00:07Z..", span(query.Created, day(2026, 1, 1)+7e6, open)),
}

var yearTests = []parsed{
	one("year:2024", span(query.Year, 2024, 2025)),
	one("Year:2020..2024", span(query.Year, 2020, 2025)),
	one("year:>2020", span(query.Year, 2021, open)),
	one("year:..2024", span(query.Year, math.MinInt64, 2025)),
	one("-year:2024", not(span(query.Year, 2024, 2025))),
	one(`"year":3`, property("year", "3", closed(3, ""), closed(3, ""))),
}

var propertyTests = []parsed{
	one("operator:Ada", property("operator", "ada", nil, nil)),
	one(`operator:"Ada Lovelace"`, property("operator", "ada lovelace", nil, nil)),
	one(`"Sample ID":S1`, property("sample id", "s1", nil, nil)),
	one(`-"Sample ID":"S 1"`, not(property("sample id", "s 1", nil, nil))),
	one("sample.id:S1", property("sample.id", "s1", nil, nil)),
	one(`"tag":x`, property("tag", "x", nil, nil)),
	one(`"a"::0`, property("a", "0", nil, nil)),
	one(`"2theta":x`, property("2theta", "x", nil, nil)),
	one("ok:true", withOthers(property("ok", "true", nil, nil), []words.Spelling{{Text: "tru", Whole: true}})),
	one("doi:10.5072/x", property("doi", "10 5072 x", closed(10.5072, "/x"), closed(10.5072, "/x"))),
	one("path:../x", property("path", "x", nil, nil)),
	one("température:x", property("temperature", "x", nil, nil)),
	one("温度:x", property("温度", "x", nil, nil)),
	one("sampled:2026-01", withSpan(property("sampled", "2026 01", nil, nil), day(2026, 1, 1), day(2026, 2, 1))),
	one("sampled:>2026-01", withSpan(property("sampled", "", nil, nil), day(2026, 2, 1), open)),
	one("sampled:2025..2026", withSpan(property("sampled", "", closed(2025, ""), closed(2026, "")), day(2025, 1, 1), day(2027, 1, 1))),
}

var mixtures = []parsed{
	{`Ice -tag:raw size:>1kB "x y" temperature:>20C`, []query.Clause{
		word("ice"), not(query.Clause{Field: query.Tag, Text: "raw"}), span(query.Size, 1001, open), phrase("x", "y"),
		property("temperature", "", beyond(20, "C"), nil),
	}},
	one(strings.Repeat("é", 250), word(strings.Repeat("e", 64))),
}

func checkClauses(t *testing.T, text string, q query.Query, want []query.Clause) {
	t.Helper()
	if len(q.Clauses) != len(want) {
		t.Errorf("%s: %d clauses, want %d: %+v", text, len(q.Clauses), len(want), q.Clauses)
		return
	}
	for i, got := range q.Clauses {
		if !same(got, want[i]) {
			t.Errorf("%s: clause %d is %+v, want %+v", text, i, got, want[i])
		}
	}
}

// same compares clauses without their source. Nil and empty words are equal.
func same(a, b query.Clause) bool {
	a.Source, b.Source = "", ""
	if len(a.Words) == 0 && len(b.Words) == 0 {
		a.Words, b.Words = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// checkRoundTrip fails the test unless the canonical form of q parses to q, and is its own
// canonical form.
func checkRoundTrip(t *testing.T, q query.Query) {
	t.Helper()
	canonical := q.String()
	again, err := query.Parse(canonical)
	if err != nil {
		t.Errorf("canonical %q: %v", canonical, err)
		return
	}
	if !reflect.DeepEqual(again, q) || again.String() != canonical {
		t.Errorf("canonical %q parses to %#v (%q), not %#v", canonical, again, again.String(), q)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  a\u3000 B  ":              "a B",
		"a - b":                      "a b",
		`-TAG:“Ice "Core"”`:          `-tag:"Ice ""Core"""`,
		`"operator":Ada "size":3`:    `operator:Ada "size":3`,
		`"Sample ID":S1 -x:>"5 mm"`:  `"Sample ID":S1 -x:">5 mm"`,
		`"a"b http://x 12:30 note:`:  `"a" b http://x 12:30 note:`,
		"Type:image/* MODIFIED:2026": "type:image/* modified:2026",
	} {
		q, err := query.Parse(text)
		if err != nil || q.String() != want {
			t.Errorf("%s: %q, %v; want %q", text, q.String(), err, want)
		}
	}
}

// glued returns negated phrases of four characters each, all different, without spaces between
// them.
func glued(phrases int) string {
	var b strings.Builder
	for i := range phrases {
		b.WriteString(`-"` + strings.Repeat(string(rune('一'+i)), 4) + `"`)
	}
	return b.String()
}

// numbers returns n different words.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()
}

// TestParseCountsOnce checks that repeated clauses, in any spelling, count once towards the limit,
// because each clause costs work.
func TestParseCountsOnce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ice ICE Ice core ice":                   "ice core",
		strings.Repeat("t ", 249) + "t":          "t",
		`ice "ice" -ice name:ice Name:ICE`:       `ice "ice" -ice name:ice`,
		"in:a in:A":                              "in:a in:A",
		"width:>5mm width:>5mm width:>6mm":       "width:>5mm width:>6mm",
		"size:>1kB size:>1000 modified:2026":     "size:>1kB modified:2026",
		"tag:ice tag:ICE -tag:ice n:1 m:1 n:1.0": "tag:ice -tag:ice n:1 m:1 n:1.0",
	} {
		if q, err := query.Parse(text); err != nil || q.String() != want {
			t.Errorf("%s: %q (%v), want %q", text, q.String(), err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]query.Error{
		strings.Repeat("a", 501):           {0, "", "at most 500 bytes"},
		glued(query.MaxClauses):            {0, "", "with a space after each quotation"},
		numbers(query.MaxClauses + 1):      {0, "", "at most 32 words"},
		"a\xff":                            {0, "", "valid UTF-8"},
		"- & …":                            {0, "- & …", "a letter or digit"},
		`a "b c`:                           {2, `"b c`, "the closing quote is missing"},
		`a tag:"b c`:                       {6, `"b c`, "the closing quote is missing"},
		"a tag: b":                         {2, "tag:", "a value follows the colon"},
		`tag:" "`:                          {0, `tag:" "`, "a value follows the colon"},
		"name:--":                          {5, "--", "a letter or digit"},
		"is:complete":                      {3, "complete", "must be is:incomplete"},
		"size:big":                         {5, "big", "a size is a number"},
		"size:>1XB":                        {5, ">1XB", "a size is a number"},
		"size:-1":                          {5, "-1", "a size is a number"},
		"size:1e300GB":                     {5, "1e300GB", "a size is a number"},
		"size:..":                          {5, "..", "a size is a number"},
		"size:2MB..1MB":                    {5, "2MB..1MB", "ends before it begins"},
		"size:<0..1":                       {5, "<0..1", "a size is a number"},
		"x modified:2026-13":               {11, "2026-13", "a date is a year"},
		"modified:2026-02-29":              {9, "2026-02-29", "a date is a year"},
		"modified:26":                      {9, "26", "a date is a year"},
		"created:2026..2025":               {8, "2026..2025", "ends before it begins"},
		"year:24":                          {5, "24", "four digits"},
		"year:+202":                        {5, "+202", "four digits"},
		"year:2024-03":                     {5, "2024-03", "four digits"},
		"year:2024..2020":                  {5, "2024..2020", "ends before it begins"},
		"operator:>Ada":                    {9, ">Ada", "comparisons require a number"},
		"width:>1,234mm":                   {6, ">1,234mm", "the number 1,234 can be read in two ways"},
		"width:1..1.234.567":               {6, "1..1.234.567", "the number 1.234.567 can be read in two ways"},
		"time:>12h30":                      {5, ">12h30", "comparisons require a number"},
		"n:>5/2":                           {2, ">5/2", "comparisons require a number"},
		"temperature:25C..20C":             {12, "25C..20C", "ends before it begins"},
		`"Sample ID":--`:                   {12, "--", "a letter or digit"},
		`operator:"?"`:                     {9, `"?"`, "a letter or digit"},
		`"Sample, ID":x`:                   {0, `"Sample, ID"`, "a property name"},
		`"a..b":x`:                         {0, `"a..b"`, "a property name"},
		`-x "` + strings.Repeat("a ", 249): {0, "", "at most 500 bytes"},
	} {
		_, err := query.Parse(text)
		var got *query.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: error %v, want %q", text, err, want.Rule)
			continue
		}
		if got.At != want.At || got.Part != want.Part || !strings.Contains(got.Error(), want.Rule) {
			t.Errorf("%s: at %d %q: %v, want at %d %q: %s", text, got.At, got.Part, got, want.At, want.Part, want.Rule)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tests := range [][]parsed{wordTests, fieldTests, sizeTests, dateTests, yearTests, propertyTests, quantityTests, mixtures} {
		for _, test := range tests {
			f.Add(test.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Parse(text)
		var refused *query.Error
		switch {
		case err == nil:
			checkRoundTrip(t, q)
		case !errors.As(err, &refused), refused.At < 0, refused.At > len(text), refused.Rule == "":
			t.Errorf("%q: error %v", text, err)
		}
	})
}

// TestDocumentedQueries parses the code in docs/reference/search.md, except code in another syntax.
func TestDocumentedQueries(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/search.md")
	if err != nil {
		t.Fatal(err)
	}
	signs := strings.Fields(`* // \ : ≥ ≤`)
	found := 0
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(text), -1) {
		if slices.Contains(signs, match[1]) {
			continue
		}
		found++
		_, err := query.Parse(match[1])
		if isWrong := match[1] == "tag: x"; (err != nil) != isWrong {
			t.Errorf("%s: error %v", match[1], err)
		}
	}
	if found < 80 {
		t.Errorf("the page has only %d queries", found)
	}
}
