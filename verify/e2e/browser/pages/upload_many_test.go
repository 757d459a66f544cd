package browser

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Small files are sent in little more than one request each, whatever the set has already, and a
// second upload sends none of them.
func TestUploadManySmallFiles(t *testing.T) {
	t.Parallel()
	n := size(t, "UPLOADED_FILES", 240)
	s := open(t)
	_, sid := s.makeSet(t)
	began := time.Now()
	s.putMany(t, sid, "run/before-", n)
	script := time.Since(began)
	root, _ := many(t, n)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.follow("run")
	v.sees("before-000000.txt")
	v.at("/sets/" + sid)
	v.sees("Upload files")
	var mu sync.Mutex
	sent, asked := 0, 0
	v.listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is {
			mu.Lock()
			defer mu.Unlock()
			if e.Request.Method == "POST" {
				sent++
			} else if strings.Contains(e.Request.URL, "name=run") || strings.Contains(e.Request.URL, "limit=400") {
				asked++
			}
		}
	})
	upload := func(report string) (took time.Duration) {
		v.pick("Folder to upload", root)
		v.until(`document.querySelector("dialog [type=submit]")`)
		v.do(chromedp.Evaluate[chromedp.Void](`void (window.took = new Promise((done) => {
			const began = performance.now();
			const seen = new MutationObserver(() => document.querySelector(".uploads strong")?.innerText === "All done" && (seen.disconnect(), done(performance.now() - began)));
			document.querySelector("dialog [type=submit]").addEventListener("click", () => seen.observe(document.body, { childList: true, subtree: true, characterData: true }));
		}))`))
		v.submit()
		took = time.Duration(get(v, chromedp.Evaluate[float64](`window.took`, chromedp.EvalAwaitPromise)) * float64(time.Millisecond))
		v.sees("All done", report)
		v.press("Close the report")
		return took
	}
	browser := upload(fmt.Sprintf("%s sent", grouped(n)))
	t.Logf("%d files: %.0f/s by a script with 8 clients, %.0f/s by the browser, %.2f of it", n, float64(n)/script.Seconds(), float64(n)/browser.Seconds(), script.Seconds()/browser.Seconds())
	mu.Lock()
	t.Logf("%d requests with files, %d for names", sent, asked)
	if sent != n || asked == 0 || asked > n/2 { // far from one for each; some are asked from time to time, more on a slow machine
		t.Errorf("%d files take %d requests with files and %d for names", n, sent, asked)
	}
	sent = 0
	mu.Unlock()
	upload(fmt.Sprintf("0 sent · %s already exist", grouped(n)))
	mu.Lock()
	if sent != 0 {
		t.Errorf("%d files are sent again", sent)
	}
	mu.Unlock()
}
