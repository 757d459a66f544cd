package viewers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// knownTable is the result of pyarrow for a file of testdata/tables.
type knownTable struct {
	Rows    int
	Columns []string
	Cells   [][]string
}

func tableFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "tables", name)
}

// tableDecoder returns the decoder of a file.
func tableDecoder(name string) string {
	if strings.HasSuffix(name, ".parquet") {
		return "parquet"
	}
	return "arrow"
}

// Parquet and Arrow files by other projects show the columns and rows that pyarrow finds, for all
// compressions and encodings.
func TestSightOfTables(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	var files map[string]knownTable
	if err := json.Unmarshal([]byte(tableFile(t, "expected.json")), &files); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if testing.Short() && i%2 == 1 {
			continue
		}
		t.Log(name)
		want := files[name]
		l.file(name, tableFile(t, name))
		l.sights(tableDecoder(name))
		l.Sees(map[bool]string{true: "one row", false: browser.Grouped(want.Rows) + " rows"}[want.Rows == 1], "rows")
		l.showsArray("rows", shortened(want.Cells))
		shown := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".sheet-table thead th:not(.at)")].map((e) => e.textContent)`))
		if len(shown) < len(want.Columns) || !slices.Equal(shown[:len(want.Columns)], want.Columns) {
			t.Errorf("%s has the columns %q; want %q", name, shown, want.Columns)
		}
		if slices.Contains([]string{"v0.7.1.parquet", "nullable.impala.parquet", "1.0.0-nested.arrow"}, name) {
			l.Shots("sight-" + name)
		}
	}
}

// shortened returns cells as a table shows them: only the start of long cells.
func shortened(cells [][]string) [][]string {
	const most = 300
	for _, row := range cells {
		for i, cell := range row {
			if letters := utf16.Encode([]rune(cell)); len(letters) > most {
				row[i] = string(utf16.Decode(letters[:most])) + "…"
			}
		}
	}
	return cells
}

// The schema view shows the types of columns, their compression and encoding, and the metadata of
// other programs.
func TestSightOfSchema(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("v0.7.1.parquet", tableFile(t, "v0.7.1.parquet"))
	l.Sees("created by", "parquet-cpp")
	l.Sees("pandas", "index_columns")
	l.Until(`document.querySelector(".items .fold[aria-expanded=true]") || document.querySelector(".items .fold")?.click()`)
	l.Until(`[...document.querySelectorAll(".items button")].find((b) => b.textContent === "carat")?.click() || document.querySelector(".side h2")?.textContent === "carat"`)
	l.Sees("double, optional", "double")
	l.Sees("snappy", "snappy")
	l.Sees("plain_dictionary", "plain")
}

// A damaged or hostile table shows an error, in a cell or above the bytes, and does not break the
// page.
func TestSightOfHostileTables(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	whole := tableFile(t, "nullable.impala.parquet")
	arrow := tableFile(t, "21.0.0-map.arrow")
	for _, c := range []struct{ name, content, says string }{
		{"broken-ARROW-GH-45185.parquet", "", "It seems to be broken"},
		{"broken-ARROW-RS-GH-6229-DICTHEADER.parquet", "", "not read: A page declares -26 values"},
		{"broken-PARQUET-1481.parquet", "", "It seems to be broken"},
		{"broken-5077390980284416.arrows", "", "ends within a message"},
		{"broken-5707642416922624.arrow", "", "ends within a message"},
		{"broken-5301064831401984.arrow", "", "A column has offsets that are not valid"},
		{"broken-bigendian.arrow", "", "big-endian"},
		{"made-deep.parquet", "", "has more than 100 levels"},
		{"made-deep.arrow", "", "has more than 64 levels"},
		{"made-dictionary.parquet", "", "1,000,000 rows"},
		{"made-names.parquet", "", "one row"},
		{"made-names.arrow", "", "one row"},
		{"made-bomb.arrow", "", "unpacks to more than 64 MiB"},
		{"made-short.arrow", "", "A column ends before its batch does"},
		{"rows.parquet", parquetOf(1<<40, 1<<30, []byte{1, 0, 0}), "A page declares 1073741824 values"},
		{"runs.parquet", parquetOf(1000, 1000, []byte{8, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0}), "a run that is longer than the page"},
		{"many.parquet", parquetOf(1<<40, 1000, []byte{1, 0xd0, 0x0f, 0}), "1,099,511,627,776 rows"},
		{"footer.parquet", whole[:len(whole)-8] + "\xff\xff\xff\x7fPAR1", "footer would be longer"},
		{"cut.parquet", whole[:len(whole)/2], "it was cut off"},
		{"cut.arrow", arrow[:len(arrow)/2], "it was cut off"},
		{"feather1.feather", "FEA1" + strings.Repeat("\x00", 100), "Feather version 1"},
	} {
		t.Log(c.name)
		if c.content == "" {
			c.content = tableFile(t, c.name)
		}
		l.file(c.name, c.content)
		l.Until(`document.querySelector(".preview .hex, .preview [data-sight]")`)
		l.Sees(c.says)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
	}
}
