package browser

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// cells brings the texts of the cells of a row that is in sight; row 0 are the names.
func (l *looker) cells(row int) []string {
	l.t.Helper()
	role := "cell"
	if row == 0 {
		role = "columnheader"
	}
	texts := get(l.visitor, chromedp.Evaluate[[]string](fmt.Sprintf(
		`[...document.querySelectorAll('.grid [aria-rowindex="%d"] > [role=%s]')].map((c) => c.textContent)`, row+1, role)))
	if row == 0 {
		return texts[1:] // the first is the number of the row
	}
	return texts
}

// How a table is written is found out from what it holds.
func TestPreviewReadsTables(t *testing.T) {
	t.Parallel()
	l := look(t)
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
		numbers       int // columns that hold numbers
		later         []string
		separator     string
	}{
		"commas":        {file: "a.csv", content: "s,V\n0,1.5\n1,-2e-3\n", names: []string{"s", "V"}, first: []string{"0", "1.5"}, numbers: 2, later: []string{"1", "-2e-3"}},
		"decimal comma": {file: "b.csv", content: "t;x\n0,5;1,25\n1,5;2,5\n", names: []string{"t", "x"}, first: []string{"0,5", "1,25"}, numbers: 2},
		"quotes": {file: "c.csv", content: "name,note\n\"Doe, J.\",\"said \"\"no\"\"\"\n\"two\nlines\",x\n",
			names: []string{"name", "note"}, first: []string{"Doe, J.", `said "no"`}, later: []string{"two\nlines", "x"}},
		"open quote":  {file: "d.csv", content: "size,n\n\"5 inch,1\n\"6 inch,2\n", names: []string{"size", "n"}, first: []string{`"5 inch`, "1"}, numbers: 1},
		"tabs":        {file: "e.tsv", content: "a\tb\r\n1\t2, 3\r\n", names: []string{"a", "b"}, first: []string{"1", "2, 3"}, numbers: 1},
		"bars":        {file: "f.csv", content: "a|b|c\r1|2|3\r4|5|6\r", names: []string{"a", "b", "c"}, first: []string{"1", "2", "3"}, numbers: 3, later: []string{"4", "5", "6"}},
		"Latin-1":     {file: "g.csv", content: "Gr\xf6\xdfe;\xb5m\n1;2\n", names: []string{"Größe", "µm"}, first: []string{"1", "2"}, says: "Latin-1", numbers: 2},
		"mark":        {file: "h.csv", content: "\ufeffa;b\n1;2\n", names: []string{"a", "b"}, first: []string{"1", "2"}, numbers: 2},
		"UTF-16":      {file: "i.csv", content: utf16le("größe;b\n1;2\n"), names: []string{"größe", "b"}, first: []string{"1", "2"}, says: "UTF-16LE", numbers: 2},
		"no names":    {file: "j.csv", content: "1,2\n3,4\n", names: []string{"column 1", "column 2"}, first: []string{"1", "2"}, numbers: 2},
		"numpy":       {file: "k.csv", content: "# made by numpy\n# x, y\n1,2\n3,4\n", names: []string{"x", "y"}, first: []string{"1", "2"}, says: "2 lines before the table", numbers: 2},
		"device":      {file: "l.csv", content: "Device: D2\nDate: today\n\nangle;counts\n10;5\n11;6\n12;7\n", names: []string{"angle", "counts"}, first: []string{"10", "5"}, says: "2 lines before the table", numbers: 2},
		"ragged":      {file: "m.csv", content: "a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,1,1\n", names: []string{"a", "b", "c"}, first: []string{"1", "2", "3"}, later: []string{"4", "5", ""}, numbers: 3},
		"as one says": {file: "n.csv", content: "a;b,c;d\n1;2,3;4\n", names: []string{"column 1", "column 2"}, first: []string{"a;b", "c;d"}, separator: "comma"},
	} {
		t.Log(name)
		r := l.put(c.file, c.content)
		query := ""
		if c.separator != "" {
			query = "?separator=" + c.separator + "&names=none"
		}
		l.at("/resources/" + r.ID + query)
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
		if got := get(l.visitor, chromedp.Evaluate[int](`document.querySelectorAll(".grid .head .number").length`)); got != c.numbers {
			t.Errorf("%s: %d columns are said to hold numbers, want %d", name, got, c.numbers)
		}
		l.sees(c.says)
	}
}

