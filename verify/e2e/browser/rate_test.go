package browser

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// fastest has the page keep the greatest speed that the panel of uploads shows, in bytes a second, as window.fastest.
const fastest = `void (() => {
	const factors = { B: 1, k: 1e3, M: 1e6, G: 1e9 };
	window.fastest = 0;
	new MutationObserver(() => {
		const shown = document.querySelector(".uploads header")?.innerText.match(/([\d.]+) ([BkKMG])i?B?\/s/);
		if (shown) window.fastest = Math.max(window.fastest, shown[1] * factors[shown[2].replace("K", "k")]);
	}).observe(document.body, { childList: true, subtree: true, characterData: true });
})()`

// header is an expression: what stands in the first line of the panel of uploads.
const header = `document.querySelector(".uploads header").innerText`

// A service that is gone has no speed, and bytes that it has already are not counted as sent when the upload goes on.
func TestSpeedOfWhatIsSent(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.until(header + `.includes("/s, ")`)
	h.site.Kill()
	h.until(`((line) => line.includes("no answer, trying again") && !line.includes("/s") && !line.includes("left"))(` + header + `)`)
	h.shot("upload-unanswered")
	h.do(chromedp.Evaluate[chromedp.Void](fastest))
	h.site.again(t)
	h.until(header + `.includes("/s, ")`)
	h.slow(-1, 0)
	h.sees("All done", "1 sent")
}

// Also the speed after another try of all files is that of what is sent now.
func TestSpeedAfterResumption(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.leaves()
	h.site.Kill()
	h.do(chromedp.Navigate("about:blank"))
	h.site.again(t)
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
	h.wentOn()
}

// signal stops the service ("STOP") or lets it go on ("CONT").
func (s *site) signal(t *testing.T, name string) {
	t.Helper()
	if output, err := exec.Command("kill", "-"+name, strconv.Itoa(s.PID())).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("kill: %v: %s", err, output)
		}
		t.Skipf("only Unix stops a process: %v: %s", err, output)
	}
}

// A service that has the connection, and takes nothing, is told of, too.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	h := halfway(t)
	h.site.signal(t, "STOP")
	t.Cleanup(func() { h.site.signal(t, "CONT") })
	h.until(header + `.includes("nothing sent for") && !` + header + `.includes("/s")`)
	h.site.signal(t, "CONT")
	h.slow(-1, 0)
	h.sees("All done", "1 sent")
}
