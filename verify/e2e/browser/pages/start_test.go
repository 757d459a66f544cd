package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Who comes back sees what was changed last, with pictures, what others have changed meanwhile, the
// own sets, and what each dataspace holds.
func TestStartPage(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	script := axe(t)
	v := d.visit(t)
	v.at("/")
	v.signIn(d.keys["ines"])
	v.sees("Recent files", "Your sets", "Dataspaces")
	v.until(`[...document.querySelectorAll(".tile-picture img")].some((i) => i.complete && i.naturalWidth > 0)`)
	v.settled()
	v.until(`[...document.querySelectorAll(".list .body .row .size")].every((s) => /\d/.test(s.innerText))`)
	v.seesNot("Others have changed")
	me := get(v, chromedp.Evaluate[string](`Object.keys(localStorage).find((k) => k.startsWith("labshelf-visit"))`))
	for _, width := range []int64{360, 2560, 1280} {
		v.size(width, 800)
		v.shot(fmt.Sprint("start-", width))
		v.fits()
	}
	v.accessible(script)

	// A visit before most of what the demo has done.
	long := time.Now().Add(-10 * 24 * time.Hour).UTC().Format(time.RFC3339)
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void localStorage.setItem(%q, JSON.stringify({seen: %q, before: ""}))`, me, long)))
	v.at("/")
	v.sees("Others have changed", "since you were here")
	v.until(`document.querySelector(".tiles .badge").innerText === "new"`)
	v.shot("start-news")
	v.follow("Show all")
	v.until(`location.pathname === "/search" && document.querySelector(".list .body .row")`)
	v.do(chromedp.NavigateBack())
	v.until(`document.querySelector(".tiles a")`)
	v.until(`(document.querySelector(".tiles a").click(), location.pathname.startsWith("/resources/"))`)
}

// Where there is nothing yet, the page says how to begin.
func TestStartOfAll(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signedIn(t, s.Key(), "/")
	v.sees("No dataspaces yet", "Create a dataspace", "Mount it as a drive", "Send files by command")
	v.seesNot("Recent files")
	v.size(360, 740)
	v.fits()
	v.accessible(axe(t))
	v.shot("start-empty-360")
	v.size(1280, 800)
	v.shot("start-empty-1280")
	v.press("Create the first one")
	v.until(`document.activeElement.name === "name"`)
}
