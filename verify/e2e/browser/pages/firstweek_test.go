package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What was typed stays when the session ends, hidden until the same user has signed in
// again. A wrong key is explained there.
func TestTypedTextOutlivesTheSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	mary := s.person(t, "mary", "editor", did)
	v := s.signedIn(t, mary.key, "/sets/"+sid)
	v.ignoreFocus()
	v.describes("Describe")
	v.tags("Tags", "laser")
	v.fill("Publisher", "The institute")
	s.revoke(t, mary)
	v.submit()
	v.sees("Your session has ended", "What you typed is kept")
	v.seesNot("Runs of 2026")
	v.shot("kept-signin")
	v.fill("Your API key", "lsk_wrong")
	v.press("Sign in")
	v.sees("This key is not valid", "ask your administrator for a new one")
	v.seesNot("Authorization")
	var key struct{ Key string }
	if err := s.Call(t.Context(), "POST", "/users/"+mary.id+"/keys", nil, &key); err != nil {
		t.Fatal(err)
	}
	v.signIn(key.Key)
	v.until(`document.querySelector("dialog .describe") && !document.querySelector("dialog .signin")`)
	v.shot("kept-form")
	v.saved()
	v.sees("laser", "The institute")
	if got := s.metadata(t, "/sets/"+sid); got != `{"publisher":"The institute","tags":["laser"]}` {
		t.Error(got)
	}
}

// Back returns to the place in a long list, also when the scroll position changed in the
// same moment.
func TestBackKeepsThePlaceInAList(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.putMany(t, sid, "f", 150)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.until(listCount("150 entries"))
	const place = 2000
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void scrollTo(0, %d)", place)))
	row := get(v, chromedp.Evaluate[string](`new Promise((done) => {
		const look = () => {
			const shown = [...document.querySelectorAll(".list .row a")].find((a) => a.getBoundingClientRect().top > 200);
			if (shown) done(shown.innerText.trim());
			else requestAnimationFrame(look);
		};
		setTimeout(look, 0);
	})`, chromedp.EvalAwaitPromise))
	// The page is slow: its list unmounts only after the event of the scroll to the top of the
	// next page.
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (() => {
		[...document.querySelectorAll(".list .row a")].find((a) => a.innerText.trim() === %q).click();
		dispatchEvent(new Event("scroll"));
	})()`, row)))
	v.until(`location.pathname.startsWith("/resources/") && document.querySelector("h1")?.innerText === ` + fmt.Sprintf("%q", row))
	v.do(chromedp.Evaluate[chromedp.Void](`void history.back()`))
	v.until(fmt.Sprintf(`location.pathname === "/sets/%s" && Math.abs(scrollY - %d) < 5`, sid, place))
}

// After a drop Enter uploads, and files are discarded only after a question. A new link to
// this machine says that it leads nowhere else, and a link to a whole set has no number of
// files.
func TestDropsAndLinksOfTheFirstDay(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.call(t, "POST", "/links", map[string]string{"kind": "request", "setId": sid, "label": "whole set"})
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("This set is empty")
	file := filepath.Join(folder(t, "x", map[string]int{"a.txt": 4}), "a.txt")
	v.drop(file)
	v.until(`document.querySelector("dialog[open]") && document.activeElement.innerText === "Upload"`)
	v.do(chromedp.KeyEvent(kb.Escape))
	v.sees("Discard the selected file?")
	v.shot("discard-files")
	v.press("Keep editing")
	v.press("Close")
	v.sees("Discard the selected file?")
	v.press("Discard")
	v.until(`!document.querySelector("dialog")`)
	s.holds(t, sid, nil)
	v.drop(file)
	v.until(`document.querySelector("dialog[open]") && document.activeElement.innerText === "Upload"`)
	v.key("Enter", "Enter", "\r")
	v.sees("All done", "1 sent")
	s.holds(t, sid, []string{"a.txt"})
	v.at("/links")
	v.sees("Asks for files into Runs of 2026")
	v.at("/users")
	v.press("Invite …")
	v.press("Make invitation")
	v.sees("The invitation is ready", "This address works only on the server itself")
	v.shot("local-link")
}
