package viewers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// cells returns the texts of the cells of a visible row. Row 0 is the header.
func (l *viewer) cells(row int) []string {
	l.T.Helper()
	role := "cell"
	if row == 0 {
		role = "columnheader"
	}
	texts := browser.Get(l.Visitor, chromedp.Evaluate[[]string](fmt.Sprintf(
		`[...document.querySelectorAll('.grid [aria-rowindex="%d"] > [role=%s]')].map((c) => c.textContent)`, row+1, role)))
	if row == 0 {
		return texts[1:] // without the column of row numbers
	}
	return texts
}

// The separator, decimal sign, encoding and header of a table are detected from its content.
func TestTableDialects(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	utf16le := func(text string) string {
		b := []byte{0xff, 0xfe}
		for _, unit := range utf16.Encode([]rune(text)) {
			b = append(b, byte(unit), byte(unit>>8))
		}
		return string(b)
	}
	for name, c := range map[string]struct {
		file, content string
		names, first  []string
		says          string
		numbers       int // columns of numbers
		later         []string
		separator     string
	}{
		"commas":        {file: "a.csv", content: "s,V\n0,1.5\n1,-2e-3\n", names: []string{"s", "V"}, first: []string{"0", "1.5"}, numbers: 2, later: []string{"1", "-2e-3"}},
		"decimal comma": {file: "b.csv", content: "t;x\n0,5;1,25\n1,5;2,5\n", names: []string{"t", "x"}, first: []string{"0,5", "1,25"}, numbers: 2},
		"quotes": {file: "c.csv", content: "name,note\n\"Doe, J.\",\"said \"\"no\"\"\"\n\"two\nlines\",x\n",
			names: []string{"name", "note"}, first: []string{"Doe, J.", `said "no"`}, later: []string{"two\nlines", "x"}},
		"open quote":          {file: "d.csv", content: "size,n\n\"5 inch,1\n\"6 inch,2\n", names: []string{"size", "n"}, first: []string{`"5 inch`, "1"}, numbers: 1},
		"tabs":                {file: "e.tsv", content: "a\tb\r\n1\t2, 3\r\n", names: []string{"a", "b"}, first: []string{"1", "2, 3"}, numbers: 1},
		"bars":                {file: "f.csv", content: "a|b|c\r1|2|3\r4|5|6\r", names: []string{"a", "b", "c"}, first: []string{"1", "2", "3"}, numbers: 3, later: []string{"4", "5", "6"}},
		"Latin-1":             {file: "g.csv", content: "Gr\xf6\xdfe;\xb5m\n1;2\n", names: []string{"Größe", "µm"}, first: []string{"1", "2"}, says: "Latin-1", numbers: 2},
		"mark":                {file: "h.csv", content: "\ufeffa;b\n1;2\n", names: []string{"a", "b"}, first: []string{"1", "2"}, numbers: 2},
		"UTF-16":              {file: "i.csv", content: utf16le("größe;b\n1;2\n"), names: []string{"größe", "b"}, first: []string{"1", "2"}, says: "UTF-16LE", numbers: 2},
		"no names":            {file: "j.csv", content: "1,2\n3,4\n", names: []string{"column 1", "column 2"}, first: []string{"1", "2"}, numbers: 2},
		"spaces":              {file: "m.dat", content: "# made by a program\n#  t [s]   x\n  0.0   1.5e-3\n  1.0  -2\n", names: []string{"column 1", "column 2"}, first: []string{"0.0", "1.5e-3"}, numbers: 2, later: []string{"1.0", "-2"}, says: "2 lines before the table"},
		"names before spaces": {file: "n.dat", content: "time   counts\n 1   2\n 3   4\n", names: []string{"time", "counts"}, first: []string{"1", "2"}, numbers: 2},
		"Grace": {file: "o.xvg", content: "# gmx energy\n@    title \"Energies\"\n@    xaxis  label \"Time (ps)\"\n@ s0 legend \"Potential\"\n@ s1 legend \"Kinetic\"\n    0.000000  -52.5  10\n    1.000000  -53.5  11\n",
			names: []string{"Time (ps)", "Potential", "Kinetic"}, first: []string{"0.000000", "-52.5", "10"}, numbers: 3, says: "5 lines before the table"},
		"numpy":          {file: "k.csv", content: "# made by numpy\n# x, y\n1,2\n3,4\n", names: []string{"x", "y"}, first: []string{"1", "2"}, says: "2 lines before the table", numbers: 2},
		"device":         {file: "l.csv", content: "Device: D2\nDate: today\n\nangle;counts\n10;5\n11;6\n12;7\n", names: []string{"angle", "counts"}, first: []string{"10", "5"}, says: "2 lines before the table", numbers: 2},
		"ragged":         {file: "m.csv", content: "a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,1,1\n", names: []string{"a", "b", "c"}, first: []string{"1", "2", "3"}, later: []string{"4", "5", ""}, numbers: 3},
		"in the address": {file: "n.csv", content: "a;b,c;d\n1;2,3;4\n", names: []string{"column 1", "column 2"}, first: []string{"a;b", "c;d"}, separator: "comma"},
	} {
		t.Log(name)
		r := l.put(c.file, c.content)
		query := ""
		if c.separator != "" {
			query = "?separator=" + c.separator + "&names=none"
		}
		l.GoTo("/resources/" + r.ID + query)
		l.shows("table", ".cells [role=cell]")
		if got := l.cells(0); !slices.Equal(got, c.names) {
			t.Errorf("%s: the columns are %q, want %q", name, got, c.names)
		}
		if got := l.cells(1); !slices.Equal(got, c.first) {
			t.Errorf("%s: the first row is %q, want %q", name, got, c.first)
		}
		if got := l.cells(2); c.later != nil && !slices.Equal(got, c.later) {
			t.Errorf("%s: the second row is %q, want %q", name, got, c.later)
		}
		if got := browser.Get(l.Visitor, chromedp.Evaluate[int](`document.querySelectorAll(".grid .head .number").length`)); got != c.numbers {
			t.Errorf("%s: %d columns are detected as numbers, want %d", name, got, c.numbers)
		}
		l.Sees(c.says)
	}
}

