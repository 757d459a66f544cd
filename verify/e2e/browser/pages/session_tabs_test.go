package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// twoDataspaces creates two members of a dataspace with a set. mary is also a member of another
// dataspace.
func twoDataspaces(t *testing.T) (s *browser.Site, mary, jon browser.Person, setID string) {
	t.Helper()
	s = browser.Open(t).InTabs(t)
	did, setID := s.NewSet(t)
	secret := s.Create(t, "/dataspaces", map[string]string{"name": "lab-two", "title": "Secret lab"})
	mary, jon = s.Person(t, "mary", "member", did), s.Person(t, "jon", "member", did)
	s.Do(t, "POST", "/privileges", map[string]string{"userId": mary.ID, "dataspaceId": secret, "role": "member"})
	return s, mary, jon, setID
}

// listCount returns an expression that is true if the list is loaded and its footer shows this
// line.
func listCount(line string) string {
	return fmt.Sprintf(`document.querySelector(".list[aria-busy=false] .foot")?.innerText === %q`, line)
}

// Signing out in one tab signs out in all tabs. Signing in again restores the page of each tab.
func TestTabsShareTheSession(t *testing.T) {
	t.Parallel()
	s, mary, _, sid := twoDataspaces(t)
	v := s.SignedIn(t, mary.Key, "/")
	v.Sees("Secret lab")
	other := v.Tab()
	other.At("/sets/" + sid)
	other.Sees("This set is empty")
	v.Front()
	v.Press("Sign out")
	v.Sees("Your API key")
	other.Sees("Your session has ended")
	other.SeesNot("This set is empty")
	other.Shot("ended-elsewhere")
	v.SignIn(mary.Key)
	other.Sees("This set is empty", "mary")
}

// When another user signs in, every tab shows the data of this user, and no data of the last user.
func TestTabsReloadForAnotherUser(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.SignedIn(t, mary.Key, "/")
	v.Sees("Secret lab")
	other := v.Tab()
	other.At("/")
	other.Sees("Secret lab")
	other.Follow("Laser lab")
	other.Sees("Runs of 2026")
	other.Slow(-1, 300*time.Millisecond)
	v.Front()
	v.Press("Sign out")
	v.Sees("Your API key")
	v.SignIn(jon.Key)
	v.Until(listCount("1 dataspace"))
	other.Sees("jon", "Runs of 2026")
	other.Do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	other.UntilNever(listCount("1 dataspace"), browser.Visible("Secret lab"))
}

// A tab that becomes visible detects that its session has ended or belongs to another user.
func TestTabChecksSessionWhenShown(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.SignedIn(t, mary.Key, "/")
	v.Sees("Secret lab")
	other := v.Tab()
	other.At("/docs")
	signIn := func(p browser.Person) { // like a script, without a notification of the tabs
		status := browser.Get(other, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1/session", {method: "POST", body: '{"key": "%s"}', headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, p.Key),
			chromedp.EvalAwaitPromise))
		if status != 200 {
			t.Fatalf("signing in: %d", status)
		}
	}
	signIn(jon)
	v.Front()
	v.Until(listCount("1 dataspace") + " && " + browser.Visible("jon"))
	other.Front()
	other.Sees("jon")
	s.Revoke(t, jon)
	v.Front()
	v.Sees("Your session has ended")
	v.SeesNot("Laser lab")
	signIn(mary)
	other.Front()
	v.Front()
	v.Until(listCount("2 dataspaces"))
}

// After a session has ended, another user sees no data of the last user, even with the Back button.
func TestNextUserSeesNothingOfTheLast(t *testing.T) {
	t.Parallel()
	s, mary, jon, sid := twoDataspaces(t)
	rid := s.Put(t, sid, "a.txt")[0]
	v := s.SignedIn(t, mary.Key, "/")
	v.Until(listCount("2 dataspaces"))
	v.Follow("Laser lab")
	v.Follow("Runs of 2026")
	v.Follow("a.txt")
	v.Sees("by admin", "1 line")
	s.Do(t, "PUT", "/users/me", map[string]string{"fullname": "Ada Lovelace"})
	v.IgnoreFocus()
	s.Revoke(t, mary)
	v.Follow("Laser lab")
	v.Sees("Your session has ended")
	v.SignIn(jon.Key)
	v.Sees("Runs of 2026")
	v.Slow(-1, 300*time.Millisecond)
	v.Do(chromedp.Evaluate[chromedp.Void]("void history.back()")) // to the file
	v.IsAt("/resources/" + rid)
	v.UntilNever(browser.Visible("by Ada Lovelace"), browser.Visible("by admin"))
	v.Do(chromedp.Evaluate[chromedp.Void]("void history.go(-3)"))
	v.UntilNever(listCount("1 dataspace"), browser.Visible("Secret lab"))
}

// Uploads stop when their user signs out, in this tab or in another one. Only the tab of the
// uploads asks for confirmation.
func TestUploadsEndAtSignOut(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		s := browser.Open(t).InTabs(t)
		did, sid := s.NewSet(t)
		mary := s.Person(t, "mary", "editor", did)
		root, _ := browser.Many(t, 80)
		v := s.SignedIn(t, mary.Key, "/sets/"+sid)
		v.Sees("This set is empty")
		asked := v.AnswerDialogs(true)
		at, want := v, 1
		if elsewhere {
			at, want = v.Tab(), 0
			at.At("/")
			at.Sees("Laser lab")
			v.Front()
		}
		v.Slow(-1, 200*time.Millisecond)
		v.Pick("Folder to upload", root)
		v.Submit()
		v.Until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
		v.Do(chromedp.Evaluate[chromedp.Void](`void (window.uploading = true)`))
		at.Front()
		at.Press("Sign out")
		at.Sees("Your API key")
		at.SignIn(s.Key())
		v.Sees("admin")
		v.Until(`!window.uploading && !document.querySelector(".uploads")`) // a new document, so the old one no longer sends files
		if n := len(s.Names(t, sid)); n < 5 || n >= 80 {
			t.Errorf("%d files were sent", n)
		}
		if got := len(asked); got != want {
			t.Errorf("signing out elsewhere: %v: got %d questions, want %d", elsewhere, got, want)
		}
	}
}
