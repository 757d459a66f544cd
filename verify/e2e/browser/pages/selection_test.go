package pages

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// toggle clicks the checkboxes of these files.
func toggle(v *browser.Visitor, names ...string) {
	v.T.Helper()
	for _, name := range names {
		browser.Click(v, browser.Xpath("input", "Select "+name))
	}
}

// selected waits until n files are selected.
func selected(v *browser.Visitor, n int) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`(parseInt(document.querySelector(".note")?.innerText) || 0) === %d`, n))
}

// deleteSelected presses the button that deletes the selected files.
func deleteSelected(v *browser.Visitor) {
	v.T.Helper()
	browser.Click(v, chromedp.Search(`//*[@class="note"]//button[starts-with(normalize-space(), "Delete")]`))
}

// The confirmation lists the selected files, including those that do not match the filters.
func TestDeleteSelectedNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	toggle(v, "a.txt")
	v.Do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "c/"))
	v.Lists("c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	toggle(v, "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt")
	deleteSelected(v)
	v.Sees("Delete 6 files?", "1 of them is not in the list", "and 2 others", "go to the trash")
	if got := browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog li")].map((l) => l.innerText.trim()).join("|")`)); got !=
		"not in the list a.txt|c/1.txt|c/2.txt|c/3.txt|and 2 others" {
		t.Errorf("the dialog lists %s", got)
	}
	v.Shot("delete-chosen")
	v.Press("Cancel")
	selected(v, 6)
	s.Holds(t, sid, []string{"a.txt", "b.txt", "c/1.txt", "c/2.txt", "c/3.txt", "c/4.txt", "c/5.txt"})
	toggle(v, "c/5.txt")
	deleteSelected(v)
	v.Submit()
	v.Lists("c/5.txt")
	v.Until(`!document.querySelector(".note")`)
	s.Holds(t, sid, []string{"b.txt", "c/5.txt"})
}

