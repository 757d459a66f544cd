package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// roleOf takes another role for somebody in the list of members.
func (v *visitor) roleOf(name, role string) {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((select) => {
		select.value = %q;
		select.dispatchEvent(new Event("change", {bubbles: true}));
	})(document.querySelector('[aria-label="Role of %s"]'))`, role, name)))
}

// is waits until a member's role stands in the list so.
func (v *visitor) is(name, role string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.querySelector('[aria-label="Role of %s"]')?.value === %q`, name, role))
}

// A visitor that removes a right of their own, which they could not give back, is asked; others' roles change at once.
func TestOwnRoleIsNotLostUnasked(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	mary, jon := s.person(t, "mary", "admin", did), s.person(t, "jon", "editor", did)
	role := func(p person) string {
		var page struct{ Data []struct{ Role string } }
		err := s.Call(t.Context(), "GET", "/privileges?state=active&dataspaceId="+did+"&userId="+p.id, nil, &page)
		if err != nil || len(page.Data) != 1 {
			t.Fatalf("%s has %d roles, %v", p.username, len(page.Data), err)
		}
		return page.Data[0].Role
	}
	v := s.visit(t)
	v.at("/dataspaces/" + did + "/members")
	v.signIn(mary.key)
	v.is("jon", "editor")
	v.roleOf("jon", "member")
	v.until(`!document.querySelector("dialog")`)
	v.is("jon", "member")
	v.roleOf("mary", "member")
	v.sees("Give up being admin?", "another admin")
	v.shot("give-up-admin")
	v.press("Cancel")
	v.is("mary", "admin")
	if got := role(mary); got != "admin" {
		t.Errorf("before she has agreed she is %s", got)
	}
	v.press("Remove access of mary")
	v.shot("take-own-access-away")
	v.sees("You will no longer be admin here", "another admin")
	v.press("Cancel")
	v.roleOf("mary", "editor")
	v.submit()
	v.seesNot("Give access")
	v.until(`!document.querySelector(".list button")`)
	if got := role(mary) + " " + role(jon); got != "editor member" {
		t.Errorf("afterwards they are %s", got)
	}
}

// To give access to somebody who has it already takes nothing from them.
func TestGivingAccessTakesNoneAway(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	s.person(t, "mary", "admin", did)
	jon := s.person(t, "jon", "admin", did)
	v := s.visit(t)
	v.at("/dataspaces/" + did + "/members")
	v.signIn(jon.key)
	v.is("mary", "admin")
	v.press("Give access")
	v.fill("Person", "mary")
	v.submit()
	v.sees("mary is admin here already")
	v.until(`document.querySelector("dialog input").getAttribute("aria-invalid") === "true"`)
	v.press("Cancel")
	v.is("mary", "admin")
}

// What is offered for a user is what may be done with the user now, not when the list was loaded.
func TestUserChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	mary := s.person(t, "mary", "editor", did)
	v := s.visit(t)
	v.at("/users")
	v.signIn(s.Key())
	v.sees("mary")
	if err := s.Call(t.Context(), "DELETE", "/users/"+mary.id, nil, nil); err != nil {
		t.Fatal(err)
	}
	v.press("Change mary")
	v.sees("Restore this user")
}

// A user is deleted, and with the user all keys for good, only after a question. Of a deleted one nothing is offered that is refused.
func TestDeleteUser(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	mary := s.person(t, "mary", "editor", did)
	state := func() string {
		var now struct{ State string }
		if err := s.Call(t.Context(), "GET", "/users/"+mary.id, nil, &now); err != nil {
			t.Fatal(err)
		}
		return now.State
	}
	v := s.visit(t)
	v.at("/users?state=all")
	v.signIn(s.Key())
	v.press("Change mary")
	v.press("Delete this user")
	v.sees("Delete mary?", "stay revoked")
	v.shot("delete-user")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.seesNot("Delete mary?")
	if got := state(); got != "active" {
		t.Errorf("before anybody has agreed she is %s", got)
	}
	v.press("Delete this user")
	click(v, xpath("button", "Delete"))
	v.seesNot("Delete this user")
	if got := state(); got != "deleted" {
		t.Errorf("afterwards she is %s", got)
	}
	v.press("Change mary")
	v.sees("Restore this user")
	v.seesNot("Save")
	v.seesNot("New key")
	v.until(`document.querySelector("dialog tbody tr").innerText.startsWith("browser revoked")`)
	v.shot("deleted-user")
	v.at("/dataspaces/" + did + "/members")
	v.sees("mary", "editor")
	v.until(`!document.querySelector('[aria-label="Role of mary"]')`)
	v.at("/users?state=all")
	v.press("Change mary")
	v.press("Restore this user")
	v.until(`!document.querySelector("dialog")`)
	if got := state(); got != "active" {
		t.Errorf("restored she is %s", got)
	}
}

