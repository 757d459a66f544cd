package viewers

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// plotFile returns a file of testdata/plot.
func plotFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "plot", name)
}

// saved waits for a file that a click saves, and returns its content.
func (l *viewer) saved(folder, name string) string {
	l.T.Helper()
	var content []byte
	l.WaitFor(func() (err error) {
		before := len(content)
		content, err = os.ReadFile(filepath.Join(folder, name))
		if err == nil && (before == 0 || len(content) != before) {
			err = fmt.Errorf("%s is still being written", name)
		}
		return err
	})
	return string(content)
}

// near reports whether a number in a page equals a reference, up to rounding.
func near(got string, want, within float64) bool {
	v, err := strconv.ParseFloat(got, 64)
	return err == nil && math.Abs(v-want) <= within*math.Max(math.Abs(want), 1e-300)
}

// Fitted lines and histograms equal the results of SciPy and NumPy, for files of other projects.
func TestPlotFitsAndHistograms(t *testing.T) {
	t.Parallel()
	var want struct {
		Lines []struct {
			File, Query string
			Values      []float64
			N           int
		}
		Histograms []struct {
			File, Query   string
			Counts, Edges []float64
		}
	}
	if err := json.Unmarshal([]byte(plotFile(t, "expected.json")), &want); err != nil {
		t.Fatal(err)
	}
	l := openViewer(t)
	ids := map[string]string{}
	at := func(file, query string) {
		if ids[file] == "" {
			ids[file] = l.put(file, plotFile(t, file)).ID
		}
		l.GoTo("/resources/" + ids[file] + "?view=plot&" + query)
	}
	for _, c := range want.Lines {
		at(c.File, c.Query+"&fit=line")
		l.Until(`document.querySelector(".fits td data")`)
		got := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".fits td data")].map((d) => d.value)`))
		if len(got) != len(c.Values) {
			t.Fatalf("%s: the fit shows %q; want %v", c.File, got, c.Values)
		}
		for i, v := range c.Values {
			if !near(got[i], v, 1e-9) {
				t.Errorf("%s?%s: value %d of the fit is %s, want %v", c.File, c.Query, i, got[i], v)
			}
		}
		if n := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector(".fits tbody tr td:last-child").textContent`)); n != thousands(c.N) {
			t.Errorf("%s: the fit uses %s points, want %d", c.File, n, c.N)
		}
	}
	for _, c := range want.Histograms {
		at(c.File, c.Query)
		l.Until(fmt.Sprintf(`document.querySelector("table[data-bins]")?.dataset.bins === "%d"`, len(c.Counts)))
		got := browser.Get(l.Visitor, chromedp.Evaluate[[][]string](`[...document.querySelectorAll("table[data-bins] tbody tr")].map((r) => [...r.querySelectorAll("td")].map((d) => d.querySelector("data")?.value ?? d.textContent))`))
		for i, row := range got {
			if !near(row[0], c.Edges[i], 1e-14) || !near(row[1], c.Edges[i+1], 1e-14) || row[2] != thousands(int(c.Counts[i])) {
				t.Errorf("%s?%s: bin %d is %q; want %v from %v to %v", c.File, c.Query, i, row, c.Counts[i], c.Edges[i], c.Edges[i+1])
			}
		}
	}
	l.Shots("histogram")
}

