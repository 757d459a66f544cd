package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"labshelf/verify/e2e"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// SignedIn opens a window at a path with a session cookie. It ignores complaints that contain one
// of the expected texts.
func (s *Site) SignedIn(t *testing.T, key, path string, expected ...string) *Visitor {
	t.Helper()
	v := s.Visit(t)
	v.Expect(expected...)
	v.begin(key)
	v.At(path)
	v.Sees("Sign out")
	return v
}

// begin sets the cookie of a new session. Signing in with the form would take twice the time.
func (v *Visitor) begin(key string) {
	v.T.Helper()
	answer, err := e2e.NewClient(v.Origin+"/v1", "").SendJSON(v.T.Context(), http.MethodPost, "/session", map[string]string{"key": key})
	if err == nil {
		err = answer.Decode(nil)
	}
	if err != nil {
		v.T.Fatal(err)
	}
	for _, cookie := range (&http.Response{Header: answer.Header}).Cookies() {
		set := network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: v.Origin, Path: cookie.Path, HTTPOnly: &cookie.HttpOnly, SameSite: network.CookieSameSiteStrict}
		if _, err := chromedp.Call(v.Context, network.SetCookie, set); err != nil {
			v.Fail(err)
		}
	}
}

// WaitFor waits until a check succeeds.
func (v *Visitor) WaitFor(check func() error) {
	v.T.Helper()
	if err := poll(check); err != nil {
		v.Fail(fmt.Errorf("timed out: %w", err))
	}
}

// Until waits until an expression is true.
func (v *Visitor) Until(expression string) {
	v.T.Helper()
	v.WaitFor(func() error {
		is, err := Run(v, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && !is {
			err = fmt.Errorf("the expression is false: %s", expression)
		}
		return err
	})
}

// UntilNever waits until done is true, and fails if bad is true before.
func (v *Visitor) UntilNever(done, bad string) {
	v.T.Helper()
	v.WaitFor(func() error {
		seen, err := Run(v, chromedp.Evaluate[struct{ Done, Bad bool }](fmt.Sprintf("({Done: !!(%s), Bad: !!(%s)})", done, bad)))
		switch { // an error means that the page navigates
		case err == nil && seen.Bad:
			v.Fail(fmt.Errorf("the expression is true: %s", bad))
		case err == nil && !seen.Done:
			err = fmt.Errorf("the expression is false: %s", done)
		}
		return err
	})
}

// Rendered waits until the page has rendered pending changes: two animation frames.
func (v *Visitor) Rendered() {
	v.T.Helper()
	Get(v, chromedp.Evaluate[bool](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, chromedp.EvalAwaitPromise))
}

// IgnoreFocus keeps the page from refreshing when it gets the focus, which happens when another
// test closes its window.
func (v *Visitor) IgnoreFocus() {
	v.T.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](`for (const type of ["focus", "visibilitychange"]) addEventListener(type, (e) => e.stopImmediatePropagation(), true)`))
}

// Click clicks the first visible matching element with the mouse. If the layout shifts between the
// query and the click, the click can miss the element, or hit a button that is still disabled. In
// this case Click repeats it, as a user does.
func Click[S chromedp.Selectable](v *Visitor, what S) {
	v.T.Helper()
	v.WaitFor(func() error {
		if _, err := Run(v, chromedp.QueryAfter(what, v.clickFirst, chromedp.NodeVisible)); err != nil {
			return fmt.Errorf("click %v: %w", what, err)
		}
		return nil
	})
}

// At opens a path, like entering it in the address bar.
func (v *Visitor) At(path string) {
	v.T.Helper()
	v.Do(chromedp.Navigate(v.Origin + path))
}

// GoTo navigates to a path within the open document, like a link of the pages. It waits until all
// elements of the last page are gone. It takes a third of the time of At.
func (v *Visitor) GoTo(path string) {
	v.T.Helper()
	if rest, same := strings.CutPrefix(path, Get(v, chromedp.Evaluate[string]("location.pathname"))); same && (rest == "" || strings.ContainsAny(rest[:1], "?#")) {
		v.GoTo("/no/such/page") // otherwise the page would stay and only its state would change
	}
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (() => {
		for (const e of document.querySelectorAll("main *")) e.setAttribute("data-left", "");
		history.pushState({ entry: String(Math.random()) }, "", %q);
		dispatchEvent(new PopStateEvent("popstate"));
		scrollTo(0, 0);
	})()`, path)))
	v.Until(`document.querySelector("main *") && !document.querySelector("[data-left]")`)
}

// BeforeScripts runs a script in each document opened from now on, before its own scripts. It opens
// a document.
func (v *Visitor) BeforeScripts(script string) {
	v.T.Helper()
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	if _, err := chromedp.Call(v.Context, page.AddScriptToEvaluateOnNewDocument, params); err != nil {
		v.Fail(err)
	}
	v.At("/account")
}

// SignIn signs in on a page that asks for a key, by pasting the key.
func (v *Visitor) SignIn(key string) {
	v.T.Helper()
	v.Do(chromedp.Focus(Field("Your API key")), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`))
	if _, err := chromedp.Call(v.Context, input.InsertText, input.InsertTextParams{Text: key}); err != nil {
		v.Fail(err)
	}
	v.Press("Sign in")
	v.Sees("Sign out")
}

// IsAt waits until the address has this path and query.
func (v *Visitor) IsAt(path string) {
	v.T.Helper()
	v.Until(`location.pathname + location.search === ` + strconv.Quote(path))
}

