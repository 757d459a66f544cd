package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drags drags the link with one label onto that with another one, as a mouse does.
func (v *visitor) drags(from, onto string) {
	v.t.Helper()
	middle := func(label string) [2]float64 {
		return get(v, chromedp.Evaluate[[2]float64](fmt.Sprintf(`((b) => [b.left + 20, b.top + b.height / 2])([...document.querySelectorAll("main a")].findLast((a) => a.innerText.trim() === %q).getBoundingClientRect())`, label)))
	}
	taken := make(chan *input.DragData, 1)
	v.listen(func(event any) {
		if e, is := event.(*input.EventDragIntercepted); is {
			select {
			case taken <- e.Data:
			default:
			}
		}
	})
	if _, err := chromedp.Call(v.ctx, input.SetInterceptDrags, input.SetInterceptDragsParams{Enabled: true}); err != nil {
		v.fail(err)
	}
	at, to := middle(from), middle(onto)
	v.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0]+9, at[1]+9, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, to[0], to[1], chromedp.ButtonLeft))
	data := <-taken
	for _, step := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(v.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: to[0], Y: to[1], Data: data}); err != nil {
			v.fail(err)
		}
	}
	v.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to[0], to[1], chromedp.ButtonLeft))
}

// A file and a folder are renamed in their rows, and come back by one click; what is refused says
// why in place.
func TestRenameInPlace(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "raw/a.txt", "b.txt")
	script := axe(t)
	v := s.signedIn(t, s.person(t, "anna", "editor", did).key, "/sets/"+sid, "status of 400")
	v.lists("raw", "b.txt")
	v.do(chromedp.Focus(xpath("a", "b.txt")), chromedp.KeyEvent(kb.F2))
	v.until(`document.activeElement.getAttribute("aria-label") === "New name" && getSelection().toString() === "b"`)
	v.looks("rename", script)
	v.size(1280, 800)
	v.do(chromedp.KeyEvent("c"), chromedp.KeyEvent(kb.Enter))
	v.lists("raw", "c.txt")
	v.sees("Renamed to c.txt.")
	s.holds(t, sid, []string{"c.txt", "raw/a.txt"})
	v.press("Undo")
	v.lists("raw", "b.txt")

	v.do(chromedp.Focus(xpath("a", "raw")), chromedp.KeyEvent(kb.F2))
	v.fill("New name", "..")
	v.do(chromedp.KeyEvent(kb.Enter))
	v.until(`document.querySelector(".renaming [role=alert]")?.checkVisibility() && document.activeElement.ariaInvalid === "true"`)
	v.shots("rename-refused")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.lists("raw", "b.txt")
	v.until(`document.activeElement.innerText.trim() === "raw"`)

	v.do(chromedp.Evaluate[chromedp.Void](`void document.querySelector('[aria-label="Rename raw"]').focus()`))
	v.press("Rename raw")
	v.fill("New name", "treated")
	v.do(chromedp.KeyEvent(kb.Enter))
	v.lists("treated", "b.txt")
	s.holds(t, sid, []string{"b.txt", "treated/a.txt"})
	v.sees("Renamed to treated.")
	click(v, chromedp.Search(`(//*[@class="notice"])[last()]//button[normalize-space()="Undo"]`))
	v.lists("raw", "b.txt")
	s.holds(t, sid, []string{"b.txt", "raw/a.txt"})
}

// Rows are dragged onto folders and breadcrumbs: one, or all that are selected. Each comes back by
// one click.
func TestDragIntoFolder(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "raw/deep/a.txt", "b.txt", "c.txt", "d.txt")
	v := s.signedIn(t, s.person(t, "anna", "editor", did).key, "/sets/"+sid)
	v.lists("raw", "b.txt", "c.txt", "d.txt")
	v.toggle("b.txt", "c.txt")
	v.rendered()
	v.drags("c.txt", "raw")
	v.lists("raw", "d.txt")
	v.sees("2 files moved to raw.")
	s.holds(t, sid, []string{"d.txt", "raw/b.txt", "raw/c.txt", "raw/deep/a.txt"})
	v.press("Undo")
	v.lists("raw", "b.txt", "c.txt", "d.txt")

	v.at("/sets/" + sid + "?folder=raw%2F")
	v.lists("deep")
	v.drags("deep", "Runs of 2026")
	v.sees("deep moved to Runs of 2026.", "This folder is empty")
	s.holds(t, sid, []string{"b.txt", "c.txt", "d.txt", "deep/a.txt"})
	v.press("Undo")
	v.lists("deep")
	s.holds(t, sid, []string{"b.txt", "c.txt", "d.txt", "raw/deep/a.txt"})
}
