package pages

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// The form of a user shows the current state of the user, and not the state in the list.
func TestUserFormShowsCurrentState(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary := s.Person(t, "mary", "editor", did)
	v := s.SignedIn(t, s.Key(), "/users")
	v.Sees("mary")
	s.Do(t, "DELETE", "/users/"+mary.ID, nil)
	v.Press("Change mary")
	v.Sees("Restore this user")
}

// Deleting a user permanently revokes the user's keys, and requires a confirmation. A deleted user
// can only be restored.
func TestDeleteUser(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mary := s.Person(t, "mary", "editor", did)
	state := func() string {
		var now struct{ State string }
		if err := s.Call(t.Context(), "GET", "/users/"+mary.ID, nil, &now); err != nil {
			t.Fatal(err)
		}
		return now.State
	}
	v := s.SignedIn(t, s.Key(), "/users?state=all")
	v.Press("Change mary")
	v.Press("Delete this user")
	v.Sees("Delete mary?", "stay revoked")
	v.Shot("delete-user")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.SeesNot("Delete mary?")
	if got := state(); got != "active" {
		t.Errorf("before the confirmation, the state is %s", got)
	}
	v.Press("Delete this user")
	browser.Click(v, browser.Xpath("button", "Delete"))
	v.SeesNot("Delete this user")
	if got := state(); got != "deleted" {
		t.Errorf("after the deletion, the state is %s", got)
	}
	v.Press("Change mary")
	v.Sees("Restore this user")
	v.SeesNot("Save")
	v.SeesNot("New key")
	v.Until(`document.querySelector("dialog tbody tr").innerText.startsWith("browser revoked")`)
	v.Shot("deleted-user")
	v.At("/dataspaces/" + did + "/members")
	v.Sees("mary", "editor")
	v.Until(`!document.querySelector('[aria-label="Role of mary"]')`)
	v.At("/users?state=all")
	v.Press("Change mary")
	v.Press("Restore this user")
	v.Until(`!document.querySelector("dialog")`)
	if got := state(); got != "active" {
		t.Errorf("after the restoration, the state is %s", got)
	}
}

// Giving up one's own sysadmin rights requires a confirmation, because the user cannot undo it.
func TestOwnSysadminRightsNeedConfirmation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	s.Do(t, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true})
	v := s.SignedIn(t, s.Key(), "/users")
	v.Press("Change admin")
	browser.Click(v, chromedp.CSS("dialog input[type=checkbox]"))
	v.Press("Save")
	v.Sees("Give up sysadmin rights?")
	v.Shot("give-up-sysadmin")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.SeesNot("Give up sysadmin rights?")
	v.Until(`document.querySelector("main h1").innerText === "Users"`)
	v.Press("Save")
	v.Press("Give up")
	v.Sees("This page is for sysadmins")
}
