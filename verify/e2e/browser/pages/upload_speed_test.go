package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
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

// header is an expression: the first line of the upload panel.
const header = `document.querySelector(".uploads header").innerText`

// While the service is unreachable no speed is shown, and bytes sent before a resume do not count.
func TestUploadSpeed(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.until(header + `.includes("/s, ")`)
	h.site.Kill()
	h.until(`((line) => line.includes("no answer, retrying") && !line.includes("/s") && !line.includes("left"))(` + header + `)`)
	h.shot("upload-unanswered")
	h.do(chromedp.Evaluate[chromedp.Void](fastest))
	h.site.restart(t)
	h.until(header + `.includes("/s, ")`)
	h.slow(-1, 0)
	h.sees("All done", "1 sent")
}

// The speed after a resume on a new page counts only bytes sent since.
func TestUploadSpeedAfterResume(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.answerDialogs(true)
	h.site.Kill()
	h.do(chromedp.Navigate("about:blank"))
	h.site.restart(t)
	h.at("/sets/" + h.set)
	h.sees("This set is empty")
	h.do(chromedp.Evaluate[chromedp.Void](fastest))
	h.pick("Files to upload", h.path)
	h.submit()
	h.until(header + `.includes("/s, ")`)
	h.until(`document.querySelector(".uploads .report").innerText.includes("1 sent")`)
	if got := get(h.visitor, chromedp.Evaluate[float64]("window.fastest")); got == 0 || got > 12e6 {
		t.Errorf("over a line of 3 MiB/s the panel shows %.0f bytes a second", got)
	}
	h.resumed()
}

// A stalled connection is reported.
func TestUploadStall(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.site.signal(t, "STOP")
	t.Cleanup(func() { h.site.signal(t, "CONT") })
	h.until(header + `.includes("nothing sent for") && !` + header + `.includes("/s")`)
	h.site.signal(t, "CONT")
	h.slow(-1, 0)
	h.sees("All done", "1 sent")
}
