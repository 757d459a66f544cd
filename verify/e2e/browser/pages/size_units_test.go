package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Sizes have decimal units in lists, on the page of a file, and in the usage chart.
func TestSizesAreDecimal(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	sizes := []int{999, 1000, 1024, 9994, 9995, 99_949, 99_950, 999_499, 999_500, 3_000_000}
	shown := []string{"999 B", "1.0 kB", "1.0 kB", "10.0 kB", "10.0 kB", "99.9 kB", "100 kB", "999 kB", "1.0 MB", "3.0 MB"}
	h := browser.DataspaceWith(t, s, "laser", "Laser lab", sizes...)
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+h.Dataspace+"?view=files&order=oldest")
	sizesShown := `[...document.querySelectorAll(".list .body .row .size")].map((e) => e.innerText).join("|")`
	v.Until(fmt.Sprintf(`%s === %q`, sizesShown, strings.Join(shown, "|")))
	v.At("/resources/" + h.Files[2])
	v.Until(`document.querySelector(".facts .size").innerText === "1.0 kB" && document.querySelector(".facts .size").title === "1,024 bytes"`)
	v.At("/usage")
	v.Until(`document.querySelector(".usage-chart text.side")`)
	labels := browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".usage-chart text.side")].map((e) => e.textContent).join("|")`))
	if !strings.Contains(labels, "2 MB|4 MB") || strings.Contains(labels, "KB") {
		t.Errorf("the axis of the usage chart has the labels %s", labels)
	}
}