// large makes a table of about so many bytes.
func large(size int) string {
	var b bytes.Buffer
	b.Grow(size + 64)
	b.WriteString("n,value,wave\n")
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%d,%d.%03d,%d\n", n, n%977, n%1000, n%50-25)
	}
	return b.String()
}

// Of a large table only so much is fetched as somebody looks at.
func TestPreviewOfLargeTable(t *testing.T) {
	t.Parallel()
	size := 50 << 20
	if testing.Short() {
		size = 12 << 20
	}
	l := look(t)
	r := l.put("long.csv", large(size))
	l.fetched()
	l.at("/resources/" + r.ID)
	l.shows("table", ".cells [role=cell]")
	l.sees("more follows as you scroll")
	if got, requests := l.fetched(); got > 128<<10 {
		t.Errorf("%d bytes were fetched before anybody scrolled, by %d requests", got, len(requests))
	}
	l.until(`(document.querySelector(".grid").scrollTop = 1e9, Number(document.querySelector(".grid .canvas").dataset.rows) > 5000)`)
	l.until(`document.querySelector('.grid [aria-rowindex="5001"]') || (document.querySelector(".grid").scrollTop = 5000 * 26, false)`)
	if got := l.cells(5000); !slices.Equal(got, []string{"5000", "115.000", "-25"}) {
		t.Errorf("row 5000 is %q", got)
	}
	l.settled() // what was asked for while it scrolled
	if got, _ := l.fetched(); got == 0 || got > 2<<20 {
		t.Errorf("scrolling to row 5000 fetched %d bytes", got)
	}
	l.press("Plot")
	l.shows("table", ".chart canvas")
	l.sees("Plotted is the first", "Load all")
	l.shots("large-plot")
	if got, _ := l.fetched(); got != 0 {
		t.Errorf("the plot fetched %d bytes that nobody asked for", got)
	}
}

// Who asks for all of a table gets all of it: in the plot, which says how it leaves rows out, and in the table to its last row.
func TestPlotOfAllRows(t *testing.T) {
	t.Parallel()
	l := look(t)
	content := large(8 << 20)
	rows := strings.Count(content, "\n") - 1
	r := l.put("long.csv", content)
	l.at("/resources/" + r.ID + "?view=plot")
	click(l.visitor, chromedp.Search(`//button[starts-with(normalize-space(), "Load all")]`))
	l.sees(fmt.Sprintf("Of the %s rows in view", thousands(rows)))
	l.until(`Number(document.querySelector(".chart").dataset.points) <= 5000`)
	if got, _ := l.fetched(); got > int64(len(content)) {
		t.Errorf("of %d bytes, %d were fetched", len(content), got)
	}
	l.press("Table")
	l.until(fmt.Sprintf(`(document.querySelector(".grid").scrollTop = 1e9, document.querySelector('.grid [aria-rowindex="%d"]'))`, rows+1))
	if got := l.cells(rows); got[0] != fmt.Sprint(rows) {
		t.Errorf("the last row is %q, want %d", got, rows)
	}
}

// thousands writes a number as the pages do.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// painted counts the pixels of the plot that have the colour of a series.
const painted = `((n) => {
	const probe = document.createElement("i");
	probe.style.setProperty("color", "var(--series-" + n + ")");
	document.body.append(probe);
	const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
	probe.remove();
	const canvas = document.querySelector(".chart canvas");
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	let found = 0;
	for (let i = 0; i < data.length; i += 4)
		if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 30 && data[i + 3] > 200) found++;
	return found;
})`