// The confirmation also lists files that do not match a time filter.
func TestDeleteSelectedWithTimeFilter(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt", "b.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid+"?order=newest&since=2020-01-01")
	toggle(v, "a.txt", "b.txt")
	deleteSelected(v)
	v.Sees("Delete 2 files?")
	v.SeesNot("not in the list")
	v.Press("Cancel")
	v.Do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "and before")]/input`), "2021-01-01"),
		chromedp.Evaluate[chromedp.Void](`void document.querySelectorAll("input[type=date]")[1].dispatchEvent(new Event("change", {bubbles: true}))`))
	v.Sees("No matches")
	deleteSelected(v)
	v.Sees("2 of them are not in the list")
}

// The page treats a time in the address as UTC, even with a space instead of a T, or without the +
// of an offset.
func TestTimesInAddressesAreUTC(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	since := time.Now().UTC().Add(-time.Minute)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	if _, err := chromedp.Call(v.Context, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		since.Format("2006-01-02T15:04"), since.Format("2006-01-02 15:04"), since.Format("2006-01-02 15:04Z"), since.Add(2*time.Hour).Format("2006-01-02 15:04") + " 02:00",
	} {
		v.At("/sets/" + sid + "?order=newest&since=" + url.QueryEscape(text))
		toggle(v, "a.txt")
		deleteSelected(v)
		v.Sees("Delete 1 file?")
		v.SeesNot("not in the list")
		v.Press("Cancel")
	}
}

// Files that could not be deleted stay selected, with the error, and can be deleted again.
func TestDeleteSelectedFailsInPart(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	other := s.Create(t, "/sets", map[string]string{"name": "other", "dataspaceId": did})
	ids := s.Put(t, sid, "a.txt", "b.txt", "c.txt", "d.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid, "ERR_BLOCKED_BY_CLIENT")
	toggle(v, "a.txt", "b.txt", "c.txt")
	v.Cut(s.Base() + "/sets/" + sid + "/many")
	deleteSelected(v)
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	selected(v, 3)
	v.Sees("b.txt: The service cannot be reached")
	v.Shot("delete-chosen-failed")
	v.Size(360, 740)
	v.Shot("delete-chosen-360")
	v.Until("document.documentElement.scrollWidth <= innerWidth")
	v.Size(1280, 800)
	v.Cut("")
	s.Do(t, "POST", "/resources/"+ids[1]+"/move", map[string]string{"setId": other}) // by another user at the same time
	deleteSelected(v)
	v.Submit()
	v.Sees("2 files deleted.")
	v.Lists("d.txt")
	v.Until(`!document.querySelector(".note")`)
	v.Press("Undo")
	v.Sees("Undone: 2 files are back.")
	v.Lists("a.txt", "c.txt", "d.txt")
	s.Holds(t, sid, []string{"a.txt", "c.txt", "d.txt"})
}

// Select all selects every file that matches the filter, including files that are not loaded. Later
// uploads are not selected. After a cancelled deletion the remaining files stay selected. The user
// selects the deleted files in the trash, and restores them.
func TestSelectAll(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	const many = 450
	s.PutMany(t, sid, "raw/", many)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Person(t, "anna", "editor", did).Key, "/sets/"+sid+"?prefix=raw/")
	v.Sees("000000.txt")
	browser.Click(v, chromedp.CSS(`.list .head input`))
	selected(v, many)
	v.Shots("select-all")
	s.Put(t, sid, "raw/later.txt")
	deleteSelected(v)
	v.Sees("Delete 450 files?")
	v.Slow(-1, 400*time.Millisecond)
	v.Submit()
	v.Sees("200 of 450 done")
	v.Press("Cancel")
	v.Slow(-1, 0)
	v.Until(`!document.querySelector("dialog")`)
	v.Sees("files deleted.")
	left := len(s.Names(t, sid)) - 2
	if left == 0 || left == many {
		t.Errorf("%d of %d files remain", left, many)
	}
	selected(v, left)
	deleteSelected(v)
	v.Submit()
	v.Lists("raw/later.txt")
	v.At("/sets/" + sid + "?prefix=raw/&state=deleted")
	v.Sees("000000.txt")
	browser.Click(v, chromedp.CSS(`.list .head input`))
	selected(v, many)
	v.Press("Restore 450 files")
	v.Sees("450 files restored.")
	if got := len(s.Names(t, sid)); got != many+2 {
		t.Errorf("the set has %d files, want %d", got, many+2)
	}
}

// A zip contains at most 1,000 selected files. For more files, the page offers the whole set.
func TestDownloadSelectedIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1000
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.PutMany(t, sid, "", most+1)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("000000.txt")
	v.Until(fmt.Sprintf(`(document.querySelectorAll(".list input:not(:checked)").forEach((box) => box.click()),
		scrollBy(0, innerHeight / 2), document.querySelector(".note")?.innerText.startsWith("%d,%03d files"))`, (most+1)/1000, (most+1)%1000))
	v.Do(chromedp.Evaluate[chromedp.Void](`void scrollTo(0, 0)`))
	v.Sees("A zip contains at most 1,000 selected files")
	v.Shot("too-many-chosen")
	link := func(label string) string {
		return browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".note a")].find((a) => a.innerText.trim() === "`+label+`")?.href ?? ""`))
	}
	if got := link("Download as zip"); got != "" {
		t.Errorf("the page offers %.200s, which the service refuses", got)
	}
	if got, want := link("Download the whole set"), s.Base()+"/sets/"+sid+"/archive"; got != want {
		t.Errorf("the whole set is at %.200q, want %q", got, want)
	}
	toggle(v, "000000.txt")
	v.Sees("1,000 files selected", "Download as zip")
	v.SeesNot("at most")
	status := browser.Get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch(%q).then((r) => (r.body.cancel(), r.status))`, link("Download as zip")), chromedp.EvalAwaitPromise))
	if status != 200 {
		t.Errorf("the request of a zip of %d files has the status %d", most, status)
	}
}
