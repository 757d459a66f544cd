package spreadsheet_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
)

// texts are strings that cause problems for spreadsheets, or for programs that read their files.
var texts = []string{
	"", " ", "a", " a ", "007", "7", "-7", "1.0", "1e5", "1E5", "0,5", "1,234", "1.234", "1.234.567", "+5", ".5", "5.", "1/2", "1-2", "2-1", "MAR1", "Sept 2", "1 Jan", "12:30", "50%", "$5", "5 a",
	"2026-01-02", "2026-01-02T10:20Z", "2026-01-02 10:20", "02.01.2026", "1/2/2026", "13/1/2026", "2-Jan-26", "Jan 25", "true", "FALSE", "WAHR", "Vero", "null", `"`, `"a"`, `""`, "'", "'a", "''",
	"{}", "[]", "[sic]", `{"value":1,"unit":"K"}`, "=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-1+1", "\tx", "\rx", "a\r\nb", "a\rb", "a\nb", "\n", "a,b", "a;b", "a\tb", "20 °C", "−20 °C", "-20 °C", "0.5 mm", "4K", "5 A", "3 cts",
	"a;=1", "a, ＝1", "=1;=2", " ＋1", "\n- a", "日本語", "é", "e\u0301", "µ", "Ω", "\ufeff", "\u00a0", "a\u00a0", "?", "100,000", "(1)", "10.5072/x", "id", "May", "Magnet 3",
}

// someText generates these strings and others.
var someText = rapid.Map(rapid.OneOf(rapid.SampledFrom(texts), rapid.StringN(0, 12, 40), rapid.StringMatching(`[-+=@'"{\[0-9 .,:/eEaAJjnN\n\r\t°CKm%;µ−]{1,9}`)),
	func(text string) string {
		return strings.Map(func(r rune) rune {
			if m := (descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: descriptive.TextOf(string(r))}}}); m.Validate(descriptive.Set) != nil {
				return -1
			}
			return r
		}, text)
	})

