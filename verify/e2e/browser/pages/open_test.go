package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// fits fails if the page is wider than a phone.
func fits(v *browser.Visitor) {
	v.T.Helper()
	if overflow := browser.Get(v, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
		v.Fail(errTooWide(overflow))
	}
}

// accessible fails if axe-core finds a serious violation on the page.
func accessible(v *browser.Visitor, script string) {
	v.T.Helper()
	for _, f := range v.Audit(script) {
		v.T.Errorf("%s: %s: %s\n\t%s", f.Impact, f.ID, f.Help, f.Where)
	}
}

type errTooWide float64

func (errTooWide) Error() string { return "the page is wider than the window" }

// A visitor without an account can read open data on a phone, both without scripts and with them.
func TestOpenDataWithoutAnAccount(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--anonymous", "on")
	did, sid, files := s.OpenSet(t)
	script := browser.Axe(t)
	closed := s.Create(t, "/dataspaces", map[string]string{"name": "lab-two", "title": "Secret lab"})

	plain := s.Visit(t)
	plain.Scripts(false)
	plain.Size(360, 740)
	plain.At("/")
	plain.Sees("Open data", "Laser lab")
	plain.SeesNot("Secret lab")
	fits(plain)
	plain.Follow("Laser lab")
	plain.IsAt("/dataspaces/" + did)
	plain.Sees("Laser lab", "Runs of 2026")
	fits(plain)
	plain.Follow("Runs of 2026")
	plain.IsAt("/sets/" + sid)
	plain.Sees("What the laser saw.", "Lovelace, Ada", "CC-BY-4.0", "run-1.txt", "9 B", "Download all")
	fits(plain)
	plain.Shot("open-set-plain-360")
	plain.Scripts(true) // for axe-core; the page does not load its own scripts
	accessible(plain, script)
	plain.Scripts(false)
	plain.Follow("run-1.txt")
	plain.IsAt("/resources/" + files[0])
	plain.Sees("text/plain", "Download 9 B")
	fits(plain)
	if got := browser.Get(plain, chromedp.Evaluate[string](`JSON.parse(document.querySelector("script[type='application/ld+json']").text).name`)); got != "run-1.txt" {
		t.Errorf("the JSON-LD has the name %q", got)
	}

	v := s.Visit(t)
	v.Size(360, 740)
	v.At("/")
	v.Sees("Your API key", "Open data", "Laser lab")
	v.SeesNot("Secret lab")
	fits(v)
	v.Shot("open-home-360")
	accessible(v, script)
	v.Follow("Laser lab")
	v.IsAt("/dataspaces/" + did)
	v.Sees("Laser lab")
	unfold(v, "About this dataspace")
	v.Sees("open to everybody")
	v.SeesNot("Members")
	v.SeesNot("History")
	v.Follow("Runs of 2026")
	v.Sees("What the laser saw.", "run-1.txt")
	fits(v)
	v.Shot("open-set-360")
	accessible(v, script)
	v.Follow("run-2.txt")
	v.Sees("Download", "text/plain", "a user")
	v.Until(`document.querySelector(".preview").innerText.includes("run-2.txt")`)
	fits(v)
	v.SeesNot("Replace")
	v.At("/dataspaces/" + closed)
	v.Sees("Your API key")
	v.SeesNot("Secret lab")
	v.At("/dataspaces/nothing")
	v.Sees("Your API key")
	s.Do(t, "DELETE", "/sets/"+sid, nil)
	v.Expect("status of 410")
	v.At("/sets/" + sid)
	v.Sees("Runs of 2026", "This was deleted")
	v.SeesNot("trash")
	plain.Expect("status of 410")
	plain.At("/sets/" + sid)
	plain.Sees("This was deleted on")
	v.At("/sets/" + sid)
	v.Follow("Sign in")
	v.IsAt("/signin?to=%2Fsets%2F" + sid)
	v.SignIn(s.Key())
	v.IsAt("/sets/" + sid)
	v.Sees("This set is in the trash")
}

// Selecting "open to everybody" explains its effect, and whether the service allows it.
func TestOpenVisibility(t *testing.T) {
	t.Parallel()
	for on, hint := range map[string]string{"on": "Anyone on the network can read", "off": "It is visible only with an account until the operator"} {
		t.Run(on, func(t *testing.T) {
			s := browser.Open(t, "--anonymous", on)
			did, _ := s.NewSet(t)
			v := s.SignedIn(t, s.Key(), "/dataspaces/"+did)
			menu(v, "Edit")
			v.SeesNot(hint)
			v.Do(chromedp.SetValue(chromedp.CSS(`dialog select[name=visibility]`), "open"))
			v.Do(chromedp.Evaluate[chromedp.Void](`void document.querySelector("dialog select[name=visibility]").dispatchEvent(new Event("change", {bubbles: true}))`))
			v.Sees(hint)
			v.Submit()
			v.Sees("open to everybody")
		})
	}
}

// A user whose session has ended can read open data as a visitor, before signing in again.
func TestOpenDataAfterASession(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--anonymous", "on")
	did, sid, files := s.OpenSet(t)
	mary := s.Person(t, "mary", "member", did)
	v := s.SignedIn(t, mary.Key, "/account")
	v.At("/sets/" + sid)
	v.Sees("run-1.txt", "mary")
	s.Revoke(t, mary)
	v.Expect("401")
	for _, page := range [][2]string{{"/dataspaces/" + did, "Runs of 2026"}, {"/sets/" + sid, "run-2.txt"}, {"/resources/" + files[0], "run-1.txt"}} {
		v.At(page[0])
		v.Sees(page[1], "Sign in")
	}
	v.Until(`document.querySelector(".preview .lines .text")`)
}