// Two columns of two files can be compared in one plot with a few clicks. The address of the plot
// shows the same to a colleague.
func TestPlotTogether(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.put("nile.csv", plotFile(t, "nile.csv"))
	sunspots := l.put("runs/sunspots.csv", plotFile(t, "sunspots.csv"))
	l.put("notes.txt", "no table")
	l.At("/resources/" + sunspots.ID + "?view=plot")
	l.Until(`document.querySelector(".chart")?.dataset.points === "309"`)
	l.Press("Add a file …")
	l.Sees("1 table of this set")
	l.Press("nile.csv")
	l.Until(`document.querySelector(".chart").dataset.points === "309" && location.search.includes("with=") && document.querySelectorAll(".u-series").length === 3`)
	l.Until(painted + `(1) > 300 && ` + painted + `(2) > 100`)
	// The second curve uses the axis at the right, with points and a fitted line.
	l.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".curves")[1].open = true`))
	browser.Click(l.Visitor, chromedp.Search(`//section[@aria-label="nile.csv"]//label[contains(., "Axis at the right")]`))
	l.Until(`location.search.includes("*1*2r")`)
	browser.Click(l.Visitor, browser.BoxOf("Fit line"))
	l.Until(`document.querySelectorAll(".fits tbody tr").length === 2`)
	l.Shots("plot-together")
	address := browser.Get(l.Visitor, chromedp.Evaluate[string](`location.pathname + location.search`))
	if len(address) > 200 {
		t.Errorf("the address has %d characters: %s", len(address), address)
	}
	values := `[...document.querySelectorAll(".fits td data")].map((d) => d.value).join()`
	before := browser.Get(l.Visitor, chromedp.Evaluate[string](values))

	// Back undoes the choices one by one, and Forward repeats them.
	l.Do(chromedp.NavigateBack())
	l.Until(`!document.querySelector(".fits") && document.querySelector(".chart")`)
	l.Do(chromedp.NavigateBack())
	l.Until(`!location.search.includes("*1*2r") && document.querySelectorAll(".u-series").length === 3`)
	l.Do(chromedp.NavigateForward())
	l.Do(chromedp.NavigateForward())
	l.Until(fmt.Sprintf(`%s === %q`, values, before))
	l.At(address)
	l.Until(fmt.Sprintf(`%s === %q`, values, before))
	l.Until(`document.querySelectorAll(".curves input:checked").length === 1`)

	// From the list: select both files, and plot them.
	l.At("/sets/" + l.set + "?view=flat")
	browser.Click(l.Visitor, chromedp.Search(`//*[@role="row"][contains(., "nile.csv")]//input[@type="checkbox"]`))
	browser.Click(l.Visitor, chromedp.Search(`//*[@role="row"][contains(., "sunspots.csv")]//input[@type="checkbox"]`))
	l.Follow("Plot together")
	l.Until(`document.querySelectorAll(".plot-table").length === 2 && document.querySelectorAll(".u-series").length === 3`)
}

// If the URL names a column that the file does not have, the page reports it and shows the rest.
func TestPlotOfOddAddress(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Expect("status of 404")
	r := l.put("nile.csv", plotFile(t, "nile.csv"))
	l.At("/resources/" + r.ID + "?view=plot&x=9&y=2.17.xyz&bins=-4&marks=%3Cb%3E&from=a&with=" + strings.Repeat("A_", 400))
	l.Sees("Column 9, which the address names, does not exist: the table has 2.", "Column 17, which")
	l.Until(`document.querySelector(".chart")?.dataset.points === "100"`)
	l.Press("Plot without that file")
	l.Until(`location.search.includes("with=") === false && !document.querySelector(".plot [role=alert]")`)
	l.At("/resources/" + r.ID + "?view=plot&from=1900&to=1910")
	l.Until(`document.querySelector(".chart")?.dataset.points === "13"`) // eleven points, and one at each side
	l.Press("Show all")
	l.Until(`document.querySelector(".chart").dataset.points === "100" && !location.search.includes("from")`)
}

// texts returns the texts and the numbers of elements of an XML document. It fails the test if the
// document is not well-formed.
func texts(t *testing.T, content string) (all []string, names map[string]int) {
	t.Helper()
	names = map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(content)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, names
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, content)
		}
		switch token := token.(type) {
		case xml.StartElement:
			names[token.Name.Local]++
		case xml.CharData:
			all = append(all, string(token))
		}
	}
}

// A plot can be saved as SVG, which a parser accepts for any names of columns and files, and as CSV
// of the visible part.
func TestPlotIsSaved(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	folder := l.Downloads()
	r := l.put("arima.csv", plotFile(t, "arima111_forecasts.csv"))
	l.At("/resources/" + r.ID + "?view=plot&x=row&y=3e4.5r&fit=line&marks=both")
	l.Until(`document.querySelector(".fits")`)
	l.Press("SVG")
	all, names := texts(t, l.saved(folder, "arima.svg"))
	text := strings.Join(all, "\n")
	for _, want := range []string{"arima.csv", "predict", "conf1 (right)", "row", "50", "100"} {
		if !strings.Contains(text, want) {
			t.Errorf("the SVG has no text %q", want)
		}
	}
	if names["polyline"] != 2 || names["circle"] < 200 || names["script"]+names["a"]+names["foreignObject"] > 0 {
		t.Errorf("the SVG has these elements: %v", names)
	}
	l.rendersSVG(folder, "arima.svg")
	l.Press("CSV")
	csv := l.saved(folder, "arima-plot.csv")
	if lines := strings.Split(csv, "\n"); lines[0] != "row,predict,predict error,conf1" || !strings.Contains(csv, "\n2,29.861,,\n") {
		t.Errorf("the CSV begins with %.200q", csv)
	}

	evil := strings.NewReplacer(`"`, `""`, "\n", " ", "\r", " ").Replace(strings.Join(browser.Payloads, " ") + "\x7f ]]> &amp; =1+1")
	r = l.put("evil.csv", "x,\""+evil+"\",\"=2+5\"\n1,0.5,1\n2,-3,4\n3,1000,9\n")
	l.At("/resources/" + r.ID + "?view=plot&y=2.3")
	l.Until(`document.querySelector(".chart")?.dataset.points === "3"`)
	l.Press("SVG")
	_, names = texts(t, l.saved(folder, "evil.svg"))
	if names["script"]+names["img"]+names["a"]+names["foreignObject"]+names["iframe"] > 0 {
		t.Errorf("the SVG has these elements: %v", names)
	}
	l.rendersSVG(folder, "evil.svg")
	l.Press("CSV")
	if csv := l.saved(folder, "evil-plot.csv"); !strings.Contains(strings.SplitN(csv, "\n", 2)[0], ",'=2+5") {
		t.Errorf("the CSV begins with %.200q", csv)
	}
	if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
		t.Error("a script in the names ran")
	}
}

