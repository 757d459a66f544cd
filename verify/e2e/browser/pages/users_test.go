package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The form of a user shows the current state of the user, not that of the list.
func TestUserFormShowsCurrentState(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mary := s.person(t, "mary", "editor", did)
	v := s.signedIn(t, s.Key(), "/users")
	v.sees("mary")
	s.call(t, "DELETE", "/users/"+mary.id, nil)
	v.press("Change mary")
	v.sees("Restore this user")
}

// Deleting a user, which revokes the keys for good, needs confirmation. A deleted user can only be
// restored.
func TestDeleteUser(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mary := s.person(t, "mary", "editor", did)
	state := func() string {
		var now struct{ State string }
		if err := s.Call(t.Context(), "GET", "/users/"+mary.id, nil, &now); err != nil {
			t.Fatal(err)
		}
		return now.State
	}
	v := s.signedIn(t, s.Key(), "/users?state=all")
	v.press("Change mary")
	v.press("Delete this user")
	v.sees("Delete mary?", "stay revoked")
	v.shot("delete-user")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.seesNot("Delete mary?")
	if got := state(); got != "active" {
		t.Errorf("before confirmation the state is %s", got)
	}
	v.press("Delete this user")
	click(v, xpath("button", "Delete"))
	v.seesNot("Delete this user")
	if got := state(); got != "deleted" {
		t.Errorf("after deletion the state is %s", got)
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
		t.Errorf("after restoration the state is %s", got)
	}
}

// Giving up one's own sysadmin rights needs confirmation, since it cannot be undone.
func TestOwnSysadminRightsNeedConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call(t, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true})
	v := s.signedIn(t, s.Key(), "/users")
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
