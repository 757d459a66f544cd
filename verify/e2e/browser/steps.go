package browser

import (
	"fmt"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until an expression about the element with the focus, e, is true.
func (v *visitor) tabTo(is string) {
	v.t.Helper()
	const most = 60
	for range most {
		if get(v, chromedp.Evaluate[bool](`((e) => !!(`+is+`))(document.activeElement)`)) {
			return
		}
		v.do(chromedp.KeyEvent(kb.Tab))
	}
	v.fail(fmt.Errorf("%d times Tab do not lead to %s", most, is))
}

// replace replaces the file whose page is open, and confirms it.
func (v *visitor) replace(path string) {
	v.t.Helper()
	v.pick("New file", path)
	v.sees("Replace this file?")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
}

// onPaper shows the page in its print style.
func (v *visitor) onPaper() {
	v.t.Helper()
	if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		v.t.Fatal(err)
	}
}