// A sysadmin who would be none any more is asked, since they could not undo that.
func TestGiveUpSysadmin(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call(t, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true})
	v := s.visit(t)
	v.at("/users")
	v.signIn(s.Key())
	v.press("Change admin")
	click(v, chromedp.CSS("dialog input[type=checkbox]"))
	v.press("Save")
	v.sees("Give up sysadmin rights?")
	v.shot("give-up-sysadmin")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.seesNot("Give up sysadmin rights?")
	v.until(`document.querySelector("main h1").innerText === "Users"`)
	v.press("Save")
	v.press("Give up")
	v.sees("This page is for sysadmins")
}

// A key is shown only once: it does not go by a slip of the hand.
func TestNewKeyStays(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/account")
	v.signIn(s.Key())
	v.press("New key")
	v.fill("Label", "microscope")
	v.submit()
	v.sees("It is shown only now")
	v.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.MouseClickXY(5, 5))
	v.sees("It is shown only now")
	v.press("I have kept it")
	v.seesNot("It is shown only now")
}

// Whoever gets a new key is told what can be done with it: what the one can whose key it is, not who made it.
func TestNewKeyTellsWhose(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/users")
	v.signIn(s.Key())
	v.press("New user")
	v.fill("User name", "mary")
	v.submit()
	v.sees("New key of mary", "whoever has it can do what mary can")
	v.shot("key-of-another")
	v.press("I have kept it")
	v.press("Change mary")
	v.press("New key")
	v.press("Create key")
	v.sees("New key of mary", "whoever has it can do what mary can")
	v.press("I have kept it")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`!document.querySelector("dialog")`)
	v.press("Change admin")
	v.press("New key")
	v.press("Create key")
	v.sees("Your new key", "whoever has it can do what you can")
}

// Before a file is replaced, whose bytes are gone then, the visitor sees which one by which; until they have agreed nothing is sent, and
// until all is sent they can go back.
func TestReplaceAsks(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	now := func() string {
		var r struct{ Filename, Sha256 string }
		if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &r); err != nil {
			t.Fatal(err)
		}
		return r.Filename + " " + r.Sha256
	}
	before := now()
	files := folder(t, "x", map[string]int{"new.dat": 3000, "large.dat": 3_000_000})
	v := s.visit(t)
	v.expect("status of 412") // the preview may still be reading what is replaced
	v.at("/resources/" + rid)
	v.signIn(s.Key())
	v.sees("5 B")
	asked := func(path string) {
		v.pick("File to replace it with", files+path)
		v.sees("Replace this file?", "gone for good")
	}
	asked("/new.dat")
	v.shot("replace")
	if got := get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog dd")].map((d) => d.innerText.replace(/\s+/g, " ").trim()).join("|")`)); got !=
		"file.txt 5 B just now by admin|new.dat 3.0 kB" {
		t.Errorf("the dialog names %s", got)
	}
	v.press("Cancel")
	v.until(`!document.querySelector("dialog")`)
	asked("/new.dat")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.until(`!document.querySelector("dialog")`)
	asked("/large.dat")
	v.slow(200_000, 0)
	v.submit()
	v.sees("of 3.0 MB sent")
	v.press("Cancel")
	v.slow(-1, 0)
	v.until(`!document.querySelector("dialog")`)
	time.Sleep(time.Second) // in which the rest would go
	if got := now(); got != before {
		t.Errorf("before the visitor has agreed it is %s, was %s", got, before)
	}
	v.replace(files + "/new.dat")
	v.sees("3.0 kB")
	if got := now(); got == before {
		t.Error("afterwards it is as it was")
	}
}
