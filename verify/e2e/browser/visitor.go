package browser

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// signedIn opens a window at a path and signs in. Complaints that contain one of the expected texts
// are ignored.
func (s *site) signedIn(t *testing.T, key, path string, expected ...string) *visitor {
	t.Helper()
	v := s.visit(t)
	v.expect(expected...)
	v.at(path)
	v.signIn(key)
	return v
}

// waitFor waits until a check succeeds.
func (v *visitor) waitFor(check func() error) {
	v.t.Helper()
	if err := poll(check); err != nil {
		v.fail(fmt.Errorf("timed out: %w", err))
	}
}

// until waits until an expression is true.
func (v *visitor) until(expression string) {
	v.t.Helper()
	v.waitFor(func() error {
		is, err := run(v, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && !is {
			err = fmt.Errorf("this is false: %s", expression)
		}
		return err
	})
}

// untilNever waits until an expression is true, and fails if another one is true before.
func (v *visitor) untilNever(done, bad string) {
	v.t.Helper()
	v.waitFor(func() error {
		seen, err := run(v, chromedp.Evaluate[struct{ Done, Bad bool }](fmt.Sprintf("({Done: !!(%s), Bad: !!(%s)})", done, bad)))
		switch { // an error is a page that navigates
		case err == nil && seen.Bad:
			v.fail(fmt.Errorf("this is true: %s", bad))
		case err == nil && !seen.Done:
			err = fmt.Errorf("this is false: %s", done)
		}
		return err
	})
}

// rendered waits until the page has rendered pending changes: two animation frames.
func (v *visitor) rendered() {
	v.t.Helper()
	get(v, chromedp.Evaluate[bool](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, chromedp.EvalAwaitPromise))
}

// ignoreFocus keeps the page from refreshing when it gets the focus, which happens when another
// test closes its window.
func (v *visitor) ignoreFocus() {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](`for (const type of ["focus", "visibilitychange"]) addEventListener(type, (e) => e.stopImmediatePropagation(), true)`))
}

// click clicks the first visible element that matches, with the mouse. If the layout shifts between
// the query and the click, the click misses the element, or meets a button that is still disabled:
// then it is repeated, as a user does.
func click[S chromedp.Selectable](v *visitor, what S) {
	v.t.Helper()
	v.waitFor(func() error {
		if _, err := run(v, chromedp.QueryAfter(what, v.clickFirst, chromedp.NodeVisible)); err != nil {
			return fmt.Errorf("click %v: %w", what, err)
		}
		return nil
	})
}

// at opens a path, like the address bar.
func (v *visitor) at(path string) {
	v.t.Helper()
	v.do(chromedp.Navigate(v.origin + path))
}

// signIn signs in with a key on a page that asks for it.
func (v *visitor) signIn(key string) {
	v.t.Helper()
	v.fill("Your API key", key)
	v.press("Sign in")
	v.sees("Sign out")
}

// isAt waits until the address is this path, with its query.
func (v *visitor) isAt(path string) {
	v.t.Helper()
	v.until(`location.pathname + location.search === ` + strconv.Quote(path))
}

// sees waits until the page shows a text.
func (v *visitor) sees(texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		v.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// seesNot waits until the page does not show a text.
func (v *visitor) seesNot(text string) {
	v.t.Helper()
	v.until(fmt.Sprintf("!document.body.innerText.includes(%q)", text))
}

// press presses the button with that label, with the mouse.
func (v *visitor) press(label string) {
	v.t.Helper()
	click(v, xpath("button", label))
}

// follow follows the link with that label, with the mouse.
func (v *visitor) follow(label string) {
	v.t.Helper()
	click(v, xpath("a", label))
}

// xpath finds the first visible element with this text or aria-label.
func xpath(element, label string) chromedp.Search {
	quoted := `"` + label + `"`
	return chromedp.Search(fmt.Sprintf(`//%s[normalize-space()=%s or @aria-label=%s]`, element, quoted, quoted))
}

// field finds a control by its label.
func field(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//*[@id=//label[normalize-space()=%[1]q]/@for or @aria-label=%[1]q]`, label))
}

// boxOf finds a checkbox by the label around it.
func boxOf(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//label[normalize-space()=%q]//input`, label))
}

// fill replaces the text of the control with this label.
func (v *visitor) fill(label, text string) {
	v.t.Helper()
	v.do(chromedp.Focus(field(label)), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(field(label), text))
}

// types replaces the text of the control with this name in the dialog.
func (v *visitor) types(name, text string) {
	v.t.Helper()
	control := chromedp.CSS(fmt.Sprintf(`dialog [name=%q]`, name))
	v.do(chromedp.Focus(control), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(control, text))
}

// key presses a key as a keyboard does: where a script takes it, no character follows. The events
// of chromedp.KeyEvent send one anyway.
func (v *visitor) key(name, code, text string) {
	v.t.Helper()
	event := input.DispatchKeyEventParams{Key: name, Code: code, Text: text, WindowsVirtualKeyCode: kb.Keys[rune(text[0])].Windows}
	for _, event.Type = range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeChar, input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(v.ctx, input.DispatchKeyEvent, event); err != nil {
			v.fail(err)
		}
	}
}

