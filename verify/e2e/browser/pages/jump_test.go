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

// goes types a destination in a long list, and waits until the row of this file or folder has the
// focus.
func goes(v *browser.Visitor, to, row string) {
	v.T.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((input) => { input.value = %q; input.form.requestSubmit() })(document.querySelector(".jump input"))`, to)))
	hasFocus(v, row)
}

func hasFocus(v *browser.Visitor, row string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`document.activeElement?.closest("[data-index]")?.innerText.trim().startsWith(%q)`, row))
	v.Until(`((r) => r && r.top >= 0 && r.bottom <= innerHeight)(document.activeElement?.closest("[data-index]")?.getBoundingClientRect())`)
}

// A long list immediately shows its length. It jumps to its end, its beginning, a name or a day
// with few requests, in both directions, flat and by folders.
func TestListJumps(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	const n = 1100
	s.PutMany(t, sid, "raw/", n)
	s.Put(t, sid, "B.txt", "ümlaut.txt")
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid+"?folder=raw/")
	var mu sync.Mutex
	pages := 0
	v.Listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && strings.Contains(e.Request.URL, "/resources") {
			mu.Lock()
			pages++
			mu.Unlock()
		}
	})
	v.Sees("1,100 entries", "Go to")
	v.SeesNot("so far")
	looks(v, "jump", script)
	v.Size(1280, 800)
	mu.Lock()
	pages = 0
	mu.Unlock()
	v.Press("To the end of the list")
	hasFocus(v, "001099.txt")
	goes(v, "000500", "000500.txt")
	goes(v, "00077", "000770.txt")
	v.Press("To the beginning of the list")
	hasFocus(v, "000000.txt")
	mu.Lock()
	if pages > 12 {
		t.Errorf("four jumps took %d requests", pages)
	}
	mu.Unlock()

	v.At("/sets/" + sid + "?folder=raw/&order=name-descending")
	v.Sees("1,100 entries", "Go to")
	goes(v, "000500", "000500.txt")
	goes(v, "00077", "000779.txt")
	v.Press("All files")
	v.At("/sets/" + sid)
	v.Sees("1,102 files", "Go to")
	goes(v, "b", "B.txt") // capital letters come first
	goes(v, "üm", "ümlaut.txt")
	goes(v, "raw/0009", "raw/000900.txt")
	v.At("/sets/" + sid + "?order=oldest")
	v.Sees("1,102 files", "Go to")
	first := browser.Get(v, chromedp.Evaluate[string](`document.querySelector("[data-index='0'] a").innerText.trim()`))
	goes(v, time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly), "ümlaut.txt") // later than all files: the end
	goes(v, time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), first)
}
