package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// setRole selects another role for a user in the list of members.
func setRole(v *browser.Visitor, name, role string) {
	v.T.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((select) => {
		select.value = %q;
		select.dispatchEvent(new Event("change", {bubbles: true}));
	})(document.querySelector('[aria-label="Role of %s"]'))`, role, name)))
}

// hasRole waits until the list shows this role of a member.
func hasRole(v *browser.Visitor, name, role string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`document.querySelector('[aria-label="Role of %s"]')?.value === %q`, name, role))
}

// The pages offer a member no action that requires another role, and the service refuses such
// actions.
func TestMemberOnlyReads(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	jon := s.Person(t, "jon", "member", did)
	v := s.SignedIn(t, jon.Key, "/")
	v.Sees("Laser lab")
	const offers = `[...document.querySelectorAll("main button, main a.button")].map((b) => b.innerText.trim()).filter(
		(text) => /New|Create|Edit|Delete|Upload|Replace|Give|Remove|Restore/.test(text)).join()`
	for _, path := range []string{"/", "/dataspaces/" + did, "/sets/" + sid, "/resources/" + rid, "/dataspaces/" + did + "/members"} {
		v.At(path)
		v.Loaded()
		v.Until(`document.querySelector(".list .body .row, .facts")`)
		want := ""
		if path == "/" {
			want = "New dataspace" // independent of roles; the permission is checked on a click
		}
		if got := browser.Get(v, chromedp.Evaluate[string](offers)); got != want {
			t.Errorf("%s offers a member %q, want %q", path, got, want)
		}
	}
	v.Expect("status of 403")
	for _, try := range []struct{ method, path, body string }{
		{"PATCH", "/resources/" + rid, `{"description": "x"}`}, {"DELETE", "/resources/" + rid, ""}, {"DELETE", "/sets/" + sid, ""},
		{"PUT", "/dataspaces/" + did, `{"title": "x"}`}, {"POST", "/sets", `{"name": "mine", "dataspaceId": "` + did + `"}`},
		{"POST", "/privileges", `{"userId": "` + jon.ID + `", "dataspaceId": "` + did + `", "role": "admin"}`}, {"POST", "/users", `{"username": "eve"}`},
	} {
		status := browser.Get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1%s", {method: %q, body: %q || undefined, headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, try.path, try.method, try.body), chromedp.EvalAwaitPromise))
		if status != 403 {
			t.Errorf("%s %s: status %d, want 403", try.method, try.path, status)
		}
	}
}

// A user with new access can read. A key is created, shown once, and revoked.
func TestAccessAndKeys(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary := s.Person(t, "mary", "", "")
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did)
	menuOf(v, "Share", "Members")
	v.Press("Give access")
	v.Fill("User", "nobody-at-all")
	v.Expect("status of 404")
	v.Submit()
	v.Sees("No user has that name")
	v.Fill("User", "mary")
	v.Submit()
	v.Until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of mary" && s.value === "member")`)
	hers := s.SignedIn(t, mary.Key, "/dataspaces/"+did)
	hers.Sees("Runs of 2026", "you are member")
	hers.At("/account")
	hers.Press("New key")
	hers.Fill("Label", "microscope")
	browser.Click(hers, purpose("Everything I may do"))
	hers.Submit()
	hers.Sees("It is shown only once")
	key := browser.Get(hers, chromedp.Evaluate[string](`document.querySelector(".secret code").innerText`))
	hers.Press("I have stored it")
	hers.Sees("microscope")
	third := s.SignedIn(t, key, "/")
	hers.Press("Revoke microscope")
	hers.Submit()
	hers.Until(`[...document.querySelectorAll("tr")].some((row) => /^microscope revoked/.test(row.innerText))`)
	third.At("/account")
	third.Sees("Your API key")
	v.Press("Remove access of mary")
	v.Submit()
	v.SeesNot("mary")
}

// Changing one's own role requires confirmation, because the user cannot undo it. Roles of others
// change immediately.
func TestOwnRoleChangeNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary, jon := s.Person(t, "mary", "admin", did), s.Person(t, "jon", "editor", did)
	role := func(p browser.Person) string {
		var page struct{ Data []struct{ Role string } }
		err := s.Call(t.Context(), "GET", "/privileges?state=active&dataspaceId="+did+"&userId="+p.ID, nil, &page)
		if err != nil || len(page.Data) != 1 {
			t.Fatalf("%s has %d roles, %v", p.Username, len(page.Data), err)
		}
		return page.Data[0].Role
	}
	v := s.SignedIn(t, mary.Key, "/dataspaces/"+did+"/members")
	hasRole(v, "jon", "editor")
	setRole(v, "jon", "member")
	v.Until(`!document.querySelector("dialog")`)
	hasRole(v, "jon", "member")
	setRole(v, "mary", "member")
	v.Sees("Give up the role admin?", "another admin")
	v.Shot("give-up-admin")
	v.Press("Cancel")
	hasRole(v, "mary", "admin")
	if got := role(mary); got != "admin" {
		t.Errorf("before the confirmation, the role is %s", got)
	}
	v.Press("Remove access of mary")
	v.Shot("take-own-access-away")
	v.Sees("You will no longer be admin here", "another admin")
	v.Press("Cancel")
	setRole(v, "mary", "editor")
	v.Submit()
	v.SeesNot("Give access")
	v.Until(`!document.querySelector(".list button")`)
	if got := role(mary) + " " + role(jon); got != "editor member" {
		t.Errorf("the roles are %s", got)
	}
}

// Giving access to a member does not change the role.
func TestGiveAccessKeepsExistingRole(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	s.Person(t, "mary", "admin", did)
	jon := s.Person(t, "jon", "admin", did)
	v := s.SignedIn(t, jon.Key, "/dataspaces/"+did+"/members")
	hasRole(v, "mary", "admin")
	v.Press("Give access")
	v.Fill("User", "mary")
	v.Submit()
	v.Sees("mary is admin here already")
	v.Until(`document.querySelector("dialog input").getAttribute("aria-invalid") === "true"`)
	v.Press("Cancel")
	hasRole(v, "mary", "admin")
}

// The button that removes access fits into its cell on wide and narrow screens.
func TestRemoveAccessButtonFits(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	s.Person(t, "mary", "member", did)
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did+"/members")
	for _, width := range []int64{1280, 360} {
		v.Do(chromedp.EmulateViewport(width, 800))
		v.Until(`document.querySelectorAll(".list .body .end .button").length >= 1`)
		v.Until(`[...document.querySelectorAll(".list .body .end")].every((e) => [...e.children].every((b) =>
			b.getBoundingClientRect().right <= e.getBoundingClientRect().right + 1 && b.scrollWidth <= b.clientWidth + 1))`)
	}
}