// choose selects an option of the filter with this label.
func (v *visitor) choose(label, value string) {
	v.t.Helper()
	v.do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "`+label+`")]/select`), value))
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void [...document.querySelectorAll("label")].find((l) => l.innerText.startsWith(%q))
		.querySelector("select").dispatchEvent(new Event("change", {bubbles: true}))`, label)))
}

// lists waits until the list shows exactly these names, in this order.
func (v *visitor) lists(names ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.querySelector(".list[aria-busy=false]") &&
		[...document.querySelectorAll(".list .body .row a")].map((a) => a.innerText.trim()).join("|") === %q`, strings.Join(names, "|")))
}

// pick selects files or a folder in the file input with this label.
func (v *visitor) pick(label string, paths ...string) {
	v.t.Helper()
	v.do(chromedp.SetUploadFiles(chromedp.Search(`//input[@aria-label="`+label+`"]`), paths, chromedp.NodeReady))
}

// drop drags files and folders onto the page and drops them.
func (v *visitor) drop(paths ...string) {
	v.t.Helper()
	v.drag(input.DispatchDragEventTypeDragEnter, paths...)
	v.drag(input.DispatchDragEventTypeDragOver, paths...)
	v.drag(input.DispatchDragEventTypeDrop, paths...)
}

// drag dispatches one event of a drop.
func (v *visitor) drag(step input.DispatchDragEventType, paths ...string) {
	v.t.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	if _, err := chromedp.Call(v.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: 400, Y: 400, Data: data}); err != nil {
		v.fail(err)
	}
}

// submit presses the submit button of the dialog.
func (v *visitor) submit() {
	v.t.Helper()
	click(v, chromedp.CSS("dialog button[type=submit]"))
}

// size sets the size of the window.
func (v *visitor) size(width, height int64) {
	v.t.Helper()
	v.do(chromedp.EmulateViewport(width, height))
}

// theme sets the preferred colour scheme of the system.
func (v *visitor) theme(name string) {
	v.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		v.t.Fatal(err)
	}
}

// loaded waits until the content of the page is loaded.
func (v *visitor) loaded() {
	v.t.Helper()
	v.until(`document.querySelector("main h1, main [role=alert] p") && !document.querySelector(".waiting")`)
}

// visible is an expression: the page shows a text.
func visible(text string) string { return fmt.Sprintf("document.body.innerText.includes(%q)", text) }

// arm sets window.missed until the element is clicked. A new document does not have it.
const arm = `function() {
	window.missed = true;
	this.addEventListener("click", () => (window.missed = false), { capture: true, once: true });
	return true;
}`

var errMissed = errors.New("the element was not there any more where it had been")

func (v *visitor) clickFirst(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
	found, err := cdp.Call(ctx, t, dom.ResolveNode, dom.ResolveNodeParams{NodeID: nodes[0].NodeID})
	if err != nil {
		return none, err
	}
	on := func(p *runtime.CallFunctionOnParams) { p.ObjectID = found.Object.ObjectID }
	if _, err := chromedp.CallFunctionOn[bool](arm, on)(ctx, t); err != nil {
		return none, err
	}
	_, failed := chromedp.MouseClickNode(nodes[0])(ctx, t)
	// The document that the click leaves may never answer, and the one that follows was not armed:
	// then there is nothing to repeat.
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	missed, err := chromedp.Evaluate[string]("String(window.missed)")(asking, t)
	switch {
	case err != nil || missed == "undefined":
		return none, nil
	case failed == nil && missed == "true" && !v.plain:
		return none, errMissed
	}
	return none, failed
}
