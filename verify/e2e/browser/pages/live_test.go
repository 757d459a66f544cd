package pages

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// leads is an expression that is true if this window has the event stream, which all windows of the
// browser share.
const leads = `document.documentElement.dataset.events === "open"`

// replaceBy replaces the content of a resource over the HTTP API.
func replaceBy(t *testing.T, s *browser.Site, rid, content string) {
	t.Helper()
	_, err := s.Upload(t.Context(), "PUT", "/resources/"+rid, e2e.File{Name: "a.txt", Filename: "file.txt", Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
}

// Two windows share one event stream. A listing follows changes, and keeps the selection, typed
// text and focus. When the window with the stream closes, the other window takes over, even after a
// restart of the service.
func TestWindowsFollowChanges(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	_, sid := s.NewSet(t)
	ids := s.Put(t, sid, "a.txt", "b.txt")
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("a.txt")
	v.Until(leads)
	other := v.Window("/sets/" + sid)
	other.Expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	other.IgnoreFocus()
	other.Lists("a.txt", "b.txt")
	toggle(other, "b.txt")
	other.Do(chromedp.Evaluate[chromedp.Void](`const input = document.querySelector('input[aria-label="Select a.txt"]'); input.focus(); window.kept = input`))
	s.Put(t, sid, "c.txt")
	other.Lists("a.txt", "b.txt", "c.txt")
	selected(other, 1)
	other.Until(`document.activeElement === window.kept && document.contains(window.kept)`)
	if browser.Get(other, chromedp.Evaluate[bool](leads)) {
		t.Error("both windows have a stream")
	}
	s.Do(t, "DELETE", "/resources/"+ids[0], nil)
	other.Lists("b.txt", "c.txt")
	s.Do(t, "PUT", "/sets/"+sid, map[string]string{"title": "Walks of 2026"})
	other.Sees("Walks of 2026")

	v.Do(chromedp.Evaluate[chromedp.Void](`void setTimeout(() => location.replace("about:blank"))`))
	other.Until(leads)
	s.Put(t, sid, "d.txt")
	other.Lists("b.txt", "c.txt", "d.txt")
	s.Kill()
	s.Restart(t)
	s.Put(t, sid, "e.txt")
	other.Lists("b.txt", "c.txt", "d.txt", "e.txt")
	selected(other, 1)
}

// The page of a resource follows new versions, but nothing changes behind an open form.
func TestResourceFollowsChanges(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 412") // for a preview that is just being replaced
	v.IgnoreFocus()
	v.Sees("a.txt")
	v.Until(leads)
	replaceBy(t, s, rid, "second content")
	v.Sees("second content", "Versions")
	heard := s.SignedIn(t, s.Key(), "/sets/"+sid)
	heard.IgnoreFocus()
	heard.Lists("a.txt")
	heard.Until(leads)
	v.Front()
	menu(v, "Edit")
	v.Types("description", "half a sent")
	replaceBy(t, s, rid, "third content")
	s.Do(t, "PATCH", "/resources/"+rid, map[string]string{"name": "renamed.txt"})
	heard.Lists("renamed.txt") // this page would show the change at the same time
	v.UntilNever(`document.querySelector("dialog textarea").value === "half a sent"`, browser.Visible("third content"))
	v.Types("description", "half a sentence")
	v.Press("Cancel")
	v.Sees("third content", "renamed.txt")
}

// A revoked key ends the session in an idle window.
func TestRevokedKeyEndsSession(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	mary := s.Person(t, "mary", "member", did)
	v := s.SignedIn(t, mary.Key, "/sets/"+sid)
	v.IgnoreFocus()
	v.Until(leads)
	s.Revoke(t, mary)
	v.Sees("Your session has ended")
	v.Until("!(" + leads + ")")
}
