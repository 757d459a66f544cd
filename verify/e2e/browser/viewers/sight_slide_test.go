package viewers

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// steered returns the visible part of a picture, the width of the canvas, the text at its middle,
// and the scale bar.
const steered = `(() => {
	const canvas = document.querySelector(".picture canvas");
	if (!canvas || document.querySelector(".busy")) return "";
	const { left, top, width, height } = canvas.getBoundingClientRect();
	canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width / 2 + 0.1, clientY: top + height / 2 + 0.1 }));
	return new URLSearchParams(location.search).get("part") + " " + canvas.width + " " + document.querySelector(".pointed").textContent + " " + document.querySelector(".scale").textContent.trim();
})()`

// A slide is shown with the smallest copy that has enough pixels, and a part with full resolution
// when it is enlarged enough. The bar shows lengths. The values come from made.py: copies are
// darker by 20 or 40.
func TestSightOfSlide(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("slide.ome.tif", sightFile(t, "made-slide.ome.tif"))
	l.sights("tiff")
	value := func(row, column, darker int) int { return (column/512*31+row/512*57)%200 + 50 - darker }
	shows := func(part string, width, row, column, darker int, bar string) {
		t.Helper()
		want := fmt.Sprintf("%s %d row %d, column %d: %d %s", part, width, row, column, value(row, column, darker), bar)
		l.WaitFor(func() error {
			if shown := browser.Get(l.Visitor, chromedp.Evaluate[string](steered)); shown != want {
				return fmt.Errorf("the page shows %q; want %q", shown, want)
			}
			return nil
		})
	}
	shows("null", 2048, 1536, 2048, 20, "200 µm")
	l.Shots("sight-slide")
	l.Press("Larger")
	shows("1024.768.2048", 2048, 1536, 2048, 0, "100 µm")
	l.Do(chromedp.Focus(`[aria-label="Picture"]`), chromedp.KeyEvent(kb.ArrowRight)) // the arrow to the right
	shows("2048.768.2048", 2048, 1536, 3072, 0, "100 µm")
	l.Do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.End)) // further right is not possible, and End does not steer
	shows("2048.768.2048", 2048, 1536, 3072, 0, "100 µm")
	l.Do(chromedp.Evaluate[chromedp.Void](`(() => {
		const canvas = document.querySelector(".picture canvas");
		const { left, top, width, height } = canvas.getBoundingClientRect();
		canvas.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, clientX: left + width / 4, clientY: top + height / 4 }));
	})()`))
	shows("2048.768.1024", 1024, 1152, 2560, 0, "50 µm")
	l.Do(chromedp.KeyEvent("-"), chromedp.KeyEvent("-"))
	shows("null", 2048, 1536, 2048, 20, "200 µm")
}
