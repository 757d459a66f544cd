package pages

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Uploading small files takes little more than one request per file, regardless of the existing
// files. A second upload sends none of them.
func TestUploadManySmallFiles(t *testing.T) {
	t.Parallel()
	n := browser.Size(t, "UPLOADED_FILES", 240)
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	began := time.Now()
	s.PutMany(t, sid, "run/before-", n)
	script := time.Since(began)
	root, _ := browser.Many(t, n)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Follow("run")
	v.Sees("before-000000.txt")
	v.At("/sets/" + sid)
	v.Sees("Upload files")
	var mu sync.Mutex
	sent, asked := 0, 0
	v.Listen(func(event any) {
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
		v.Pick("Folder to upload", root)
		v.Until(`document.querySelector("dialog [type=submit]")`)
		v.Do(chromedp.Evaluate[chromedp.Void](`void (window.took = new Promise((done) => {
			const began = performance.now();
			const seen = new MutationObserver(() => document.querySelector(".uploads strong")?.innerText === "All done" && (seen.disconnect(), done(performance.now() - began)));
			document.querySelector("dialog [type=submit]").addEventListener("click", () => seen.observe(document.body, { childList: true, subtree: true, characterData: true }));
		}))`))
		v.Submit()
		took = time.Duration(browser.Get(v, chromedp.Evaluate[float64](`window.took`, chromedp.EvalAwaitPromise)) * float64(time.Millisecond))
		v.Sees("All done", report)
		v.Press("Close the report")
		return took
	}
	pages := upload(fmt.Sprintf("%s sent", browser.Grouped(n)))
	t.Logf("%d files: %.0f/s by a script with 8 clients, %.0f/s by the browser, a ratio of %.2f", n, float64(n)/script.Seconds(), float64(n)/pages.Seconds(), script.Seconds()/pages.Seconds())
	mu.Lock()
	t.Logf("%d requests with files, %d for names", sent, asked)
	if sent != n || asked == 0 || asked > n/2 { // far fewer than one request per file; the number varies, and is higher on a slow machine
		t.Errorf("%d files take %d requests with files and %d for names", n, sent, asked)
	}
	sent = 0
	mu.Unlock()
	upload(fmt.Sprintf("0 sent · %s already exist", browser.Grouped(n)))
	mu.Lock()
	if sent != 0 {
		t.Errorf("%d files were sent again", sent)
	}
	mu.Unlock()
}
