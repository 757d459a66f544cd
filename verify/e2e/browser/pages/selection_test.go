package browser

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// toggle clicks the checkbox of each of these files.
func (v *visitor) toggle(names ...string) {
	v.t.Helper()
	for _, name := range names {
		click(v, xpath("input", "Select "+name))
	}
}

// selected waits until that many files are selected.
func (v *visitor) selected(n int) {
	v.t.Helper()
	v.until(fmt.Sprintf(`(parseInt(document.querySelector(".note")?.innerText) || 0) === %d`, n))
}

// deleteSelected presses the button that deletes the selected files.
func (v *visitor) deleteSelected() {
	v.t.Helper()
	click(v, chromedp.Search(`//*[@class="note"]//button[starts-with(normalize-space(), "Delete")]`))
}

// The confirmation lists the selected files, also those that do not match the filters.
func TestDeleteSelectedNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.put(t, sid, "a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.toggle("a.txt")
	v.do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "c/"))
	v.lists("c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v.toggle("c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v.deleteSelected()
	v.sees("Delete 6 files?", "1 of them is not in the list", "and 2 others", "go to the trash")
	if got := get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog li")].map((l) => l.innerText.trim()).join("|")`)); got !=
		"not in the list a.txt|c/1.txt|c/2.txt|c/3.txt|and 2 others" {
		t.Errorf("the dialog names %s", got)
	}
	v.shot("delete-chosen")
	v.press("Cancel")
	v.selected(6)
	s.holds(t, sid, []string{"a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt"})
	v.toggle("c/5.txt")
	v.deleteSelected()
	v.submit()
	v.lists("c/5.txt")
	v.until(`!document.querySelector(".note")`)
	s.holds(t, sid, []string{"b.txt", "c/5.txt"})
}

// The confirmation also lists files that do not match a filter by time.
func TestDeleteSelectedWithTimeFilter(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.put(t, sid, "a.txt", "b.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid+"?order=newest&since=2020-01-01")
	v.toggle("a.txt", "b.txt")
	v.deleteSelected()
	v.sees("Delete 2 files?")
	v.seesNot("not in the list")
	v.press("Cancel")
	v.do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "and before")]/input`), "2021-01-01"),
		chromedp.Evaluate[chromedp.Void](`void document.querySelectorAll("input[type=date]")[1].dispatchEvent(new Event("change", {bubbles: true}))`))
	v.sees("No matches")
	v.deleteSelected()
	v.sees("2 of them are not in the list")
}

// A time in the address is in UTC for the page, too, also with a blank or without the + of an
// offset.
func TestTimesInAddressesAreUTC(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	since := time.Now().UTC().Add(-time.Minute)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	if _, err := chromedp.Call(v.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		since.Format("2006-01-02T15:04"), since.Format("2006-01-02 15:04"), since.Format("2006-01-02 15:04Z"), since.Add(2*time.Hour).Format("2006-01-02 15:04") + " 02:00",
	} {
		v.at("/sets/" + sid + "?order=newest&since=" + url.QueryEscape(text))
		v.toggle("a.txt")
		v.deleteSelected()
		v.sees("Delete 1 file?")
		v.seesNot("not in the list")
		v.press("Cancel")
	}
}

// Files that cannot be deleted stay selected, with the error, and can be deleted again.
func TestDeleteSelectedFailsInPart(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	other := s.create(t, "/sets", map[string]string{"name": "other", "dataspaceId": did})
	ids := s.put(t, sid, "a.txt", "b.txt", "c.txt", "d.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid, "ERR_BLOCKED_BY_CLIENT")
	v.toggle("a.txt", "b.txt", "c.txt")
	v.cut(s.Base() + "/sets/" + sid + "/many")
	v.deleteSelected()
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	v.selected(3)
	v.sees("b.txt: The service cannot be reached")
	v.shot("delete-chosen-failed")
	v.size(360, 740)
	v.shot("delete-chosen-360")
	v.until("document.documentElement.scrollWidth <= innerWidth")
	v.size(1280, 800)
	v.cut("")
	s.call(t, "POST", "/resources/"+ids[1]+"/move", map[string]string{"setId": other}) // by somebody else, meanwhile
	v.deleteSelected()
	v.submit()
	v.sees("2 files deleted.")
	v.lists("d.txt")
	v.until(`!document.querySelector(".note")`)
	v.press("Undo")
	v.sees("Undone: 2 files are back.")
	v.lists("a.txt", "c.txt", "d.txt")
	s.holds(t, sid, []string{"a.txt", "c.txt", "d.txt"})
}

// All that the filter shows is selected, also what is not loaded, and stays what it was when it was
// clicked; after a deletion is cancelled, the remaining files stay, and stay selected. What was
// deleted is selected in the trash, and restored.
func TestSelectAll(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	const many = 450
	s.putMany(t, sid, "raw/", many)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.person(t, "anna", "editor", did).key, "/sets/"+sid+"?prefix=raw/")
	v.sees("000000.txt")
	click(v, chromedp.CSS(`.list .head input`))
	v.selected(many)
	v.shots("select-all")
	s.put(t, sid, "raw/later.txt")
	v.deleteSelected()
	v.sees("Delete 450 files?")
	v.slow(-1, 400*time.Millisecond)
	v.submit()
	v.sees("200 of 450 done")
	v.press("Cancel")
	v.slow(-1, 0)
	v.until(`!document.querySelector("dialog")`)
	v.sees("files deleted.")
	left := len(s.names(t, sid)) - 2
	if left == 0 || left == many {
		t.Errorf("%d of %d files are left", left, many)
	}
	v.selected(left)
	v.deleteSelected()
	v.submit()
	v.lists("raw/later.txt")
	v.at("/sets/" + sid + "?prefix=raw/&state=deleted")
	v.sees("000000.txt")
	click(v, chromedp.CSS(`.list .head input`))
	v.selected(many)
	v.press("Restore 450 files")
	v.sees("450 files restored.")
	if got := len(s.names(t, sid)); got != many+2 {
		t.Errorf("%d files are there, want %d", got, many+2)
	}
}

// A zip contains at most 1,000 selected files; for more, the page offers the whole set.
func TestDownloadSelectedIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1000
	s := open(t)
	_, sid := s.makeSet(t)
	s.putMany(t, sid, "", most+1)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("000000.txt")
	v.until(fmt.Sprintf(`(document.querySelectorAll(".list input:not(:checked)").forEach((box) => box.click()),
		scrollBy(0, innerHeight / 2), document.querySelector(".note")?.innerText.startsWith("%d,%03d files"))`, (most+1)/1000, (most+1)%1000))
	v.do(chromedp.Evaluate[chromedp.Void](`void scrollTo(0, 0)`))
	v.sees("A zip contains at most 1,000 selected files")
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
	v.toggle("000000.txt")
	v.sees("1,000 files selected", "Download as zip")
	v.seesNot("at most")
	status := get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch(%q).then((r) => (r.body.cancel(), r.status))`, link("Download as zip")), chromedp.EvalAwaitPromise))
	if status != 200 {
		t.Errorf("a zip of %d files is answered with %d", most, status)
	}
}
