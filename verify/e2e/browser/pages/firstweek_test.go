package pages

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// When the session ends, the page keeps typed text, and hides it until the same user signs in
// again. After a wrong key, the page shows an explanation.
func TestTypedTextOutlivesTheSession(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	mary := s.Person(t, "mary", "editor", did)
	v := s.SignedIn(t, mary.Key, "/sets/"+sid)
	v.IgnoreFocus()
	describes(v, "Describe")
	tags(v, "Tags", "laser")
	v.Fill("Publisher", "The institute")
	s.Revoke(t, mary)
	v.Submit()
	v.Sees("Your session has ended", "What you typed is kept")
	v.SeesNot("Runs of 2026")
	v.Shot("kept-signin")
	v.Fill("Your API key", "lsk_wrong")
	v.Press("Sign in")
	v.Sees("This key is not valid", "ask your administrator for a new one")
	v.SeesNot("Authorization")
	var key struct{ Key string }
	if err := s.Call(t.Context(), "POST", "/users/"+mary.ID+"/keys", nil, &key); err != nil {
		t.Fatal(err)
	}
	v.SignIn(key.Key)
	v.Until(`document.querySelector("dialog .describe") && !document.querySelector("dialog .signin")`)
	v.Shot("kept-form")
	saved(v)
	v.Sees("laser", "The institute")
	if got := metadata(t, s, "/sets/"+sid); got != `{"publisher":"The institute","tags":["laser"]}` {
		t.Error(got)
	}
}

// Back returns to the position in a long list, even if the scroll position changed at the same
// time.
func TestBackKeepsListPosition(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.PutMany(t, sid, "f", 150)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Until(listCount("150 entries"))
	const place = 2000
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void scrollTo(0, %d)", place)))
	row := browser.Get(v, chromedp.Evaluate[string](`new Promise((done) => {
		const look = () => {
			const shown = [...document.querySelectorAll(".list .row a")].find((a) => a.getBoundingClientRect().top > 200);
			if (shown) done(shown.innerText.trim());
			else requestAnimationFrame(look);
		};
		setTimeout(look, 0);
	})`, chromedp.EvalAwaitPromise))
	// The page is slow: its list unmounts only after the scroll event at the top of the next page.
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (() => {
		[...document.querySelectorAll(".list .row a")].find((a) => a.innerText.trim() === %q).click();
		dispatchEvent(new Event("scroll"));
	})()`, row)))
	v.Until(`location.pathname.startsWith("/resources/") && document.querySelector("h1")?.innerText === ` + fmt.Sprintf("%q", row))
	v.Do(chromedp.Evaluate[chromedp.Void](`void history.back()`))
	v.Until(fmt.Sprintf(`location.pathname === "/sets/%s" && Math.abs(scrollY - %d) < 5`, sid, place))
}

// After a drop, Enter uploads the files, and they are discarded only after a question. A new link
// to a service on this machine shows a warning, and a link to a whole set shows no number of files.
func TestDropAndLinkDialogs(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.Do(t, "POST", "/links", map[string]string{"kind": "request", "setId": sid, "label": "whole set"})
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	file := filepath.Join(browser.Folder(t, "x", map[string]int{"a.txt": 4}), "a.txt")
	v.Drop(file)
	v.Until(`document.querySelector("dialog[open]") && document.activeElement.innerText === "Upload"`)
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.Sees("Discard the selected file?")
	v.Shot("discard-files")
	v.Press("Keep editing")
	v.Press("Close")
	v.Sees("Discard the selected file?")
	v.Press("Discard")
	v.Until(`!document.querySelector("dialog")`)
	s.Holds(t, sid, nil)
	v.Drop(file)
	v.Until(`document.querySelector("dialog[open]") && document.activeElement.innerText === "Upload"`)
	v.Key("Enter", "Enter", "\r")
	v.Sees("All done", "1 sent")
	s.Holds(t, sid, []string{"a.txt"})
	v.At("/links")
	v.Sees("Asks for files into Runs of 2026")
	v.At("/users")
	v.Press("Invite …")
	v.Press("Make invitation")
	v.Sees("The invitation is ready", "This address works only on the server itself")
	v.Shot("local-link")
}
