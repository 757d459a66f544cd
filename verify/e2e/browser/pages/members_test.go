package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// setRole selects another role for a user in the list of members.
func (v *visitor) setRole(name, role string) {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((select) => {
		select.value = %q;
		select.dispatchEvent(new Event("change", {bubbles: true}));
	})(document.querySelector('[aria-label="Role of %s"]'))`, role, name)))
}

// hasRole waits until the list shows this role of a member.
func (v *visitor) hasRole(name, role string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.querySelector('[aria-label="Role of %s"]')?.value === %q`, name, role))
}

// The pages offer a member nothing that needs another role, and the service refuses it.
func TestMemberOnlyReads(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	jon := s.person(t, "jon", "member", did)
	v := s.signedIn(t, jon.key, "/")
	v.sees("Laser lab")
	const offers = `[...document.querySelectorAll("main button, main a.button")].map((b) => b.innerText.trim()).filter(
		(text) => /New|Create|Edit|Delete|Upload|Replace|Give|Remove|Restore/.test(text)).join()`
	for _, path := range []string{"/", "/dataspaces/" + did, "/sets/" + sid, "/resources/" + rid, "/dataspaces/" + did + "/members"} {
		v.at(path)
		v.loaded()
		v.until(`document.querySelector(".list .body .row, .facts")`)
		want := ""
		if path == "/" {
			want = "New dataspace" // independent of roles; the permission is checked on a click
		}
		if got := get(v, chromedp.Evaluate[string](offers)); got != want {
			t.Errorf("%s offers a member %q, want %q", path, got, want)
		}
	}
	v.expect("status of 403")
	for _, try := range []struct{ method, path, body string }{
		{"PATCH", "/resources/" + rid, `{"description": "x"}`}, {"DELETE", "/resources/" + rid, ""}, {"DELETE", "/sets/" + sid, ""},
		{"PUT", "/dataspaces/" + did, `{"title": "x"}`}, {"POST", "/sets", `{"name": "mine", "dataspaceId": "` + did + `"}`},
		{"POST", "/privileges", `{"userId": "` + jon.id + `", "dataspaceId": "` + did + `", "role": "admin"}`}, {"POST", "/users", `{"username": "eve"}`},
	} {
		status := get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1%s", {method: %q, body: %q || undefined, headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, try.path, try.method, try.body), chromedp.EvalAwaitPromise))
		if status != 403 {
			t.Errorf("%s %s: status %d, want 403", try.method, try.path, status)
		}
	}
}

// A user who gets access can read. A key is created, shown once and revoked.
func TestAccessAndKeys(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mary := s.person(t, "mary", "", "")
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did)
	v.menuOf("Share", "Members")
	v.press("Give access")
	v.fill("User", "nobody-at-all")
	v.expect("status of 404")
	v.submit()
	v.sees("No user has that name")
	v.fill("User", "mary")
	v.submit()
	v.until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of mary" && s.value === "member")`)
	hers := s.signedIn(t, mary.key, "/dataspaces/"+did)
	hers.sees("Runs of 2026", "you are member")
	hers.at("/account")
	hers.press("New key")
	hers.fill("Label", "microscope")
	hers.submit()
	hers.sees("It is shown only once")
	key := get(hers, chromedp.Evaluate[string](`document.querySelector(".secret code").innerText`))
	hers.press("I have stored it")
	hers.sees("microscope")
	third := s.signedIn(t, key, "/")
	hers.press("Revoke microscope")
	hers.submit()
	hers.until(`[...document.querySelectorAll("tr")].some((row) => /^microscope revoked/.test(row.innerText))`)
	third.at("/account")
	third.sees("Your API key")
	v.press("Remove access of mary")
	v.submit()
	v.seesNot("mary")
}

// Giving up one's own role needs confirmation, since it cannot be undone; roles of others change at
// once.
func TestOwnRoleChangeNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mary, jon := s.person(t, "mary", "admin", did), s.person(t, "jon", "editor", did)
	role := func(p person) string {
		var page struct{ Data []struct{ Role string } }
		err := s.Call(t.Context(), "GET", "/privileges?state=active&dataspaceId="+did+"&userId="+p.id, nil, &page)
		if err != nil || len(page.Data) != 1 {
			t.Fatalf("%s has %d roles, %v", p.username, len(page.Data), err)
		}
		return page.Data[0].Role
	}
	v := s.signedIn(t, mary.key, "/dataspaces/"+did+"/members")
	v.hasRole("jon", "editor")
	v.setRole("jon", "member")
	v.until(`!document.querySelector("dialog")`)
	v.hasRole("jon", "member")
	v.setRole("mary", "member")
	v.sees("Give up being admin?", "another admin")
	v.shot("give-up-admin")
	v.press("Cancel")
	v.hasRole("mary", "admin")
	if got := role(mary); got != "admin" {
		t.Errorf("before confirmation the role is %s", got)
	}
	v.press("Remove access of mary")
	v.shot("take-own-access-away")
	v.sees("You will no longer be admin here", "another admin")
	v.press("Cancel")
	v.setRole("mary", "editor")
	v.submit()
	v.seesNot("Give access")
	v.until(`!document.querySelector(".list button")`)
	if got := role(mary) + " " + role(jon); got != "editor member" {
		t.Errorf("the roles are %s", got)
	}
}

// Giving access to a member does not change the role.
func TestGiveAccessKeepsExistingRole(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	s.person(t, "mary", "admin", did)
	jon := s.person(t, "jon", "admin", did)
	v := s.signedIn(t, jon.key, "/dataspaces/"+did+"/members")
	v.hasRole("mary", "admin")
	v.press("Give access")
	v.fill("User", "mary")
	v.submit()
	v.sees("mary is admin here already")
	v.until(`document.querySelector("dialog input").getAttribute("aria-invalid") === "true"`)
	v.press("Cancel")
	v.hasRole("mary", "admin")
}

// The button that removes access fits into its cell on wide and on narrow screens.
func TestRemoveAccessButtonFits(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	s.person(t, "mary", "member", did)
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did+"/members")
	for _, width := range []int64{1280, 360} {
		v.do(chromedp.EmulateViewport(width, 800))
		v.until(`document.querySelectorAll(".list .body .end .button").length >= 1`)
		v.until(`[...document.querySelectorAll(".list .body .end")].every((e) => [...e.children].every((b) =>
			b.getBoundingClientRect().right <= e.getBoundingClientRect().right + 1 && b.scrollWidth <= b.clientWidth + 1))`)
	}
}
