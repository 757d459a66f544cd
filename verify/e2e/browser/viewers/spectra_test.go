package viewers

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// spcOf returns an SPC file of spectra. The form "own" has X values for each spectrum, and the
// other forms have equidistant X values. The forms "short" and "long" have ordinates of 16 or 32
// bits, and the other forms have floating point numbers.
func spcOf(form string, spectra ...[][2]float64) string {
	flags := map[string]byte{"float": 4, "long": 4, "short": 5, "own": 0xc4}[form]
	head := make([]byte, 512)
	head[0], head[1], head[28], head[29] = flags, 0x4b, 1, 2
	first := spectra[0]
	if form != "own" {
		binary.LittleEndian.PutUint32(head[4:], uint32(len(first)))
	}
	binary.LittleEndian.PutUint64(head[8:], math.Float64bits(first[0][0]))
	binary.LittleEndian.PutUint64(head[16:], math.Float64bits(first[len(first)-1][0]))
	binary.LittleEndian.PutUint32(head[24:], uint32(len(spectra)))
	copy(head[88:], "<b>made</b> here")
	var b strings.Builder
	b.Write(head)
	for _, points := range spectra {
		sub := make([]byte, 32)
		sub[1] = 0x80
		if form == "long" || form == "short" {
			sub[1] = 8 // ordinates up to 2 to the seventh
		}
		binary.LittleEndian.PutUint32(sub[16:], uint32(len(points)))
		b.Write(sub)
		float := func(v float64) { b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))) }
		for _, p := range points {
			if form == "own" {
				float(p[0])
			}
		}
		for _, p := range points {
			switch form {
			case "long":
				b.Write(binary.LittleEndian.AppendUint32(nil, uint32(int32(p[1]*(1<<24)))))
			case "short":
				b.Write(binary.LittleEndian.AppendUint16(nil, uint16(int16(p[1]*(1<<8)))))
			default:
				float(p[1])
			}
		}
	}
	return b.String()
}

// Spectra in JCAMP-DX have the points that other readers find in them.
func TestSpectra(t *testing.T) {
	t.Parallel()
	var want map[string][]struct {
		N                 int
		Least, Mean, Most float64
		Rows              [][3]float64
	}
	if err := json.Unmarshal([]byte(plotFile(t, "spectra.json")), &want); err != nil {
		t.Fatal(err)
	}
	l := openViewer(t)
	for name, spectra := range want {
		r := l.put(name, plotFile(t, name))
		for i, c := range spectra {
			l.GoTo(fmt.Sprintf("/resources/%s?item=%d", r.ID, i))
			l.Until(`document.querySelector("[data-sight=jcamp] .values tbody tr")`)
			got := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`((r) => [r.querySelector("td").textContent, ...[...r.querySelectorAll("data")].map((d) => d.value)])(document.querySelector(".values tbody tr"))`))
			if got[0] != thousands(c.N) || !near(got[1], c.Least, 1e-12) || !near(got[2], c.Mean, 1e-9) || !near(got[3], c.Most, 1e-12) {
				t.Errorf("spectrum %d of %s has %q; want %d values from %v to %v, mean %v", i, name, got, c.N, c.Least, c.Most, c.Mean)
			}
			l.Press("Table")
			l.Until(`document.querySelector(".sheet-table tbody tr")`)
			rows := browser.Get(l.Visitor, chromedp.Evaluate[[][]string](`[...document.querySelectorAll(".sheet-table tbody tr")].map((r) => [...r.querySelectorAll("td")].map((c) => c.textContent))`))
			for _, want := range c.Rows {
				if at := int(want[0]); at < len(rows) && (!near(rows[at][0], want[1], 1e-6) || !near(rows[at][1], want[2], 1e-12)) {
					t.Errorf("row %d of spectrum %d of %s is %q; want %v", at, i, name, rows[at], want)
				}
			}
		}
	}
	// Wavenumbers increase to the left, and the labels are shown. The page reports a file that
	// contradicts itself.
	l.file("dupdec1.jdx", plotFile(t, "dupdec1.jdx"))
	l.Until(`document.querySelector(".plot-options")?.textContent.includes("Reverse X") && [...document.querySelectorAll(".plot-options label")].find((b) => b.textContent === "Reverse X").querySelector("input").checked`)
	l.Sees("infrared spectrum, 3951 points")
	l.Until(`document.querySelector(".attributes").textContent.includes("PERKIN-ELMER 1600 FT-IR")`)
	l.Until(painted + `(1) > 300`)
	l.Shots("spectrum")
	l.file("damaged.jdx", strings.Replace(plotFile(t, "dupdec1.jdx"), "4364G832P", "4364G932P", 1))
	l.Sees("The file contradicts itself.", "do not continue the previous line: 2")
	l.file("pages.jdx", "##TITLE=run\n##DATA TYPE=MASS SPECTRUM\n##NTUPLES=MASS SPECTRUM\n##VAR_NAME=MASS, INTENSITY, RETENTION TIME\n##SYMBOL=X, Y, T\n##UNITS=M/Z, RELATIVE ABUNDANCE, SECONDS\n"+
		"##PAGE=T=5\n##NPOINTS=2\n##DATA TABLE=(XY..XY), PEAKS\n50, 2.5; 51, 9.5\n##PAGE=T=8\n##DATA TABLE=(XY..XY), PEAKS\n50, 1; 60, 2\n70, 3\n##END NTUPLES=MASS SPECTRUM\n##END=\n")
	l.Sees("2 spectra", "2 points")
	l.Do(chromedp.Evaluate[chromedp.Void](`((s) => { s.value = "1"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(".preview-tools select"))`))
	l.Sees("3 points", "T=8")
	l.file("ofid4.jdx", plotFile(t, "ofid4.jdx"))
	browser.Click(l.Visitor, chromedp.Search(`//fieldset//label[contains(., "imag")]`))
	l.Until(`document.querySelectorAll(".u-series").length === 3`)
}