// Sees waits until the page shows all texts.
func (v *Visitor) Sees(texts ...string) {
	v.T.Helper()
	for _, text := range texts {
		v.Until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
}

// SeesNot waits until the page does not show a text.
func (v *Visitor) SeesNot(text string) {
	v.T.Helper()
	v.Until(fmt.Sprintf("!document.body.innerText.includes(%q)", text))
}

// Press clicks the button with this label.
func (v *Visitor) Press(label string) {
	v.T.Helper()
	Click(v, Xpath("button", label))
}

// Follow clicks the link with this label.
func (v *Visitor) Follow(label string) {
	v.T.Helper()
	Click(v, Xpath("a", label))
}

// Xpath finds the first visible element with this text or aria-label.
func Xpath(element, label string) chromedp.Search {
	quoted := `"` + label + `"`
	return chromedp.Search(fmt.Sprintf(`//%s[normalize-space()=%s or @aria-label=%s]`, element, quoted, quoted))
}

// Field finds a control by its label.
func Field(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//*[@id=//label[normalize-space()=%[1]q]/@for or @aria-label=%[1]q]`, label))
}

// BoxOf finds a checkbox by the label around it.
func BoxOf(label string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//label[normalize-space()=%q]//input`, label))
}

// Fill replaces the text of the control with this label.
func (v *Visitor) Fill(label, text string) {
	v.T.Helper()
	v.Do(chromedp.Focus(Field(label)), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(Field(label), text))
}

// Types replaces the text of the control with this name in the dialog.
func (v *Visitor) Types(name, text string) {
	v.T.Helper()
	control := chromedp.CSS(fmt.Sprintf(`dialog [name=%q]`, name))
	v.Do(chromedp.Focus(control), chromedp.Evaluate[chromedp.Void](`void document.activeElement.select()`), chromedp.SendKeys(control, text))
}

// Key presses a key like a keyboard: if a script handles the key, no character follows.
// chromedp.KeyEvent would send the character anyway.
func (v *Visitor) Key(name, code, text string) {
	v.T.Helper()
	event := input.DispatchKeyEventParams{Key: name, Code: code, Text: text, WindowsVirtualKeyCode: kb.Keys[rune(text[0])].Windows}
	for _, event.Type = range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeChar, input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(v.Context, input.DispatchKeyEvent, event); err != nil {
			v.Fail(err)
		}
	}
}

// Choose selects an option of the filter with this label.
func (v *Visitor) Choose(label, value string) {
	v.T.Helper()
	v.Do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "`+label+`")]/select`), value))
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void [...document.querySelectorAll("label")].find((l) => l.innerText.startsWith(%q))
		.querySelector("select").dispatchEvent(new Event("change", {bubbles: true}))`, label)))
}

// Lists waits until the list shows exactly these names, in this order.
func (v *Visitor) Lists(names ...string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`document.querySelector(".list[aria-busy=false]") &&
		[...document.querySelectorAll(".list .body .row a")].map((a) => a.innerText.trim()).join("|") === %q`, strings.Join(names, "|")))
}

// Pick selects files or a folder in the file input with this label.
func (v *Visitor) Pick(label string, paths ...string) {
	v.T.Helper()
	v.Do(chromedp.SetUploadFiles(chromedp.Search(`//input[@aria-label="`+label+`"]`), paths, chromedp.NodeReady))
}

// Drop drags files and folders onto the page and drops them.
func (v *Visitor) Drop(paths ...string) {
	v.T.Helper()
	v.Drag(input.DispatchDragEventTypeDragEnter, paths...)
	v.Drag(input.DispatchDragEventTypeDragOver, paths...)
	v.Drag(input.DispatchDragEventTypeDrop, paths...)
}

// Drag dispatches one event of a drop.
func (v *Visitor) Drag(step input.DispatchDragEventType, paths ...string) {
	v.T.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	if _, err := chromedp.Call(v.Context, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: 400, Y: 400, Data: data}); err != nil {
		v.Fail(err)
	}
}

// Submit presses the submit button of the dialog.
func (v *Visitor) Submit() {
	v.T.Helper()
	Click(v, chromedp.CSS("dialog button[type=submit]"))
}

// Size sets the size of the window.
func (v *Visitor) Size(width, height int64) {
	v.T.Helper()
	v.Do(chromedp.EmulateViewport(width, height))
}

// Theme sets the preferred colour scheme of the system.
func (v *Visitor) Theme(name string) {
	v.T.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(v.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		v.T.Fatal(err)
	}
}

// Loaded waits until the content of the page is loaded.
func (v *Visitor) Loaded() {
	v.T.Helper()
	v.Until(`document.querySelector("main h1, main [role=alert] p") && !document.querySelector(".waiting")`)
}

// Visible returns an expression that is true if the page shows text.
func Visible(text string) string { return fmt.Sprintf("document.body.innerText.includes(%q)", text) }

// arm sets window.missed until the element is clicked. A new document does not have this variable.
const arm = `function() {
	window.missed = true;
	this.addEventListener("click", () => (window.missed = false), { capture: true, once: true });
	return true;
}`

var errMissed = errors.New("the element was no longer at its position")

func (v *Visitor) clickFirst(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (none chromedp.Void, err error) {
	found, err := cdp.Call(ctx, t, dom.ResolveNode, dom.ResolveNodeParams{NodeID: nodes[0].NodeID})
	if err != nil {
		return none, err
	}
	on := func(p *runtime.CallFunctionOnParams) { p.ObjectID = found.Object.ObjectID }
	if _, err := chromedp.CallFunctionOn[bool](arm, on)(ctx, t); err != nil {
		return none, err
	}
	_, failed := chromedp.MouseClickNode(nodes[0])(ctx, t)
	// The document that the click leaves may never answer, and the next document does not have the
	// variable. In both cases the click has worked.
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
