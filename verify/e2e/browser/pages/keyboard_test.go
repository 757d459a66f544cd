package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Single keys go through a list, select, edit and delete; ? says which there are, and switches them
// off. Copied pictures are uploaded by pasting.
func TestSingleKeys(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.put(t, sid, "a.txt", "b.txt", "c.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.lists("a.txt", "b.txt", "c.txt")
	hit := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			v.do(chromedp.KeyEvent(key))
		}
	}
	focused := func(name string) { t.Helper(); v.until(`document.activeElement.innerText.trim() === "` + name + `"`) }
	hit("j")
	focused("a.txt")
	hit("j")
	focused("b.txt")
	hit("x")
	v.sees("1 file selected")
	hit("j", "k", "k")
	focused("a.txt")
	hit("x")
	v.sees("2 files selected")
	hit(kb.Delete)
	v.until(`document.querySelector("dialog[open]")?.innerText.includes("Delete 2 files")`)
	hit("j", kb.Escape) // a dialog has the keyboard for itself
	v.until(`!document.querySelector("dialog")`)
	hit("e")
	v.until(`document.querySelector("dialog[open] h2").innerText === "Edit the set"`)
	hit(kb.Escape)
	v.until(`!document.querySelector("dialog")`)

	hit("?")
	v.until(`["go to the next row", "select or deselect the row", "delete the selection", "edit the set", "search"].every((t) => document.querySelector("dialog[open]").innerText.includes(t))`)
	v.shot("keyboard-1280")
	v.accessible(axe(t))
	v.press("Switch single keys off")
	hit(kb.Escape)
	v.until(`!document.querySelector("dialog")`)
	hit("e", "/")
	v.until(`!document.querySelector("dialog") && document.activeElement.name !== "q"`)
	hit("?") // it still shows how to switch them on
	v.press("Switch single keys on")
	hit(kb.Escape)
	v.until(`!document.querySelector("dialog")`)
	hit("/")
	v.until(`document.activeElement.name === "q"`)
	hit("j") // typed into the field
	v.until(`document.activeElement.name === "q" && document.activeElement.value.endsWith("j")`)

	v.do(chromedp.Evaluate[chromedp.Void](`{
		const copied = new DataTransfer();
		copied.items.add(new File(["picture"], "image.png", { type: "image/png" }));
		document.activeElement.blur();
		document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: copied, bubbles: true, cancelable: true }));
	}`))
	v.until(`/pasted \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png/.test(document.querySelector("dialog[open]")?.innerText)`)
}