// rendersSVG makes the browser draw a saved SVG, and checks its size and colours.
func (l *viewer) rendersSVG(folder, name string) {
	l.T.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		l.T.Fatal(err)
	}
	if shots := os.Getenv("SHOTS"); shots != "" {
		if err := os.WriteFile(filepath.Join(shots, name), content, 0o600); err != nil {
			l.T.Error(err)
		}
	}
	encoded, err := json.Marshal(string(content))
	if err != nil {
		l.T.Fatal(err)
	}
	got := browser.Get(l.Visitor, chromedp.Evaluate[[]int](fmt.Sprintf(`(async () => {
		const image = new Image();
		image.src = URL.createObjectURL(new Blob([%s], { type: "image/svg+xml" }));
		await image.decode();
		const canvas = document.createElement("canvas");
		[canvas.width, canvas.height] = [image.width, image.height];
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
		let coloured = 0;
		for (let i = 0; i < data.length; i += 4) if (Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) coloured++;
		return [image.width, image.height, coloured];
	})()`, encoded), chromedp.EvalAwaitPromise))
	if got[0] != 960 || got[1] != 600 || got[2] < 300 {
		l.T.Errorf("the width, height and number of coloured pixels of %s are %v", name, got)
	}
}

// Plots with all of their controls, histograms and spectra are accessible in both themes, work with
// the keyboard, and fit into a narrow window.
func TestPlotIsAccessible(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	script := browser.Axe(t)
	nile := l.put("nile.csv", plotFile(t, "nile.csv"))
	arima := l.put("arima.csv", plotFile(t, "arima111_forecasts.csv"))
	spectrum := l.put("dupdec1.jdx", plotFile(t, "dupdec1.jdx"))
	for _, c := range []struct{ name, address, ready string }{
		{"curves", arima.ID + "?view=plot&x=row&y=3e4.5r.6&fit=line&marks=both&with=" + nile.ID, ".fits tbody tr:nth-child(4)"},
		{"bars", arima.ID + "?view=plot&y=2.3&bins=auto", "table[data-bins]"},
		{"spectrum", spectrum.ID, ".values tbody tr"},
	} {
		l.GoTo("/resources/" + c.address)
		l.Until(fmt.Sprintf(`document.querySelector(%q)`, c.ready))
		l.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".plot details").forEach((d) => d.open = true)`))
		l.Rendered()
		l.Theme("light")
		found := l.Audit(script)
		l.Theme("dark")
		found = append(found, l.Audit(script, "color-contrast")...)
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s\n\t%s", c.name, f.Impact, f.ID, f.Help, f.Where)
		}
		l.Size(360, 740)
		l.Rendered()
		if overflow := browser.Get(l.Visitor, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s is %v px too wide for a narrow window", c.name, overflow)
		}
		l.Shots("plot-axe-" + c.name)
		l.Size(1280, 800)
	}
	// Add another file with the keyboard: the field of the dialog has the focus, and the next stop
	// is the file.
	l.At("/resources/" + arima.ID + "?view=plot")
	l.Until(`document.querySelector(".chart canvas")`)
	l.Until(`(document.querySelector(".plot-options > button").focus(), document.activeElement.textContent.includes("Add a file"))`)
	l.Key("Enter", "Enter", "\r")
	l.Until(`document.activeElement.matches(".add-file input")`)
	l.Do(chromedp.SendKeys(chromedp.CSS(".add-file input"), "nil"))
	l.Until(`document.querySelectorAll(".add-file li").length === 1`)
	l.Key("Tab", "Tab", "\t")
	l.Until(`document.activeElement.matches(".add-file *") && document.activeElement !== document.querySelector(".add-file input")`)
	l.Until(`(document.querySelector(".add-file li button").focus(), true)`)
	l.Key("Enter", "Enter", "\r")
	l.Until(`document.querySelectorAll(".plot-table").length === 2`)
}
