package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A returning user sees the latest changes with pictures, changes by others since the last visit,
// their own sets, and the content of each dataspace.
func TestStartPage(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	script := browser.Axe(t)
	v := d.Visit(t)
	v.At("/")
	v.SignIn(d.keys["ines"])
	v.Sees("Recent files", "Your sets", "Dataspaces")
	v.Until(`[...document.querySelectorAll(".tile-picture img")].some((i) => i.complete && i.naturalWidth > 0)`)
	settled(v)
	v.Until(`[...document.querySelectorAll(".list .body .row .size")].every((s) => /\d/.test(s.innerText))`)
	v.SeesNot("Others have changed")
	me := browser.Get(v, chromedp.Evaluate[string](`Object.keys(localStorage).find((k) => k.startsWith("labshelf-visit"))`))
	for _, width := range []int64{360, 2560, 1280} {
		v.Size(width, 800)
		v.Shot(fmt.Sprint("start-", width))
		fits(v)
	}
	accessible(v, script)

	// Simulate a last visit before most changes of the demo.
	long := time.Now().Add(-10 * 24 * time.Hour).UTC().Format(time.RFC3339)
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void localStorage.setItem(%q, JSON.stringify({seen: %q, before: ""}))`, me, long)))
	v.At("/")
	v.Sees("Others have changed", "since you were here")
	v.Until(`document.querySelector(".tiles .badge").innerText === "new"`)
	v.Shot("start-news")
	v.Follow("Show all")
	v.Until(`location.pathname === "/search" && document.querySelector(".list .body .row")`)
	v.Do(chromedp.NavigateBack())
	v.Until(`document.querySelector(".tiles a")`)
	v.Until(`(document.querySelector(".tiles a").click(), location.pathname.startsWith("/resources/"))`)
}

// In an empty repository, the page shows how to begin.
func TestEmptyStartPage(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/")
	v.Sees("No dataspaces yet", "Create a dataspace", "Mount it as a drive", "Send files by command")
	v.SeesNot("Recent files")
	v.Size(360, 740)
	fits(v)
	accessible(v, browser.Axe(t))
	v.Shot("start-empty-360")
	v.Size(1280, 800)
	v.Shot("start-empty-1280")
	v.Press("Create the first one")
	v.Until(`document.activeElement.name === "name"`)
}
