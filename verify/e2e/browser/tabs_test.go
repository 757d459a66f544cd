package browser

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// tab opens another tab in the window of the visitor, with the same session. The visitor's own is hidden by it.
func (v *visitor) tab() *visitor {
	v.t.Helper()
	other := &visitor{t: v.t, origin: v.origin, expected: v.expected}
	ctx, cancel := chromedp.NewContext(v.ctx, chromedp.WithListener(other.watch), chromedp.WithNewWindow(false))
	v.t.Cleanup(cancel)
	other.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // the tab lasts as long as this context
		v.t.Fatal(err)
	}
	return other
}

// front shows this tab, and hides the others of its window.
func (v *visitor) front() {
	v.t.Helper()
	params := target.ActivateTargetParams{TargetID: chromedp.FromContext(v.ctx).Target.TargetID}
	if _, err := chromedp.Call(v.ctx, target.ActivateTarget, params); err != nil {
		v.fail(err)
	}
	v.until(`document.visibilityState === "visible"`)
}

// untilNever waits until an expression is true, and fails if the other one is so before.
func (v *visitor) untilNever(done, bad string) {
	v.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		seen, err := run(v, chromedp.Evaluate[struct{ Done, Bad bool }](fmt.Sprintf("({Done: !!(%s), Bad: !!(%s)})", done, bad)))
		switch { // an error is a page that goes to the next one
		case err == nil && seen.Bad:
			v.fail(errors.New("there is what must not be: " + bad))
		case err == nil && seen.Done:
			return
		case time.Now().After(deadline):
			v.fail(fmt.Errorf("in vain waited for %s (%w)", done, err))
		}
	}
}

// shown is an expression: the page shows a text.
func shown(text string) string { return fmt.Sprintf("document.body.innerText.includes(%q)", text) }

// twoDataspaces has two members of a dataspace with a set; mary sees another dataspace, too.
func twoDataspaces(t *testing.T) (s *site, mary, jon person, setID string) {
	t.Helper()
	s = open(t)
	did, setID := s.place(t)
	secret, err := s.Make(t.Context(), "/dataspaces", map[string]string{"name": "lab-two", "title": "Secret lab"})
	if err != nil {
		t.Fatal(err)
	}
	mary, jon = s.person(t, "mary", "member", did), s.person(t, "jon", "member", did)
	if err := s.Call(t.Context(), "POST", "/privileges", map[string]string{"userId": mary.id, "dataspaceId": secret, "role": "member"}, nil); err != nil {
		t.Fatal(err)
	}
	return s, mary, jon, setID
}

// all is an expression: the list of dataspaces is there, and it has so many.
func all(line string) string {
	return fmt.Sprintf(`document.querySelector(".list[aria-busy=false] .foot")?.innerText === %q`, line)
}

// Who signs out in one tab has signed out in all; who signs in comes back to where each of them was.
func TestTabsFollowTheSession(t *testing.T) {
	t.Parallel()
	s, mary, _, sid := twoDataspaces(t)
	v := s.visit(t)
	v.at("/")
	v.signIn(mary.key)
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

// When somebody else signs in, every tab shows what that user may see, and nothing that was shown before.
func TestTabsForgetTheOneBefore(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.visit(t)
	v.at("/")
	v.signIn(mary.key)
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
	v.until(all("1 dataspace"))
	other.sees("jon", "Runs of 2026")
	other.do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	other.untilNever(all("1 dataspace"), shown("Secret lab"))
}

// A tab that comes to the front finds out that its session has ended, or is somebody else's, though nobody told it.
func TestTabLooksAgain(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.visit(t)
	v.at("/")
	v.signIn(mary.key)
	v.sees("Secret lab")
	other := v.tab()
	other.at("/docs")
	signIn := func(p person) { // as a script does, or another service at the same host: no tab hears of it
		status := get(other, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1/session", {method: "POST", body: '{"key": "%s"}', headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, p.key),
			chromedp.EvalAwaitPromise))
		if status != 200 {
			t.Fatalf("signing in: %d", status)
		}
	}
	signIn(jon)
	v.front()
	v.until(all("1 dataspace") + " && " + shown("jon"))
	other.front()
	other.sees("jon")
	s.revoke(t, jon)
	v.front()
	v.sees("Your session has ended")
	v.seesNot("Laser lab")
	signIn(mary)
	other.front()
	v.front()
	v.until(all("2 dataspaces"))
}

// Somebody else who signs in after a session has ended finds nothing that the window remembers of the one before.
func TestNothingIsLeftForTheNext(t *testing.T) {
	t.Parallel()
	s, mary, jon, sid := twoDataspaces(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.visit(t)
	v.at("/")
	v.signIn(mary.key)
	v.until(all("2 dataspaces"))
	v.follow("Laser lab")
	v.follow("Runs of 2026")
	v.follow("a.txt")
	v.sees("by admin", "1 line")
	if err := s.Call(t.Context(), "PUT", "/users/me", map[string]string{"fullname": "Ada Lovelace"}, nil); err != nil {
		t.Fatal(err)
	}
	s.revoke(t, mary)
	v.follow("Laser lab")
	v.sees("Your session has ended")
	v.signIn(jon.key)
	v.sees("Runs of 2026")
	v.slow(-1, 300*time.Millisecond)
	v.do(chromedp.Evaluate[chromedp.Void]("void history.back()")) // to the file
	v.isAt("/resources/" + rid)
	v.untilNever(shown("by Ada Lovelace"), shown("by admin"))
	v.do(chromedp.Evaluate[chromedp.Void]("void history.go(-3)"))
	v.untilNever(all("1 dataspace"), shown("Secret lab"))
}

// What one person was uploading when they signed out, here or in another tab, is not sent for the next one; they are asked once.
func TestUploadsEndWithTheirOwner(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		s := open(t)
		did, sid := s.place(t)
		mary := s.person(t, "mary", "editor", did)
		root, _ := many(t, 40)
		v := s.visit(t)
		v.at("/sets/" + sid)
		v.signIn(mary.key)
		v.sees("This set is empty")
		var asked atomic.Int32
		err := chromedp.Listen(v.ctx, func(event any) {
			if _, is := event.(*page.EventJavascriptDialogOpening); is {
				asked.Add(1)
				go func() { // the visitor accepts
					_, _ = chromedp.Call(v.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
				}()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		at, want := v, int32(1)
		if elsewhere {
			at, want = v.tab(), 0
			at.at("/")
			at.sees("Laser lab")
			v.front()
		}
		v.slow(-1, 20*time.Millisecond)
		v.pick("Folder to upload", root)
		v.submit()
		v.until(`+document.querySelector(".uploads .report")?.innerText.match(/^\d+/)?.[0] > 5`)
		at.front()
		at.press("Sign out")
		at.sees("Your API key")
		at.signIn(s.Key())
		v.sees("admin")
		v.until(`!document.querySelector(".uploads")`)
		time.Sleep(200 * time.Millisecond)
		if n := len(s.names(t, sid)); n < 5 || n >= 40 {
			t.Errorf("%d files were sent", n)
		}
		if got := asked.Load(); got != want {
			t.Errorf("signing out elsewhere: %v: asked %d times, want %d", elsewhere, got, want)
		}
	}
}
