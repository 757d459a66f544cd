package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// invites creates an invitation in the pages and returns its address.
func invites(v *browser.Visitor, whom string) string {
	v.T.Helper()
	v.Press("Invite …")
	v.Fill("For whom", whom)
	return newLink(v)
}

// An admin invites a colleague, who accepts on a phone, receives a key that is shown once, is
// signed in, and uses the key elsewhere. An existing user joins with one click, also through a link
// on another site. The list shows each invitation with its result.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--invitations", "admins")
	did, _ := s.NewSet(t)
	script := browser.Axe(t)
	bob := s.Person(t, "bob", "", "")
	v := s.SignedIn(t, s.Person(t, "mara", "admin", did).Key, "/dataspaces/"+did+"/members")
	v.Press("Invite …")
	v.Sees("Invite to Laser lab")
	looks(v, "invite-form", script)
	v.Size(1280, 800)
	v.Press("Cancel")
	first := invites(v, "Ada Lovelace")
	v.Sees("accept it, once")
	scanned(v)
	looks(v, "invite-new", script)
	v.Size(1280, 800)
	v.Press("Done")

	ada := s.Visit(t)
	ada.Expect("status of 409")
	ada.Size(360, 740)
	ada.At(first)
	ada.Sees("mara invites you", "Join Laser lab as editor", "add new ones", "Choose a username")
	looks(ada, "invite-visit", script)
	ada.Fill("Choose a username", "mara")
	ada.Fill("Your name", "Ada Lovelace")
	ada.Press("Join")
	ada.Sees("This username is taken.")
	ada.Until(`document.activeElement.id === "username" && document.querySelector("#fullname").value === "Ada Lovelace"`)
	looks(ada, "invite-taken", script)
	ada.Fill("Choose a username", "ada")
	ada.Press("Join")
	ada.Sees("Welcome, Ada Lovelace", "It is shown only this once")
	looks(ada, "invite-accepted", script)
	browser.Click(ada, chromedp.CSS("pre.key"))
	key := browser.Get(ada, chromedp.Evaluate[string](`getSelection().toString()`))
	ada.Follow("I have saved the key: go to Laser lab")
	ada.IsAt("/dataspaces/" + did)
	ada.Sees("Laser lab", "Sign out", "Ada Lovelace")
	elsewhere := s.SignedIn(t, key, "/dataspaces/"+did)
	elsewhere.Sees("Laser lab", "Ada Lovelace")

	second := invites(v, "Bob")
	v.Press("Done")
	known := s.SignedIn(t, bob.Key, "/")
	known.Size(360, 740)
	known.Do(chromedp.Navigate(`data:text/html,<a href="` + s.Origin + second + `">come</a>`))
	known.Follow("come")
	known.Sees("mara invites you", "You are signed in here as bob")
	looks(known, "invite-join", script)
	known.Press("Join as bob")
	known.Sees("Welcome, bob", "editor in Laser lab")
	looks(known, "invite-joined", script)
	known.Follow("Go to Laser lab")
	known.IsAt("/dataspaces/" + did)

	third := invites(v, "")
	v.Press("Done")
	known.At(third)
	known.Sees("are already editor in Laser lab", "The invitation stays unused")
	looks(known, "invite-nothing", script)
	v.At("/links")
	v.Sees("Ada Lovelace", "Invites one person as editor into Laser lab", "accepted", "not accepted yet")
	looks(v, "invitations", script)
	v.Size(1280, 800)
	v.Press("Change an invitation without a name")
	v.Fill("For whom", "Cleo")
	v.Submit()
	v.Press("Revoke Cleo")
	v.Submit()
	v.SeesNot("Cleo")
}

// A sysadmin invites a person to create an account. A phone without scripts can accept.
func TestInvitationWithoutScripts(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	v := s.SignedIn(t, s.Key(), "/users")
	address := invites(v, "Dana")
	v.Press("Done")
	admin := s.SignedIn(t, s.Person(t, "mara", "admin", did).Key, "/dataspaces/"+did+"/members")
	admin.Sees("Give access")
	admin.SeesNot("Invite …")

	dana := s.Visit(t)
	dana.Scripts(false)
	dana.Size(360, 740)
	dana.At(address)
	dana.Sees("admin invites you", "You get an account here")
	fits(dana)
	dana.Fill("Choose a username", "dana")
	dana.Key("Enter", "Enter", "\r")
	dana.Sees("Welcome, dana", "You are signed in.")
	fits(dana)
	key := browser.Get(dana, chromedp.Evaluate[string](`document.querySelector("pre.key").textContent`))
	dana.Scripts(true)
	dana.Follow("I have saved the key: continue")
	dana.Sees("Sign out", "dana")
	s.SignedIn(t, key, "/").Sees("dana")
	v.At("/links")
	v.Sees("Dana", "Invites one person to have an account", "accepted")
}
