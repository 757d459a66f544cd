package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// Unknown and malformed addresses show an error.
func TestNoSuchPage(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/", "status of 404")
	v.Sees("No dataspaces yet")
	v.At("/no/such/page")
	v.Sees("Page not found")
	v.At("/sets/%25")
	v.Sees("may not exist")
}

// With the keyboard, the focus moves to a new page, into a dialog, and back.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("file-%02d.txt", i)
	}
	s.Put(t, sid, names...)
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did)
	v.Sees("Runs of 2026")
	v.Do(chromedp.Focus(browser.Xpath("button", "New set")), chromedp.KeyEvent(kb.Enter))
	v.Until(`document.activeElement.name === "name"`)
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Until(`document.activeElement.innerText === "New set"`)
	v.Do(chromedp.Focus(browser.Xpath("a", "Runs of 2026")), chromedp.KeyEvent(kb.Enter))
	v.Until(`document.activeElement.id === "main"`)
	v.Sees("file-00.txt")
	v.Do(chromedp.Focus(browser.Xpath("a", "file-00.txt")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	v.Until(`document.activeElement.innerText.trim() === "file-02.txt"`)
	v.Do(chromedp.KeyEvent(kb.End))
	v.Until(`document.activeElement.innerText.trim() === "file-29.txt"`)
	v.Until(`document.activeElement.getBoundingClientRect().bottom <= innerHeight`)
	v.Do(chromedp.KeyEvent(kb.PageUp), chromedp.KeyEvent(kb.Home))
	v.Until(`document.activeElement.innerText.trim() === "file-00.txt"`)
	v.Do(chromedp.KeyEvent(kb.Enter))
	v.Sees("For programs")
}
