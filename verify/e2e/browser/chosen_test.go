package browser

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// mark ticks, or unticks, the box of each of these files.
func (v *visitor) mark(names ...string) {
	v.t.Helper()
	for _, name := range names {
		click(v, xpath("input", "Choose "+name))
	}
}

// chosen waits until that many files are chosen.
func (v *visitor) chosen(n int) {
	v.t.Helper()
	v.until(fmt.Sprintf(`(parseInt(document.querySelector(".note")?.innerText) || 0) === %d`, n))
}

// deleteChosen presses the button that deletes the chosen files.
func (v *visitor) deleteChosen() {
	v.t.Helper()
	click(v, chromedp.Search(`//*[@class="note"]//button[starts-with(normalize-space(), "Delete")]`))
}

// cut keeps requests to an address from arriving; "" lets all arrive.
func (v *visitor) cut(address string) {
	v.t.Helper()
	var patterns []*network.BlockPattern
	if address != "" {
		patterns = append(patterns, &network.BlockPattern{URLPattern: address, Block: true})
	}
	if _, err := chromedp.Call(v.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns}); err != nil {
		v.fail(err)
	}
}

// Before chosen files are deleted the visitor sees which they are, also those that the list does not show now.
func TestDeleteChosenAsks(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	s.put(t, sid, "a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.mark("a.txt")
	v.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), "c/"))
	v.lists("c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v.mark("c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v.deleteChosen()
	v.sees("Delete 6 files?", "1 of them is not in the list as it is now", "and 2 others", "go to the trash")
	if got := get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog li")].map((l) => l.innerText.trim()).join("|")`)); got !=
		"not in the list now a.txt|c/1.txt|c/2.txt|c/3.txt|and 2 others" {
		t.Errorf("the dialog names %s", got)
	}
	v.shot("delete-chosen")
	v.press("Cancel")
	v.chosen(6)
	s.holds(t, sid, []string{"a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt"})
	v.mark("c/5.txt")
	v.deleteChosen()
	v.submit()
	v.lists("c/5.txt")
	v.until(`!document.querySelector(".note")`)
	s.holds(t, sid, []string{"b.txt", "c/5.txt"})
}

// What a list by time leaves out is told as well as what a list by name does.
func TestDeleteChosenByTime(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	s.put(t, sid, "a.txt", "b.txt")
	v := s.visit(t)
	v.at("/sets/" + sid + "?order=newest&since=2020-01-01")
	v.signIn(s.Key())
	v.mark("a.txt", "b.txt")
	v.deleteChosen()
	v.sees("Delete 2 files?")
	v.seesNot("not in the list")
	v.press("Cancel")
	v.do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "and before")]/input`), "2021-01-01"),
		chromedp.Evaluate[chromedp.Void](`void document.querySelectorAll("input[type=date]")[1].dispatchEvent(new Event("change", {bubbles: true}))`))
	v.sees("Nothing matches")
	v.deleteChosen()
	v.sees("2 of them are not in the list as it is now")
}

// Where some files cannot be deleted, these alone stay chosen, with the reason, and another try takes them.
func TestDeleteChosenFailsInPart(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	ids := s.put(t, sid, "a.txt", "b.txt", "c.txt", "d.txt")
	v := s.visit(t)
	v.expect("ERR_BLOCKED_BY_CLIENT")
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.mark("a.txt", "b.txt", "c.txt")
	v.cut(s.Base() + "/resources/" + ids[1])
	v.deleteChosen()
	v.submit()
	v.chosen(1)
	v.sees("b.txt: The service cannot be reached")
	v.lists("b.txt", "d.txt")
	v.shot("delete-chosen-failed")
	v.size(360, 740)
	v.shot("delete-chosen-360")
	v.until("document.documentElement.scrollWidth <= innerWidth")
	v.size(1280, 800)
	v.until(`[...document.querySelectorAll(".list input:checked")].map((i) => i.getAttribute("aria-label")).join() === "Choose b.txt"`)
	s.holds(t, sid, []string{"b.txt", "d.txt"})
	v.cut("")
	v.mark("d.txt")
	v.chosen(2)
	v.deleteChosen()
	v.submit()
	v.sees("This set is empty")
	s.holds(t, sid, nil)
}

// A deletion that is cancelled under way leaves the rest where it is, and chosen.
func TestDeleteChosenIsCancelled(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	names := []string{"1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "6.txt", "7.txt", "8.txt"}
	s.put(t, sid, names...)
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.mark(names...)
	v.deleteChosen()
	v.slow(-1, 400*time.Millisecond)
	v.submit()
	v.sees("1 of 8 done")
	v.press("Cancel")
	v.slow(-1, 0)
	v.until(`!document.querySelector("dialog")`)
	time.Sleep(time.Second) // in which the rest would go
	left := s.names(t, sid)
	if len(left) == 0 || len(left) == len(names) {
		t.Errorf("%d of %d files are left", len(left), len(names))
	}
	v.chosen(len(left))
}

// One zip takes a thousand files that are chosen: of more, the visitor is told before, and offered the whole set.
func TestDownloadChosenIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1000
	s := open(t)
	_, sid := s.place(t)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := w; i <= most; i += 8 {
				name := fmt.Sprintf("%04d.txt", i)
				file := e2e.File{SetID: sid, Name: name, Filename: name, Body: strings.NewReader(name), Size: int64(len(name))}
				if _, err := s.Upload(t.Context(), "POST", "/resources", file); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.sees("0000.txt")
	v.until(fmt.Sprintf(`(document.querySelectorAll(".list input:not(:checked)").forEach((box) => box.click()),
		scrollBy(0, innerHeight / 2), document.querySelector(".note")?.innerText.startsWith("%d,%03d files"))`, (most+1)/1000, (most+1)%1000))
	v.do(chromedp.Evaluate[chromedp.Void](`void scrollTo(0, 0)`))
	v.sees("A zip takes 1,000 chosen files at most")
	v.shot("too-many-chosen")
	link := func(label string) string {
		return get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".note a")].find((a) => a.innerText.trim() === "`+label+`")?.href ?? ""`))
	}
	if got := link("Download as zip"); got != "" {
		t.Errorf("%.200s is offered, which is refused", got)
	}
	if got, want := link("Download the whole set"), s.Base()+"/sets/"+sid+"/archive"; got != want {
		t.Errorf("the whole set is at %.200q, want %q", got, want)
	}
	v.mark("0000.txt")
	v.sees("1,000 files chosen", "Download as zip")
	v.seesNot("at most")
	status := get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch(%q).then((r) => (r.body.cancel(), r.status))`, link("Download as zip")), chromedp.EvalAwaitPromise))
	if status != 200 {
		t.Errorf("a zip of %d files is answered with %d", most, status)
	}
}
