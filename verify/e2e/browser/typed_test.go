package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What was typed in a dialog is not discarded by Escape, by a click beside it or by its cross, unless the person says so.
func TestTypedIsNotDiscarded(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.press("Edit")
	v.until(`document.querySelector("dialog textarea")`)
	v.do(chromedp.KeyEvent(kb.Escape)) // nothing was typed
	v.until(`!document.querySelector("dialog")`)
	v.press("Edit")
	v.types("title", "Runs of 2027")
	kept := `document.querySelector("dialog[open] [name=title]").value === "Runs of 2027"`
	for name, leave := range map[string]func(){
		"Escape":        func() { v.do(chromedp.KeyEvent(kb.Escape)) },
		"Escape thrice": func() { v.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape)) },
		"the cross":     func() { v.press("Close") },
	} {
		leave()
		v.sees("Discard what you typed?")
		v.shot("discard")
		v.press("Keep editing")
		v.seesNot("Discard what you typed?")
		if !get(v, chromedp.Evaluate[bool](kept)) {
			t.Errorf("%s: it is gone", name)
		}
	}
	v.do(chromedp.MouseClickXY(5, 5))
	v.until(kept)
	v.do(chromedp.KeyEvent(kb.Escape))
	v.press("Discard")
	v.until(`!document.querySelector("dialog")`)
	if got := s.field(t, "/sets/"+sid, "title"); got != "Runs of 2026" {
		t.Errorf("it was saved: %s", got)
	}
}
