package pages

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// Signing in at an address with parameters leads to this address. After signing out, the Back
// button shows no data.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt", "b.txt")
	v := s.Visit(t)
	deep := "/sets/" + sid + "?prefix=b"
	v.At(deep)
	v.Sees("Sign in to see this page")
	v.SignIn(s.Key())
	v.IsAt(deep)
	v.Sees("b.txt", "1 file")
	v.SeesNot("a.txt")
	v.Follow("Laser lab")
	v.IsAt("/dataspaces/" + did)
	v.Press("Sign out")
	v.Sees("Your API key")
	v.Do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	v.IsAt("/dataspaces/" + did)
	v.Sees("Your API key")
	v.SeesNot("Laser lab")
	v.At("/dataspaces/" + did)
	v.Sees("Your API key")
	v.SeesNot("Laser lab")
}

// The parameter with the address after signing in cannot lead to another site.
func TestSignInStaysOnSite(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	for _, to := range []string{"//elsewhere.example/", `/\elsewhere.example`, "https://elsewhere.example/", "javascript:window.__hacked=1"} {
		v := s.SignedIn(t, s.Key(), "/signin?to="+url.QueryEscape(to))
		v.IsAt("/")
		v.Until("window.__hacked === undefined")
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	v := browser.Open(t).Visit(t)
	v.At("/")
	v.Fill("Your API key", "lsk_wrong")
	v.Press("Sign in")
	v.Until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.Sees("Sign in")
	v.SeesNot("Sign out")
}

// After the key is revoked, the page asks the user to sign in at the next request. The user
// continues with another key.
func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	mary := s.Person(t, "mary", "member", did)
	v := s.SignedIn(t, mary.Key, "/dataspaces/"+did)
	v.Sees("Runs of 2026")
	v.IgnoreFocus()
	s.Revoke(t, mary)
	v.Follow("Runs of 2026")
	v.Sees("Your session has ended")
	v.SignIn(s.Key())
	v.IsAt("/sets/" + sid)
	v.Sees("This set is empty")
}

// If the service cannot write, signing out removes the cookie and warns that the session is still
// valid.
func TestSignOutWithFullDisk(t *testing.T) {
	t.Parallel()
	browser.OneNode(t)
	s := browser.Open(t).InTabs(t)
	s.NewSet(t)
	v := s.SignedIn(t, s.Key(), "/", "status of 507")
	v.Sees("Laser lab")
	other := v.Tab()
	other.At("/")
	other.Sees("Laser lab")
	v.Front()
	s.FileLimit(t, "1")
	v.Press("Sign out")
	v.Sees("could not end your session: no space is left", "revoke the key", "Your API key")
	v.Shot("signed-out-of-a-full-service")
	v.SeesNot("Laser lab")
	other.Sees("Your session has ended")
	s.FileLimit(t, "unlimited")
	v.SignIn(s.Key())
	v.Sees("Laser lab")
	v.Press("Sign out")
	v.Sees("Your API key")
	v.SeesNot("could not end your session")
}

// If the service is unreachable, signing out fails with a warning and instructions.
func TestSignOutThatFails(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	s.NewSet(t)
	v := s.SignedIn(t, s.Key(), "/", "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.Sees("Laser lab")
	s.Kill()
	v.Press("Sign out")
	v.Sees("You are still signed in", "cannot be reached", "delete the cookies of this site")
	v.Shot("still-signed-in")
	v.Press("Stay signed in")
	v.SeesNot("You are still signed in")
	v.Press("Sign out")
	v.Sees("You are still signed in")
	s.Restart(t)
	v.Press("Try again")
	v.Sees("Your API key")
	v.SeesNot("Laser lab")
}
