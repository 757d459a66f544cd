package browser

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// Signing in at a deep link leads to it, with its parameters. After signing out, the Back button
// shows nothing.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "a.txt", "b.txt")
	v := s.visit(t)
	deep := "/sets/" + sid + "?prefix=b"
	v.at(deep)
	v.sees("Sign in to see this page")
	v.signIn(s.Key())
	v.isAt(deep)
	v.sees("b.txt", "1 file")
	v.seesNot("a.txt")
	v.follow("Laser lab")
	v.isAt("/dataspaces/" + did)
	v.press("Sign out")
	v.sees("Your API key")
	v.do(chromedp.Evaluate[chromedp.Void]("void history.back()"))
	v.isAt("/dataspaces/" + did)
	v.sees("Your API key")
	v.seesNot("Laser lab")
	v.at("/dataspaces/" + did)
	v.sees("Your API key")
	v.seesNot("Laser lab")
}

// The parameter with the address after signing in leads to no other site.
func TestSignInStaysOnSite(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, to := range []string{"//elsewhere.example/", `/\elsewhere.example`, "https://elsewhere.example/", "javascript:window.__hacked=1"} {
		v := s.signedIn(t, s.Key(), "/signin?to="+url.QueryEscape(to))
		v.isAt("/")
		v.until("window.__hacked === undefined")
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/")
	v.fill("Your API key", "lsk_wrong")
	v.press("Sign in")
	v.until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.sees("Sign in")
	v.seesNot("Sign out")
}

// After the key is revoked, the next request asks to sign in, and the user continues with another
// key.
func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	mary := s.person(t, "mary", "member", did)
	v := s.signedIn(t, mary.key, "/dataspaces/"+did)
	v.sees("Runs of 2026")
	v.ignoreFocus()
	s.revoke(t, mary)
	v.follow("Runs of 2026")
	v.sees("Your session has ended")
	v.signIn(s.Key())
	v.isAt("/sets/" + sid)
	v.sees("This set is empty")
}

// If the service cannot write, signing out removes the cookie and warns that the session is still
// valid.
func TestSignOutWithFullDisk(t *testing.T) {
	t.Parallel()
	oneNode(t)
	s := open(t).inTabs(t)
	s.makeSet(t)
	v := s.signedIn(t, s.Key(), "/", "status of 507")
	v.sees("Laser lab")
	other := v.tab()
	other.at("/")
	other.sees("Laser lab")
	v.front()
	s.fileLimit(t, "1")
	v.press("Sign out")
	v.sees("could not end your session: no space is left", "revoke the key", "Your API key")
	v.shot("signed-out-of-a-full-service")
	v.seesNot("Laser lab")
	other.sees("Your session has ended")
	s.fileLimit(t, "unlimited")
	v.signIn(s.Key())
	v.sees("Laser lab")
	v.press("Sign out")
	v.sees("Your API key")
	v.seesNot("could not end your session")
}

// If the service is unreachable, signing out fails with a warning and instructions.
func TestSignOutThatFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.makeSet(t)
	v := s.signedIn(t, s.Key(), "/", "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
	v.sees("Laser lab")
	s.Kill()
	v.press("Sign out")
	v.sees("You are still signed in", "cannot be reached", "delete the cookies of this site")
	v.shot("still-signed-in")
	v.press("Stay signed in")
	v.seesNot("You are still signed in")
	v.press("Sign out")
	v.sees("You are still signed in")
	s.restart(t)
	v.press("Try again")
	v.sees("Your API key")
	v.seesNot("Laser lab")
}