// someNumber generates numbers in JSON notation.
var someNumber = rapid.OneOf(rapid.SampledFrom([]string{"0", "-0", "7", "-7", "1.0", "1.234", "1234", "0.10", "1e5", "1E+05", "1.2345e-7", "123456789012345678", "-0.000012345678901", "9999999999999999999999"}),
	rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,12})?([eE][-+]?[0-9]{1,2})?`))

var someUnit = rapid.SampledFrom([]string{"°C", "K", "m", "mm", "%", "A", "a", "1/s", "kg m^-2", "cts", "per 100 g", "=x", "Ω", "m/s"})

var someName = rapid.SampledFrom([]string{"a", "b", "sample id", "Öl", "T (K)", "n", "value", "unit", "x-y", "0", "日"})

// someValue generates values that nest up to a depth.
func someValue(depth int) *rapid.Generator[descriptive.Value] {
	simple := []*rapid.Generator[descriptive.Value]{
		rapid.Map(someText, descriptive.TextOf),
		rapid.Map(someNumber, func(n string) descriptive.Value { return descriptive.NumberOf(descriptive.Number(n)) }),
		rapid.Map(rapid.Bool(), descriptive.TruthOf),
		rapid.Custom(func(t *rapid.T) descriptive.Value {
			return descriptive.QuantityOf(descriptive.Number(someNumber.Draw(t, "number")), someUnit.Draw(t, "unit"))
		}),
	}
	if depth == 0 {
		return rapid.OneOf(simple...)
	}
	list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[descriptive.Value] { return someValue(depth - 1) }), 0, 3), func(values []descriptive.Value) descriptive.Value {
		return descriptive.ListOf(values...)
	})
	return rapid.OneOf(append(simple, list, rapid.Map(someGroup(depth-1), descriptive.GroupOf))...)
}

func someGroup(depth int) *rapid.Generator[descriptive.Group] {
	return rapid.Custom(func(t *rapid.T) (g descriptive.Group) {
		for _, name := range rapid.SliceOfNDistinct(someName, 0, 4, rapid.ID).Draw(t, "names") {
			g = g.With(name, someValue(depth).Draw(t, "value"))
		}
		return g
	})
}

// someMetadata generates metadata of a set, which can have all members.
var someMetadata = rapid.Custom(func(t *rapid.T) descriptive.Metadata {
	m := descriptive.Metadata{Properties: someGroup(3).Draw(t, "properties")}
	for _, tag := range rapid.SliceOfDistinct(rapid.SampledFrom(texts), rapid.ID).Draw(t, "tags") {
		if tagged := (descriptive.Metadata{Tags: append(slices.Clip(m.Tags), tag)}); tagged.Validate(descriptive.Set) == nil {
			m.Tags = tagged.Tags
		}
	}
	if rapid.Bool().Draw(t, "core") {
		core := []string{`{"publisher":"=P","publicationYear":2026,"licence":"CC-BY-4.0"}`, `{"creators":[{"name":"Curie, Marie"}],"keywords":["1/2","a,b"]}`, `{"publisher":"007","resourceType":"Dataset"}`}
		merged, err := m.Merge([]byte(rapid.SampledFrom(core).Draw(t, "members")))
		if err != nil {
			t.Fatal(err)
		}
		m = merged
	}
	m, err := descriptive.Parse(m.Append(nil)) // groups that are quantities become quantities
	if err != nil {
		t.Fatal(err)
	}
	if m.Validate(descriptive.Set) != nil { // a group may be a quantity whose unit is invalid
		m.Properties = nil
	}
	return m
})

// TestRoundTrip writes random metadata and reads them. Applied to empty metadata, the file yields
// equal metadata. Applied to the same metadata, it changes nothing. No cell is a formula.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var objects []spreadsheet.Object
		for i, m := range rapid.SliceOfN(someMetadata, 1, 4).Draw(t, "metadata") {
			objects = append(objects, spreadsheet.Object{ID: fmt.Sprint("ID", i), ETag: fmt.Sprint("tag", i), Name: someText.Draw(t, "name"), Metadata: m})
		}
		separator := rapid.SampledFrom([]rune{',', ';'}).Draw(t, "separator")
		file := written(t, objects, separator)
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, "\ufeff")))
		r.Comma = separator
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range slices.Concat(rows...) {
			if _, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64); cell != "" && strings.Contains("=+-@\t\r", cell[:1]) && err != nil {
				t.Fatalf("the cell %q is a formula", cell)
			}
		}
		if cell := formulaIn(file); cell != "" {
			t.Fatalf("the cell %q is a formula in\n%s", cell, file)
		}
		for _, onto := range []string{"nothing", "themselves"} {
			presents := slices.Clone(objects)
			for i := range presents {
				if onto == "nothing" {
					presents[i].Metadata = descriptive.Metadata{}
				}
			}
			for i, got := range read(t, file, presents) {
				if !got.Equal(objects[i].Metadata) {
					t.Fatalf("onto %s\n%s\nbecame\n%s\nby\n%s", onto, objects[i].Metadata.Append(nil), got.Append(nil), file)
				}
			}
		}
	})
}

// formulaIn returns a formula that a spreadsheet finds in a file with commas, semicolons or tabs as
// separators, or "". Lists in lines of text, and numbers, are not formulas.
func formulaIn(file string) string {
	for _, separators := range []string{",\r\n", ";\r\n", "\t\r\n"} {
		for _, cell := range strings.FieldsFunc(file, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			bare := norm.NFKC.String(strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) || r == '"' }))
			if bare == "" || !strings.Contains("=+-@", bare[:1]) || number.MatchString(bare) || strings.HasPrefix(bare, "- ") || strings.HasPrefix(bare, "+ ") {
				continue
			}
			return cell
		}
	}
	return ""
}

// TestFormulaInLine tests that a line that begins with a sign and a space is an item of a list only
// if lists use that sign.
func TestFormulaInLine(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"=", "@", "＝", "＠", "﹦", "﹫"} {
		text := "a\n" + sign + " 1+1"
		m := descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: descriptive.TextOf(text)}}}
		o := spreadsheet.Object{ID: "1", ETag: "t", Name: text, Metadata: m}
		file := written(t, []spreadsheet.Object{o}, ',')
		if cell := formulaIn(file); cell != "" {
			t.Errorf("%q has the formula %q in\n%s", text, cell, file)
		}
		if got := read(t, file, []spreadsheet.Object{{ID: "1", ETag: "t", Name: text}}); !got[0].Equal(m) {
			t.Errorf("%s was read as %s", m.Append(nil), got[0].Append(nil))
		}
	}
}

// number matches a cell that begins with a sign but is a number.
var number = regexp.MustCompile(`^[-+][0-9.]+([eE][-+]?[0-9]+)?\s*($|[]"};,])`)

// TestFormulas tests that no string becomes a formula, and each string is read back unchanged.
func TestFormulas(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "﹢", "﹣", "﹫"} {
		for _, before := range []string{"", " ", "\u00a0", "\u3000", "\u200b", "\t", "\r", "\n", "a;", "a; ", ";", "a,", "a\t", "a\n", "a\r\n", `a;"`, `";`, "'", "a;'x;", "1;-5;", "a;\ufeff"} {
			text := before + sign + "1+cmd|' /C calc'!A0"
			group := descriptive.Group{{Name: "a", Value: descriptive.TextOf(text)}, {Name: "b", Value: descriptive.ListOf(descriptive.TextOf(text), descriptive.NumberOf("-5"))}}
			m := descriptive.Metadata{Properties: group, Tags: []string{strings.ReplaceAll(strings.TrimSpace(text), ",", ";")}}
			if m.Validate(descriptive.Set) != nil {
				m.Tags = nil
			}
			for _, separator := range ",;" {
				o := spreadsheet.Object{ID: "1", ETag: "t", Name: text, Metadata: m}
				file := written(t, []spreadsheet.Object{o}, separator)
				if cell := formulaIn(file); cell != "" {
					t.Errorf("%q has the formula %q in\n%s", text, cell, file)
				}
				if got := read(t, file, []spreadsheet.Object{{ID: "1", ETag: "t", Name: text}}); !got[0].Equal(m) {
					t.Errorf("%s was read as %s", m.Append(nil), got[0].Append(nil))
				}
			}
		}
	}
	for _, text := range []string{"- milled\n- sieved", "1;-5", "a, b; c", "x = 1", "mail a@b.org"} {
		o := spreadsheet.Object{ID: "1", ETag: "t", Metadata: descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: descriptive.TextOf(text)}}}}
		if file := written(t, []spreadsheet.Object{o}, ','); strings.Contains(file, `\u`) {
			t.Errorf("%q is escaped without need: %s", text, file)
		}
	}
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// written returns the exported file of objects.
func written(t fataler, objects []spreadsheet.Object, separator rune) string {
	t.Helper()
	var columns spreadsheet.Columns
	for _, o := range objects {
		columns.Add(o.Metadata)
	}
	var file bytes.Buffer
	w, err := spreadsheet.NewWriter(&file, columns, separator)
	for _, o := range objects {
		if err == nil {
			err = w.Write(o)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// edit imports a file, and returns the changed metadata of the objects, by id, and the problems.
func edit(t fataler, file string, objects []spreadsheet.Object) (after []descriptive.Metadata, problems []spreadsheet.Problem) {
	t.Helper()
	r, err := spreadsheet.NewReader(strings.NewReader(file))
	var wrong *spreadsheet.Problem
	for err == nil {
		var line spreadsheet.Line
		if line, err = r.Read(); err != nil {
			break
		}
		i := slices.IndexFunc(objects, func(o spreadsheet.Object) bool { return o.ID == line.ID })
		if i < 0 {
			t.Fatalf("row %d is of %q", line.Row, line.ID)
		}
		m, found := line.Edit(objects[i], descriptive.Set)
		after, problems = append(after, m), append(problems, found...)
	}
	if errors.As(err, &wrong) {
		return after, append(problems, *wrong)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return after, append(problems, r.Problems()...)
}

// read is like edit, for a file without problems.
func read(t fataler, file string, objects []spreadsheet.Object) []descriptive.Metadata {
	t.Helper()
	after, problems := edit(t, file, objects)
	if len(problems) > 0 {
		t.Fatalf("%+v of\n%s", problems, file)
	}
	return after
}
