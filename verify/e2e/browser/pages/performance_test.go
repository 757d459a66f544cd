package pages

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// The list of a very large set scrolls smoothly, fetches only the pages that it needs, and renders
// few rows.
func TestLongListScrolls(t *testing.T) {
	t.Parallel()
	browser.Need(t)
	n := browser.Size(t, "LISTED_FILES", 20_000)
	data := filepath.Join(t.TempDir(), "data")
	fill := exec.CommandContext(t.Context(), "go", "run", "labshelf/verify/bench", "fill", "--resources", strconv.Itoa(n), "--sets", "1", "--dataspaces", "1", "--bodies", "8", data)
	if output, err := fill.CombinedOutput(); err != nil {
		t.Fatalf("fill: %v\n%s", err, output)
	}
	s := browser.OpenAt(t, data)
	var sets struct{ Data []struct{ ID string } }
	if err := s.Call(t.Context(), "GET", "/sets", nil, &sets); err != nil {
		t.Fatal(err)
	}
	v := s.Visit(t)
	var mu sync.Mutex
	pages := 0
	v.Listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && strings.Contains(e.Request.URL, "/resources") {
			mu.Lock()
			pages++
			mu.Unlock()
		}
	})
	v.At("/sets/" + sets.Data[0].ID + "?order=oldest")
	v.SignIn(s.Key())
	v.Until(`document.querySelectorAll(".list .body .row a").length > 20`)
	v.Sees(browser.Grouped(n) + " files") // the length is known immediately
	mu.Lock()
	if pages > 6 {
		t.Errorf("%d pages were requested before scrolling", pages)
	}
	mu.Unlock()
	type seen struct{ Frames, Jank, Longest, Rows, Made, Passed, Empty int }
	got := browser.Get(v, chromedp.Evaluate[seen](`new Promise((done) => {
		const seen = {Frames: 0, Jank: 0, Longest: 0, Rows: 0, Made: 0, Passed: 0, Empty: 0};
		let long = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) { long += e.duration; seen.Longest = Math.max(seen.Longest, Math.round(e.duration)) } })
			.observe({type: "longtask"});
		const body = document.querySelector(".list .body");
		new MutationObserver((list) => { for (const e of list) for (const node of e.addedNodes) if (node.matches?.(".row")) seen.Made++ })
			.observe(body, {childList: true});
		const frame = () => {
			seen.Frames++;
			scrollBy(0, 240);
			const rows = document.querySelectorAll(".list .body .row");
			seen.Rows = Math.max(seen.Rows, rows.length);
			if (!rows.length) seen.Empty++;
			if (seen.Frames < 200) requestAnimationFrame(frame);
			else { seen.Jank = Math.round(long); seen.Passed = Number([...rows].at(-1).dataset.index) + 1; done(seen) }
		};
		requestAnimationFrame(frame);
	})`, chromedp.EvalAwaitPromise))
	t.Logf("200 frames of scrolling: %+v", got)
	if got.Rows > 120 || got.Empty > 0 {
		t.Errorf("the document has %d rows, and %d frames show no row", got.Rows, got.Empty)
	}
	if got.Made == 0 || got.Made > 2*got.Passed { // each row once as a placeholder and once with its content
		t.Errorf("%d rows were created while scrolling past %d", got.Made, got.Passed)
	}
	// Scroll down until the first pages are evicted, and back to their rows.
	v.Until(`(scrollTo(0, document.documentElement.scrollHeight), Number(document.querySelector(".list .body").dataset.count) > 6000)`)
	v.Until(`(scrollTo(0, 0), document.querySelector("[data-index='0'] a"))`)
}

// The first page is small, and layouts do not shift while pages load.
func TestFirstPaint(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt", "b.txt")
	v := s.Visit(t)
	v.At("/")
	v.Sees("Your API key")
	const most = 100 << 10
	got := browser.Get(v, chromedp.Evaluate[int](`[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
		.reduce((sum, e) => sum + e.transferSize, 0)`))
	if got == 0 || got >= most {
		t.Errorf("the first paint takes %d bytes, want less than %d", got, most)
	}
	t.Logf("first paint: %d bytes", got)
	v.SignIn(s.Key())
	ctx, cancel := context.WithTimeout(v.Context, browser.StepTimeout)
	defer cancel()
	for _, path := range []string{"/", "/dataspaces/" + did, "/sets/" + sid, "/dataspaces/" + did + "/members", "/search?q=txt", "/trash", "/account", "/users"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(s.Origin+path)); err != nil {
			t.Fatal(err)
		}
		v.Loaded()
		moved := browser.Get(v, chromedp.Evaluate[float64](`new Promise((done) => {
			let sum = 0;
			new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value }).observe({type: "layout-shift", buffered: true});
			setTimeout(() => done(sum), 150);
		})`, chromedp.EvalAwaitPromise))
		if moved > 0.02 {
			t.Errorf("%s: the layout moves by %.3f while it loads", path, moved)
		}
	}
}
