package viewers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Tables are printed with all loaded rows, and texts in full length.
func TestPrintOfPreviews(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	var table strings.Builder
	table.WriteString("n,square\n")
	for i := range 500 {
		fmt.Fprintf(&table, "%d,%d\n", i, i*i)
	}
	l.file("squares.csv", table.String())
	l.Until(`document.querySelector(".grid .canvas")?.dataset.rows === "500"`)
	printed := browser.Get(l.Visitor, chromedp.Evaluate[[2]int](`(() => {
		const rows = () => document.querySelectorAll(".grid .layer .cells").length, before = rows();
		dispatchEvent(new Event("beforeprint"));
		const during = rows();
		dispatchEvent(new Event("afterprint"));
		return [before, during];
	})()`))
	if printed[0] >= 500 || printed[1] != 500 {
		t.Errorf("%d rows are on the screen, and %d are printed; want all 500 printed", printed[0], printed[1])
	}
	l.OnPaper()
	l.Until(`getComputedStyle(document.querySelector(".clip")).whiteSpace !== "nowrap"`)
	l.file("long.txt", strings.Repeat("a line of some length\n", 2000))
	l.Until(`document.querySelector(".lines .text")`)
	l.OnPaper()
	l.Until(`(() => { const e = document.querySelector(".lines"); return e.clientHeight > 20000 && e.scrollHeight <= e.clientHeight + 2; })()`)
}