// large returns a table of about size bytes.
func large(size int) string {
	var b bytes.Buffer
	b.Grow(size + 64)
	b.WriteString("n,value,wave\n")
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%d,%d.%03d,%d\n", n, n%977, n%1000, n%50-25)
	}
	return b.String()
}

// Only the visible part of a large table and some following rows are fetched.
func TestLargeTableIsReadOnDemand(t *testing.T) {
	t.Parallel()
	size := 50 << 20
	if testing.Short() {
		size = 12 << 20
	}
	l := openViewer(t)
	r := l.put("long.csv", large(size))
	l.fetched()
	l.At("/resources/" + r.ID)
	l.shows("table", ".cells [role=cell]")
	l.Sees("more is loaded as you scroll")
	if got, requests := l.fetched(); got > 128<<10 {
		t.Errorf("%d bytes were fetched before scrolling, by %d requests", got, len(requests))
	}
	l.Until(`(document.querySelector(".grid").scrollTop = 1e9, Number(document.querySelector(".grid .canvas").dataset.rows) > 5000)`)
	l.Until(`document.querySelector('.grid [aria-rowindex="5001"]') || (document.querySelector(".grid").scrollTop = 5000 * 26, false)`)
	if got := l.cells(5000); !slices.Equal(got, []string{"5000", "115.000", "-25"}) {
		t.Errorf("row 5000 is %q", got)
	}
	l.idle() // wait for requests that scrolling has started
	if got, _ := l.fetched(); got == 0 || got > 2<<20 {
		t.Errorf("scrolling to row 5000 fetched %d bytes", got)
	}
	l.Press("Plot")
	l.shows("table", ".chart canvas")
	l.Sees("The plot shows the first", "Load all")
	l.Shots("large-plot")
	if got, _ := l.fetched(); got != 0 {
		t.Errorf("the plot fetched %d bytes before a click", got)
	}
}

// "Load all" loads the whole table. The plot reports its downsampling, and the table scrolls to the
// last row.
func TestPlotOfAllRows(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	content := large(8 << 20)
	rows := strings.Count(content, "\n") - 1
	r := l.put("long.csv", content)
	l.At("/resources/" + r.ID + "?view=plot")
	browser.Click(l.Visitor, chromedp.Search(`//button[starts-with(normalize-space(), "Load all")]`))
	l.Sees(fmt.Sprintf("The %s rows in view", thousands(rows)))
	l.Until(`Number(document.querySelector(".chart").dataset.points) <= 5000`)
	if got, _ := l.fetched(); got > int64(len(content)) {
		t.Errorf("a file of %d bytes caused %d fetched bytes", len(content), got)
	}
	l.Press("Table")
	l.Until(fmt.Sprintf(`(document.querySelector(".grid").scrollTop = 1e9, document.querySelector('.grid [aria-rowindex="%d"]'))`, rows+1))
	if got := l.cells(rows); got[0] != fmt.Sprint(rows) {
		t.Errorf("the last row is %q, want %d", got, rows)
	}
}

// thousands formats a number like the pages.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
