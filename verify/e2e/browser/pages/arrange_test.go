package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// drags drags the link with one label onto the link with another label, with the mouse.
func drags(v *browser.Visitor, from, onto string) {
	v.T.Helper()
	middle := func(label string) [2]float64 {
		return browser.Get(v, chromedp.Evaluate[[2]float64](fmt.Sprintf(`((b) => [b.left + 20, b.top + b.height / 2])([...document.querySelectorAll("main a")].findLast((a) => a.innerText.trim() === %q).getBoundingClientRect())`, label)))
	}
	taken := make(chan *input.DragData, 1)
	v.Listen(func(event any) {
		if e, is := event.(*input.EventDragIntercepted); is {
			select {
			case taken <- e.Data:
			default:
			}
		}
	})
	if _, err := chromedp.Call(v.Context, input.SetInterceptDrags, input.SetInterceptDragsParams{Enabled: true}); err != nil {
		v.Fail(err)
	}
	at, to := middle(from), middle(onto)
	v.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0]+9, at[1]+9, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, to[0], to[1], chromedp.ButtonLeft))
	data := <-taken
	for _, step := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(v.Context, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: to[0], Y: to[1], Data: data}); err != nil {
			v.Fail(err)
		}
	}
	v.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to[0], to[1], chromedp.ButtonLeft))
}

// Files and folders can be renamed in their rows, and each renaming can be undone with one click. A
// refused name shows the reason in the row.
func TestRenameInPlace(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "raw/a.txt", "b.txt")
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Person(t, "anna", "editor", did).Key, "/sets/"+sid, "status of 400")
	v.Lists("raw", "b.txt")
	v.Do(chromedp.Focus(browser.Xpath("a", "b.txt")), chromedp.KeyEvent(kb.F2))
	v.Until(`document.activeElement.getAttribute("aria-label") === "New name" && getSelection().toString() === "b"`)
	looks(v, "rename", script)
	v.Size(1280, 800)
	v.Do(chromedp.KeyEvent("c"), chromedp.KeyEvent(kb.Enter))
	v.Lists("raw", "c.txt")
	v.Sees("Renamed to c.txt.")
	s.Holds(t, sid, []string{"c.txt", "raw/a.txt"})
	v.Press("Undo")
	v.Lists("raw", "b.txt")

	v.Do(chromedp.Focus(browser.Xpath("a", "raw")), chromedp.KeyEvent(kb.F2))
	v.Fill("New name", "..")
	v.Do(chromedp.KeyEvent(kb.Enter))
	v.Until(`document.querySelector(".renaming [role=alert]")?.checkVisibility() && document.activeElement.ariaInvalid === "true"`)
	v.Shots("rename-refused")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Lists("raw", "b.txt")
	v.Until(`document.activeElement.innerText.trim() === "raw"`)

	v.Do(chromedp.Evaluate[chromedp.Void](`void document.querySelector('[aria-label="Rename raw"]').focus()`))
	v.Press("Rename raw")
	v.Fill("New name", "treated")
	v.Do(chromedp.KeyEvent(kb.Enter))
	v.Lists("treated", "b.txt")
	s.Holds(t, sid, []string{"b.txt", "treated/a.txt"})
	v.Sees("Renamed to treated.")
	browser.Click(v, chromedp.Search(`(//*[@class="notice"])[last()]//button[normalize-space()="Undo"]`))
	v.Lists("raw", "b.txt")
	s.Holds(t, sid, []string{"b.txt", "raw/a.txt"})
}

// Rows can be dragged onto folders and breadcrumbs, one at a time or all selected ones. Each move
// can be undone with one click.
func TestDragIntoFolder(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "raw/deep/a.txt", "b.txt", "c.txt", "d.txt")
	v := s.SignedIn(t, s.Person(t, "anna", "editor", did).Key, "/sets/"+sid)
	v.Lists("raw", "b.txt", "c.txt", "d.txt")
	toggle(v, "b.txt", "c.txt")
	v.Rendered()
	drags(v, "c.txt", "raw")
	v.Lists("raw", "d.txt")
	v.Sees("2 files moved to raw.")
	s.Holds(t, sid, []string{"d.txt", "raw/b.txt", "raw/c.txt", "raw/deep/a.txt"})
	v.Press("Undo")
	v.Lists("raw", "b.txt", "c.txt", "d.txt")

	v.At("/sets/" + sid + "?folder=raw%2F")
	v.Lists("deep")
	drags(v, "deep", "Runs of 2026")
	v.Sees("deep moved to Runs of 2026.", "This folder is empty")
	s.Holds(t, sid, []string{"b.txt", "c.txt", "d.txt", "deep/a.txt"})
	v.Press("Undo")
	v.Lists("deep")
	s.Holds(t, sid, []string{"b.txt", "c.txt", "d.txt", "raw/deep/a.txt"})
}
