package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Unknown and malformed addresses show an error.
func TestNoSuchPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signedIn(t, s.Key(), "/", "status of 404")
	v.sees("No dataspaces yet")
	v.at("/no/such/page")
	v.sees("Page not found")
	v.at("/sets/%25")
	v.sees("may not exist")
}

// With the keyboard, the focus moves to a new page, into a dialog, and back.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("file-%02d.txt", i)
	}
	s.put(t, sid, names...)
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did)
	v.sees("Runs of 2026")
	v.do(chromedp.Focus(xpath("button", "New set")), chromedp.KeyEvent(kb.Enter))
	v.until(`document.activeElement.name === "name"`)
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`document.activeElement.innerText === "New set"`)
	v.do(chromedp.Focus(xpath("a", "Runs of 2026")), chromedp.KeyEvent(kb.Enter))
	v.until(`document.activeElement.id === "main"`)
	v.sees("file-00.txt")
	v.do(chromedp.Focus(xpath("a", "file-00.txt")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	v.until(`document.activeElement.innerText.trim() === "file-02.txt"`)
	v.do(chromedp.KeyEvent(kb.End))
	v.until(`document.activeElement.innerText.trim() === "file-29.txt"`)
	v.until(`document.activeElement.getBoundingClientRect().bottom <= innerHeight`)
	v.do(chromedp.KeyEvent(kb.PageUp), chromedp.KeyEvent(kb.Home))
	v.until(`document.activeElement.innerText.trim() === "file-00.txt"`)
	v.do(chromedp.KeyEvent(kb.Enter))
	v.sees("For programs")
}
