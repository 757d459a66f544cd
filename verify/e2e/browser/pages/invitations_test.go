package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// invites makes an invitation in the pages and returns its address.
func (v *visitor) invites(whom string) string {
	v.t.Helper()
	v.press("Invite …")
	v.fill("For whom", whom)
	return v.newLink()
}

// An admin invites a colleague, who accepts on a phone, has a key that is shown once, is signed in,
// and uses the key elsewhere. Somebody who is a user joins with one press, also by a link on a page
// of another site. The invitations are listed with what has come of them.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s := open(t, "--invitations", "admins")
	did, _ := s.makeSet(t)
	script := axe(t)
	bob := s.person(t, "bob", "", "")
	v := s.signedIn(t, s.person(t, "mara", "admin", did).key, "/dataspaces/"+did+"/members")
	v.press("Invite …")
	v.sees("Invite to Laser lab")
	v.looks("invite-form", script)
	v.size(1280, 800)
	v.press("Cancel")
	first := v.invites("Ada Lovelace")
	v.sees("accept it, once")
	v.scanned()
	v.looks("invite-new", script)
	v.size(1280, 800)
	v.press("Done")

	ada := s.visit(t)
	ada.expect("status of 409")
	ada.size(360, 740)
	ada.at(first)
	ada.sees("mara invites you", "Join Laser lab as editor", "add new ones", "Choose a username")
	ada.looks("invite-visit", script)
	ada.fill("Choose a username", "mara")
	ada.fill("Your name", "Ada Lovelace")
	ada.press("Join")
	ada.sees("This username is taken.")
	ada.until(`document.activeElement.id === "username" && document.querySelector("#fullname").value === "Ada Lovelace"`)
	ada.looks("invite-taken", script)
	ada.fill("Choose a username", "ada")
	ada.press("Join")
	ada.sees("Welcome, Ada Lovelace", "It is shown only this once")
	ada.looks("invite-accepted", script)
	click(ada, chromedp.CSS("pre.key"))
	key := get(ada, chromedp.Evaluate[string](`getSelection().toString()`))
	ada.follow("I have the key: go to Laser lab")
	ada.isAt("/dataspaces/" + did)
	ada.sees("Laser lab", "Sign out", "Ada Lovelace")
	elsewhere := s.signedIn(t, key, "/dataspaces/"+did)
	elsewhere.sees("Laser lab", "Ada Lovelace")

	second := v.invites("Bob")
	v.press("Done")
	known := s.signedIn(t, bob.key, "/")
	known.size(360, 740)
	known.do(chromedp.Navigate(`data:text/html,<a href="` + s.origin + second + `">come</a>`))
	known.follow("come")
	known.sees("mara invites you", "You are signed in here as bob")
	known.looks("invite-join", script)
	known.press("Join as bob")
	known.sees("Welcome, bob", "editor in Laser lab")
	known.looks("invite-joined", script)
	known.follow("Go to Laser lab")
	known.isAt("/dataspaces/" + did)

	third := v.invites("")
	v.press("Done")
	known.at(third)
	known.sees("are editor in Laser lab already", "is not used by this")
	known.looks("invite-nothing", script)
	v.at("/links")
	v.sees("Ada Lovelace", "Invites one person as editor into Laser lab", "accepted", "not accepted yet")
	v.looks("invitations", script)
	v.size(1280, 800)
	v.press("Change an invitation without a name")
	v.fill("For whom", "Cleo")
	v.submit()
	v.press("Revoke Cleo")
	v.submit()
	v.seesNot("Cleo")
}

// A sysadmin invites somebody to have an account; a phone without scripts accepts.
func TestInvitationWithoutScripts(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	v := s.signedIn(t, s.Key(), "/users")
	address := v.invites("Dana")
	v.press("Done")
	admin := s.signedIn(t, s.person(t, "mara", "admin", did).key, "/dataspaces/"+did+"/members")
	admin.sees("Give access")
	admin.seesNot("Invite …")

	dana := s.visit(t)
	dana.scripts(false)
	dana.size(360, 740)
	dana.at(address)
	dana.sees("admin invites you", "You get an account here")
	dana.fits()
	dana.fill("Choose a username", "dana")
	dana.key("Enter", "Enter", "\r")
	dana.sees("Welcome, dana", "You are signed in.")
	dana.fits()
	key := get(dana, chromedp.Evaluate[string](`document.querySelector("pre.key").textContent`))
	dana.scripts(true)
	dana.follow("I have the key: go on")
	dana.sees("Sign out", "dana")
	s.signedIn(t, key, "/").sees("dana")
	v.at("/links")
	v.sees("Dana", "Invites one person to have an account", "accepted")
}
