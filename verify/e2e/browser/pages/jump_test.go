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

// goes types where to go in a long list, and waits until the row that has the focus is that of a
// file or folder.
func (v *visitor) goes(to, row string) {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((input) => { input.value = %q; input.form.requestSubmit() })(document.querySelector(".jump input"))`, to)))
	v.hasFocus(row)
}

func (v *visitor) hasFocus(row string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.activeElement?.closest("[data-index]")?.innerText.trim().startsWith(%q)`, row))
	v.until(`((r) => r && r.top >= 0 && r.bottom <= innerHeight)(document.activeElement?.closest("[data-index]")?.getBoundingClientRect())`)
}

// A long list knows its length at once, and goes to its end, its beginning, a name or a day by a
// few requests, in either direction, flat and by folders.
func TestJump(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	const n = 1100
	s.putMany(t, sid, "raw/", n)
	s.put(t, sid, "B.txt", "ümlaut.txt")
	script := axe(t)
	v := s.signedIn(t, s.Key(), "/sets/"+sid+"?folder=raw/")
	var mu sync.Mutex
	pages := 0
	v.listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && strings.Contains(e.Request.URL, "/resources") {
			mu.Lock()
			pages++
			mu.Unlock()
		}
	})
	v.sees("1,100 entries", "Go to")
	v.seesNot("so far")
	v.looks("jump", script)
	v.size(1280, 800)
	mu.Lock()
	pages = 0
	mu.Unlock()
	v.press("To the end of the list")
	v.hasFocus("001099.txt")
	v.goes("000500", "000500.txt")
	v.goes("00077", "000770.txt")
	v.press("To the beginning of the list")
	v.hasFocus("000000.txt")
	mu.Lock()
	if pages > 12 {
		t.Errorf("four jumps took %d requests", pages)
	}
	mu.Unlock()

	v.at("/sets/" + sid + "?folder=raw/&order=name-descending")
	v.sees("1,100 entries", "Go to")
	v.goes("000500", "000500.txt")
	v.goes("00077", "000779.txt")
	v.press("All files")
	v.at("/sets/" + sid)
	v.sees("1,102 files", "Go to")
	v.goes("b", "B.txt") // capital letters come first
	v.goes("üm", "ümlaut.txt")
	v.goes("raw/0009", "raw/000900.txt")
	v.at("/sets/" + sid + "?order=oldest")
	v.sees("1,102 files", "Go to")
	first := get(v, chromedp.Evaluate[string](`document.querySelector("[data-index='0'] a").innerText.trim()`))
	v.goes(time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly), "ümlaut.txt") // nothing is as new as that: the end
	v.goes(time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), first)
}
