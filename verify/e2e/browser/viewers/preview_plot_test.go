package viewers

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// painted counts the pixels of the plot in the colour of a series.
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

// A plot of two columns over time can be zoomed with mouse and keyboard, and saved as an image.
func TestPlot(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("chamber-3.csv", sample(t, "chamber-3.csv"))
	l.shows("table", ".cells [role=cell]")
	l.Press("Plot")
	l.Until(`document.querySelector(".chart")?.dataset.points === "2016"`)
	l.Sees("Times are in UTC")
	l.Until(painted + `(1) > 500`)
	browser.Click(l.Visitor, browser.BoxOf("humidity_pct"))
	l.Until(`location.search.includes("y=2.3")`)
	l.Until(painted + `(2) > 500`)
	l.Shots("plot")

	l.Do(chromedp.Focus(chromedp.CSS(".chart")), chromedp.SendKeys(chromedp.CSS(".chart"), "+"))
	l.Until(`Number(document.querySelector(".chart").dataset.points) < 1100`)
	l.Do(chromedp.SendKeys(chromedp.CSS(".chart"), "0"))
	l.Until(`document.querySelector(".chart").dataset.points === "2016"`)
	l.drag(".chart .u-over", 0.25, 0.5)
	l.Until(`Number(document.querySelector(".chart").dataset.points) < 600`)
	l.Press("Show all")
	l.Until(`document.querySelector(".chart").dataset.points === "2016"`)

	folder := l.Downloads()
	l.Press("Save as PNG")
	saved := filepath.Join(folder, "chamber-3.png")
	l.WaitFor(func() error {
		content, err := os.ReadFile(saved)
		if err != nil {
			return err
		}
		picture, err := png.Decode(bytes.NewReader(content))
		if err == nil && picture.Bounds().Dx() <= 400 {
			err = fmt.Errorf("the picture is %d pixels wide", picture.Bounds().Dx())
		}
		return err
	})
	if folder := os.Getenv("SHOTS"); folder != "" {
		content, err := os.ReadFile(saved)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "preview-saved.png"), content, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}

	// The address stores the selected columns.
	l.Do(chromedp.Reload())
	l.Until(painted + `(2) > 500`)
	l.Press("Text")
	l.Sees("time,temperature_c,humidity_pct")
}

// A logarithmic axis shows positive values, and the page reports the number of other values.
func TestPlotLogarithmic(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	r := l.put("lifetime-rhodamine.csv", sample(t, "lifetime-rhodamine.csv"))
	l.At("/resources/" + r.ID + "?view=plot")
	l.Until(`document.querySelector(".chart")?.dataset.points === "400"`)
	browser.Click(l.Visitor, browser.BoxOf("Log Y"))
	l.Until(`location.search.includes("log=y")`)
	l.Until(painted + `(1) > 300`)
	l.Shots("plot-log")

	r = l.put("signs.csv", "x,y\n-1,5\n0,-3\n1,4\n2,8\n")
	l.At("/resources/" + r.ID + "?view=plot&log=xy")
	l.Sees("3 values not above zero cannot be plotted")
	r = l.put("loop.csv", "field,moment\n0,1\n1,2\n2,3\n1,4\n0,5\n-1,4\n0,2\n")
	l.At("/resources/" + r.ID + "?view=plot")
	l.Sees("are not in order")
	r = l.put("words.csv", "name,colour\na,red\nb,green\n")
	l.At("/resources/" + r.ID + "?view=plot")
	l.Sees("No column contains numbers")
}

// drag drags the mouse across an element, from one fraction of its width to another.
func (l *viewer) drag(selector string, from, to float64) {
	l.T.Helper()
	box := browser.Get(l.Visitor, chromedp.Evaluate[[]float64](fmt.Sprintf(
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
		if _, err := chromedp.Call(l.Context, input.DispatchMouseEvent, params); err != nil {
			l.T.Fatal(err)
		}
	}
}
