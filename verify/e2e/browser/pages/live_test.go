package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// leads is an expression: this window has the stream of events that all windows of the browser
// share.
const leads = `document.documentElement.dataset.events === "open"`

// replaceBy gives a resource other content by the interface.
func (s *site) replaceBy(t *testing.T, rid, content string) {
	t.Helper()
	_, err := s.Upload(t.Context(), "PUT", "/resources/"+rid, e2e.File{Name: "a.txt", Filename: "file.txt", Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
}

// Two windows share one stream. A listing follows changes and keeps what is selected, typed and
// focused; when the window with the stream is gone, the other one goes on, also over a restart of
// the service.
func TestWindowsFollowChanges(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	_, sid := s.makeSet(t)
	ids := s.put(t, sid, "a.txt", "b.txt")
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("a.txt")
	v.until(leads)
	other := v.window("/sets/" + sid)
	other.expect("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	other.ignoreFocus()
	other.lists("a.txt", "b.txt")
	other.toggle("b.txt")
	other.do(chromedp.Evaluate[chromedp.Void](`const input = document.querySelector('input[aria-label="Select a.txt"]'); input.focus(); window.kept = input`))
	s.put(t, sid, "c.txt")
	other.lists("a.txt", "b.txt", "c.txt")
	other.selected(1)
	other.until(`document.activeElement === window.kept && document.contains(window.kept)`)
	if get(other, chromedp.Evaluate[bool](leads)) {
		t.Error("both windows have a stream")
	}
	s.call(t, "DELETE", "/resources/"+ids[0], nil)
	other.lists("b.txt", "c.txt")
	s.call(t, "PUT", "/sets/"+sid, map[string]string{"title": "Walks of 2026"})
	other.sees("Walks of 2026")

	v.do(chromedp.Evaluate[chromedp.Void](`void setTimeout(() => location.replace("about:blank"))`))
	other.until(leads)
	s.put(t, sid, "d.txt")
	other.lists("b.txt", "c.txt", "d.txt")
	s.Kill()
	s.restart(t)
	s.put(t, sid, "e.txt")
	other.lists("b.txt", "c.txt", "d.txt", "e.txt")
	other.selected(1)
}

// The page of a resource follows its versions, and nothing is replaced behind a form that is open.
func TestResourceFollowsChanges(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 412") // to the preview of what is replaced just then
	v.ignoreFocus()
	v.sees("a.txt")
	v.until(leads)
	s.replaceBy(t, rid, "second content")
	v.sees("second content", "Versions")
	heard := s.signedIn(t, s.Key(), "/sets/"+sid)
	heard.ignoreFocus()
	heard.lists("a.txt")
	heard.until(leads)
	v.front()
	v.menu("Edit")
	v.types("description", "half a sent")
	s.replaceBy(t, rid, "third content")
	s.call(t, "PATCH", "/resources/"+rid, map[string]string{"name": "renamed.txt"})
	heard.lists("renamed.txt") // at the time at which this page would show it
	v.untilNever(`document.querySelector("dialog textarea").value === "half a sent"`, visible("third content"))
	v.types("description", "half a sentence")
	v.press("Cancel")
	v.sees("third content", "renamed.txt")
}

// A key that is revoked ends the session in a window that nobody touches.
func TestRevokedKeyIsSeen(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	mary := s.person(t, "mary", "member", did)
	v := s.signedIn(t, mary.key, "/sets/"+sid)
	v.ignoreFocus()
	v.until(leads)
	s.revoke(t, mary)
	v.sees("Your session has ended")
	v.until("!(" + leads + ")")
}