// Somebody plots two columns over time, zooms with mouse and keys, and keeps the picture.
func TestPlot(t *testing.T) {
	t.Parallel()
	l := look(t)
	l.file("chamber-3.csv", sample(t, "chamber-3.csv"))
	l.shows("table", ".cells [role=cell]")
	l.press("Plot")
	l.until(`document.querySelector(".chart")?.dataset.points === "2016"`)
	l.sees("Times are in UTC")
	l.until(painted + `(1) > 500`)
	click(l.visitor, boxOf("humidity_pct"))
	l.until(`location.search.includes("y=2.3")`)
	l.until(painted + `(2) > 500`)
	l.shots("plot")

	l.do(chromedp.Focus(chromedp.CSS(".chart")), chromedp.SendKeys(chromedp.CSS(".chart"), "+"))
	l.until(`Number(document.querySelector(".chart").dataset.points) < 1100`)
	l.do(chromedp.SendKeys(chromedp.CSS(".chart"), "0"))
	l.until(`document.querySelector(".chart").dataset.points === "2016"`)
	l.drag(".chart .u-over", 0.25, 0.5)
	l.until(`Number(document.querySelector(".chart").dataset.points) < 600`)
	l.press("Show all")
	l.until(`document.querySelector(".chart").dataset.points === "2016"`)

	folder := t.TempDir()
	if _, err := chromedp.CallBrowser(l.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		BrowserContextID: chromedp.FromContext(l.ctx).BrowserContextID}); err != nil {
		t.Fatal(err)
	}
	l.press("Save as PNG")
	kept := filepath.Join(folder, "chamber-3.png")
	l.eventually("the picture is there", func() bool {
		content, err := os.ReadFile(kept)
		if err != nil {
			return false
		}
		picture, err := png.Decode(bytes.NewReader(content))
		return err == nil && picture.Bounds().Dx() > 400
	})
	if folder := os.Getenv("LABSHELF_SHOTS"); folder != "" {
		content, err := os.ReadFile(kept)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "preview-saved.png"), content, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}

	// What is drawn is in the address.
	l.do(chromedp.Reload())
	l.until(painted + `(2) > 500`)
	l.press("Text")
	l.sees("time,temperature_c,humidity_pct")
}

// A logarithmic axis draws what is above zero, and says what it leaves out.
func TestPlotLogarithmic(t *testing.T) {
	t.Parallel()
	l := look(t)
	r := l.put("lifetime-rhodamine.csv", sample(t, "lifetime-rhodamine.csv"))
	l.at("/resources/" + r.ID + "?view=plot")
	l.until(`document.querySelector(".chart")?.dataset.points === "400"`)
	click(l.visitor, boxOf("Log Y"))
	l.until(`location.search.includes("log=y")`)
	l.until(painted + `(1) > 300`)
	l.shots("plot-log")

	r = l.put("signs.csv", "x,y\n-1,5\n0,-3\n1,4\n2,8\n")
	l.at("/resources/" + r.ID + "?view=plot&log=xy")
	l.sees("3 values not above zero cannot be plotted")
	r = l.put("loop.csv", "field,moment\n0,1\n1,2\n2,3\n1,4\n0,5\n-1,4\n0,2\n")
	l.at("/resources/" + r.ID + "?view=plot")
	l.sees("go back and forth")
	r = l.put("words.csv", "name,colour\na,red\nb,green\n")
	l.at("/resources/" + r.ID + "?view=plot")
	l.sees("No column holds numbers")
}

// boxOf finds a box to tick by the label that it is in.
func boxOf(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//label[normalize-space()=%q]//input`, label))
}

// drag draws the mouse across an element, from one part of its width to another.
func (l *looker) drag(selector string, from, to float64) {
	l.t.Helper()
	box := get(l.visitor, chromedp.Evaluate[[]float64](fmt.Sprintf(
		`(({ left, top, width, height }) => [left, top, width, height])(document.querySelector(%q).getBoundingClientRect())`, selector)))
	y := box[1] + box[3]/2
	for _, step := range []struct {
		kind input.DispatchMouseEventType
		at   float64
	}{{input.DispatchMouseEventTypeMouseMoved, from}, {input.DispatchMouseEventTypeMousePressed, from},
		{input.DispatchMouseEventTypeMouseMoved, (from + to) / 2}, {input.DispatchMouseEventTypeMouseMoved, to}, {input.DispatchMouseEventTypeMouseReleased, to}} {
		params := input.DispatchMouseEventParams{Type: step.kind, X: box[0] + box[2]*step.at, Y: y}
		if step.kind != input.DispatchMouseEventTypeMouseMoved {
			params.Button, params.ClickCount = input.MouseButtonLeft, 1
		}
		if _, err := chromedp.Call(l.ctx, input.DispatchMouseEvent, params); err != nil {
			l.t.Fatal(err)
		}
	}
}
