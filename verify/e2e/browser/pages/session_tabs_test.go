package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// twoDataspaces makes two members of a dataspace with a set; mary is also a member of another
// dataspace.
func twoDataspaces(t *testing.T) (s *site, mary, jon person, setID string) {
	t.Helper()
	s = open(t).inTabs(t)
	did, setID := s.makeSet(t)
	secret := s.create(t, "/dataspaces", map[string]string{"name": "lab-two", "title": "Secret lab"})
	mary, jon = s.person(t, "mary", "member", did), s.person(t, "jon", "member", did)
	s.call(t, "POST", "/privileges", map[string]string{"userId": mary.id, "dataspaceId": secret, "role": "member"})
	return s, mary, jon, setID
}

// listCount is an expression: the list is loaded and shows this number of rows.
func listCount(line string) string {
	return fmt.Sprintf(`document.querySelector(".list[aria-busy=false] .foot")?.innerText === %q`, line)
}

// Signing out in one tab signs out in all; signing in again restores the page of each tab.
func TestTabsShareTheSession(t *testing.T) {
	t.Parallel()
	s, mary, _, sid := twoDataspaces(t)
	v := s.signedIn(t, mary.key, "/")
	v.sees("Secret lab")
	other := v.tab()
	other.at("/sets/" + sid)
	other.sees("This set is empty")
	v.front()
	v.press("Sign out")
	v.sees("Your API key")
	other.sees("Your session has ended")
	other.seesNot("This set is empty")
	other.shot("ended-elsewhere")
	v.signIn(mary.key)
	other.sees("This set is empty", "mary")
}

// When another user signs in, every tab shows what that user may see, and nothing of the last user.
func TestTabsReloadForAnotherUser(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.signedIn(t, mary.key, "/")
	v.sees("Secret lab")
	other := v.tab()
	other.at("/")
	other.sees("Secret lab")
	other.follow("Laser lab")
	other.sees("Runs of 2026")
	other.slow(-1, 300*time.Millisecond)
	v.front()
	v.press("Sign out")
	v.sees("Your API key")
	v.signIn(jon.key)
	v.until(listCount("1 dataspace"))
	other.sees("jon", "Runs of 2026")
	other.do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	other.untilNever(listCount("1 dataspace"), visible("Secret lab"))
}

// A tab that is shown again detects that its session has ended or belongs to another user.
func TestTabChecksSessionWhenShown(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.signedIn(t, mary.key, "/")
	v.sees("Secret lab")
	other := v.tab()
	other.at("/docs")
	signIn := func(p person) { // like a script, without a notification of the tabs
		status := get(other, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1/session", {method: "POST", body: '{"key": "%s"}', headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, p.key),
			chromedp.EvalAwaitPromise))
		if status != 200 {
			t.Fatalf("signing in: %d", status)
		}
	}
	signIn(jon)
	v.front()
	v.until(listCount("1 dataspace") + " && " + visible("jon"))
	other.front()
	other.sees("jon")
	s.revoke(t, jon)
	v.front()
	v.sees("Your session has ended")
	v.seesNot("Laser lab")
	signIn(mary)
	other.front()
	v.front()
	v.until(listCount("2 dataspaces"))
}

// After a session has ended, another user sees nothing of the last one, also by the Back button.
func TestNextUserSeesNothingOfTheLast(t *testing.T) {
	t.Parallel()
	s, mary, jon, sid := twoDataspaces(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.signedIn(t, mary.key, "/")
	v.until(listCount("2 dataspaces"))
	v.follow("Laser lab")
	v.follow("Runs of 2026")
	v.follow("a.txt")
	v.sees("by admin", "1 line")
	s.call(t, "PUT", "/users/me", map[string]string{"fullname": "Ada Lovelace"})
	v.ignoreFocus()
	s.revoke(t, mary)
	v.follow("Laser lab")
	v.sees("Your session has ended")
	v.signIn(jon.key)
	v.sees("Runs of 2026")
	v.slow(-1, 300*time.Millisecond)
	v.do(chromedp.Evaluate[chromedp.Void]("void history.back()")) // to the file
	v.isAt("/resources/" + rid)
	v.untilNever(visible("by Ada Lovelace"), visible("by admin"))
	v.do(chromedp.Evaluate[chromedp.Void]("void history.go(-3)"))
	v.untilNever(listCount("1 dataspace"), visible("Secret lab"))
}

// Uploads end when their user signs out, here or in another tab. Only signing out here asks a
// question.
func TestUploadsEndAtSignOut(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		s := open(t).inTabs(t)
		did, sid := s.makeSet(t)
		mary := s.person(t, "mary", "editor", did)
		root, _ := many(t, 80)
		v := s.signedIn(t, mary.key, "/sets/"+sid)
		v.sees("This set is empty")
		asked := v.answerDialogs(true)
		at, want := v, 1
		if elsewhere {
			at, want = v.tab(), 0
			at.at("/")
			at.sees("Laser lab")
			v.front()
		}
		v.slow(-1, 200*time.Millisecond)
		v.pick("Folder to upload", root)
		v.submit()
		v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
		v.do(chromedp.Evaluate[chromedp.Void](`void (window.uploading = true)`))
		at.front()
		at.press("Sign out")
		at.sees("Your API key")
		at.signIn(s.Key())
		v.sees("admin")
		v.until(`!window.uploading && !document.querySelector(".uploads")`) // in a new document, so that the old one sends nothing
		if n := len(s.names(t, sid)); n < 5 || n >= 80 {
			t.Errorf("%d files were sent", n)
		}
		if got := len(asked); got != want {
			t.Errorf("signing out elsewhere: %v: asked %d times, want %d", elsewhere, got, want)
		}
	}
}