// Spectra in SPC have the written points, in each form of ordinates.
func TestSPC(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	one := [][2]float64{{4000, 0.5}, {3000, -1.25}, {2000, 2}, {1000, 0}}
	other := [][2]float64{{10, 1}, {11, 64.5}, {14, -100.25}}
	for _, c := range []struct {
		form    string
		spectra [][][2]float64
	}{{"float", [][][2]float64{one}}, {"long", [][][2]float64{one, one}}, {"short", [][][2]float64{one}}, {"own", [][][2]float64{one, other}}} {
		r := l.put(c.form+".spc", spcOf(c.form, c.spectra...))
		for i, want := range c.spectra {
			l.GoTo(fmt.Sprintf("/resources/%s?view=table&item=%d", r.ID, i))
			l.Until(`document.querySelector("[data-sight=spc] .sheet-table tbody tr")`)
			got := browser.Get(l.Visitor, chromedp.Evaluate[[][2]float64](`[...document.querySelectorAll(".sheet-table tbody tr")].map((r) => [...r.querySelectorAll("td")].map((c) => Number(c.textContent)))`))
			if !slices.Equal(got, want) {
				t.Errorf("spectrum %d in the form %s has %v; want %v", i, c.form, got, want)
			}
		}
	}
	l.Until(`document.querySelector(".sight").textContent.includes("absorbance") && document.querySelector(".attributes").textContent.includes("<b>made</b> here")`)
}

// Broken or hostile spectra show an error.
func TestHostileSpectra(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	jdx := func(lines ...string) string {
		return "##TITLE=" + strings.NewReplacer("\n", " ", "\r", " ").Replace(browser.Payloads[0]) + "\n##JCAMP-DX=4.24\n##XUNITS=" + browser.Payloads[1] + "\n" + strings.Join(lines, "\n") + "\n##END=\n"
	}
	whole := spcOf("float", [][2]float64{{1, 1}, {2, 2}})
	for _, c := range []struct{ name, content, says string }{
		{"cut.jdx", plotFile(t, "dupdec1.jdx")[:3000], "It declares 3951 points, but contains"},
		{"names.jdx", jdx("##XYPOINTS=(XY..XY)", "1,2;3,4"), "2 points"},
		{"bomb.jdx", jdx("##XYDATA=(X++(Y..Y))", "1A1s99999999999"), "more than 8000000 values"},
		{"bomb2.jdx", jdx("##XYDATA=(X++(Y..Y))", "1A1"+strings.Repeat("S3999999", 3)), "more than 8000000 values"},
		{"words.jdx", jdx("##XYDATA=(X++(Y..Y))", "1 2 <script>"), "Expected a number"},
		{"empty.jdx", jdx("##MOLFORM=C6 H6"), "no block with supported data"},
		{"blocks.jdx", strings.Repeat("##TITLE=a\n", 3000), "nests them too deeply"},
		{"line.jdx", jdx("##XYDATA=(X++(Y..Y))", "1"+strings.Repeat(" 1", 3<<20)), "3145728 points"},
		{"cut.spc", whole[:len(whole)-3], "ends before the end of its data"},
		{"old.spc", "\x00\x4d" + whole[2:], "old format"},
		{"long.spc", whole[:4] + "\xff\xff\xff\xff" + whole[8:], "ends before the end of its data"},
		{"text.spc", strings.Repeat("word ", 200), "version is not known"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.Until(`document.querySelector(".preview .hex, .preview [data-sight], .preview .lines")`)
		l.Sees(c.says)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc], a[href^=javascript])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
	}
}
