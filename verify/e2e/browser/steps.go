package browser

import (
	"fmt"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TabTo presses Tab until an expression about e, the focused element, is true.
func (v *Visitor) TabTo(is string) {
	v.T.Helper()
	const most = 60
	for range most {
		if Get(v, chromedp.Evaluate[bool](`((e) => !!(`+is+`))(document.activeElement)`)) {
			return
		}
		v.Do(chromedp.KeyEvent(kb.Tab))
	}
	v.Fail(fmt.Errorf("pressing Tab %d times does not lead to %s", most, is))
}

// Replace replaces the file of the open page, and confirms the dialog.
func (v *Visitor) Replace(path string) {
	v.T.Helper()
	v.Pick("New file", path)
	v.Sees("Replace this file?")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
}

// OnPaper shows the page in its print style.
func (v *Visitor) OnPaper() {
	v.T.Helper()
	if _, err := chromedp.Call(v.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		v.T.Fatal(err)
	}
}

// Scripts enables or disables scripts.
func (v *Visitor) Scripts(run bool) {
	v.T.Helper()
	v.plain = !run
	if _, err := chromedp.Call(v.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}); err != nil {
		v.Fail(err)
	}
}
