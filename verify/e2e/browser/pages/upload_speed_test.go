package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// fastest records the maximum speed in the upload panel, in bytes per second, as window.fastest.
const fastest = `void (() => {
	const factors = { B: 1, k: 1e3, M: 1e6, G: 1e9 };
	window.fastest = 0;
	new MutationObserver(() => {
		const shown = document.querySelector(".uploads header")?.innerText.match(/([\d.]+) ([BkKMG])i?B?\/s/);
		if (shown) window.fastest = Math.max(window.fastest, shown[1] * factors[shown[2].replace("K", "k")]);
	}).observe(document.body, { childList: true, subtree: true, characterData: true });
})()`

// header is an expression for the first line of the upload panel.
const header = `document.querySelector(".uploads header").innerText`

// While the service is unreachable, no speed is shown. Bytes sent before a resume are not included
// in the speed.
func TestUploadSpeed(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.Until(header + `.includes("/s, ")`)
	h.site.Kill()
	h.Until(`((line) => line.includes("no answer, retrying") && !line.includes("/s") && !line.includes("left"))(` + header + `)`)
	h.Shot("upload-unanswered")
	h.Do(chromedp.Evaluate[chromedp.Void](fastest))
	h.site.Restart(t)
	h.Until(header + `.includes("/s, ")`)
	h.Slow(-1, 0)
	h.Sees("All done", "1 sent")
}

// On a new page, the speed after a resume includes only the bytes sent since.
func TestUploadSpeedAfterResume(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.AnswerDialogs(true)
	h.site.Kill()
	h.Do(chromedp.Navigate("about:blank"))
	h.site.Restart(t)
	h.At("/sets/" + h.set)
	h.Sees("This set is empty")
	h.Do(chromedp.Evaluate[chromedp.Void](fastest))
	h.Pick("Files to upload", h.path)
	h.Submit()
	h.Until(header + `.includes("/s, ")`)
	h.Until(`document.querySelector(".uploads .report").innerText.includes("1 sent")`)
	if got := browser.Get(h.Visitor, chromedp.Evaluate[float64]("window.fastest")); got == 0 || got > 12e6 {
		t.Errorf("over a connection of 3 MiB/s, the panel shows %.0f bytes/s", got)
	}
	h.resumed()
}

// A stalled connection is reported.
func TestUploadStall(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.site.Signal(t, "STOP")
	t.Cleanup(func() { h.site.Signal(t, "CONT") })
	h.Until(header + `.includes("nothing sent for") && !` + header + `.includes("/s")`)
	h.site.Signal(t, "CONT")
	h.Slow(-1, 0)
	h.Sees("All done", "1 sent")
}
