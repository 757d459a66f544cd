package pages

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// Single keys move through a list, select, edit and delete. The key ? lists them, and can switch
// them off. Pasting uploads copied images.
func TestSingleKeys(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt", "b.txt", "c.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Lists("a.txt", "b.txt", "c.txt")
	hit := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			v.Do(chromedp.KeyEvent(key))
		}
	}
	focused := func(name string) { t.Helper(); v.Until(`document.activeElement.innerText.trim() === "` + name + `"`) }
	hit("j")
	focused("a.txt")
	hit("j")
	focused("b.txt")
	hit("x")
	v.Sees("1 file selected")
	hit("j", "k", "k")
	focused("a.txt")
	hit("x")
	v.Sees("2 files selected")
	hit(kb.Delete)
	v.Until(`document.querySelector("dialog[open]")?.innerText.includes("Delete 2 files")`)
	hit("j", kb.Escape) // an open dialog receives all keys
	v.Until(`!document.querySelector("dialog")`)
	hit("e")
	v.Until(`document.querySelector("dialog[open] h2").innerText === "Edit the set"`)
	hit(kb.Escape)
	v.Until(`!document.querySelector("dialog")`)

	hit("?")
	v.Until(`["go to the next row", "select or deselect the row", "delete the selection", "edit the set", "search"].every((t) => document.querySelector("dialog[open]").innerText.includes(t))`)
	v.Shot("keyboard-1280")
	accessible(v, browser.Axe(t))
	v.Press("Switch single keys off")
	hit(kb.Escape)
	v.Until(`!document.querySelector("dialog")`)
	hit("e", "/")
	v.Until(`!document.querySelector("dialog") && document.activeElement.name !== "q"`)
	hit("?") // this key still works, to switch them on
	v.Press("Switch single keys on")
	hit(kb.Escape)
	v.Until(`!document.querySelector("dialog")`)
	hit("/")
	v.Until(`document.activeElement.name === "q"`)
	hit("j") // typed into the field
	v.Until(`document.activeElement.name === "q" && document.activeElement.value.endsWith("j")`)

	v.Do(chromedp.Evaluate[chromedp.Void](`{
		const copied = new DataTransfer();
		copied.items.add(new File(["picture"], "image.png", { type: "image/png" }));
		document.activeElement.blur();
		document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: copied, bubbles: true, cancelable: true }));
	}`))
	v.Until(`/pasted \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png/.test(document.querySelector("dialog[open]")?.innerText)`)
}
