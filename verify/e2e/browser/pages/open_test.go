package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// fits fails if the page is wider than a phone.
func (v *visitor) fits() {
	v.t.Helper()
	if overflow := get(v, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
		v.fail(errTooWide(overflow))
	}
}

// scripts lets scripts run, or none.
func (v *visitor) scripts(run bool) {
	v.t.Helper()
	v.plain = !run
	if _, err := chromedp.Call(v.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}); err != nil {
		v.fail(err)
	}
}

// accessible fails if axe-core finds something serious on the page.
func (v *visitor) accessible(script string) {
	v.t.Helper()
	for _, f := range v.audit(script) {
		v.t.Errorf("%s: %s: %s\n\t%s", f.Impact, f.ID, f.Help, f.Where)
	}
}

type errTooWide float64

func (errTooWide) Error() string { return "the page is wider than the window" }

// Somebody without an account reads what is open: without scripts what the service sends, and with
// them the pages, both on a phone.
func TestOpenDataWithoutAnAccount(t *testing.T) {
	t.Parallel()
	s := open(t, "--anonymous", "on")
	did, sid, files := s.openSet(t)
	script := axe(t)
	closed := s.create(t, "/dataspaces", map[string]string{"name": "lab-two", "title": "Secret lab"})

	plain := s.visit(t)
	plain.scripts(false)
	plain.size(360, 740)
	plain.at("/")
	plain.sees("Open data", "Laser lab")
	plain.seesNot("Secret lab")
	plain.fits()
	plain.follow("Laser lab")
	plain.isAt("/dataspaces/" + did)
	plain.sees("Laser lab", "Runs of 2026")
	plain.fits()
	plain.follow("Runs of 2026")
	plain.isAt("/sets/" + sid)
	plain.sees("What the laser saw.", "Lovelace, Ada", "CC-BY-4.0", "run-1.txt", "9 B", "Download all")
	plain.fits()
	plain.shot("open-set-plain-360")
	plain.scripts(true) // for axe-core; those of the page stay unread
	plain.accessible(script)
	plain.scripts(false)
	plain.follow("run-1.txt")
	plain.isAt("/resources/" + files[0])
	plain.sees("text/plain", "Download 9 B")
	plain.fits()
	if got := get(plain, chromedp.Evaluate[string](`JSON.parse(document.querySelector("script[type='application/ld+json']").text).name`)); got != "run-1.txt" {
		t.Errorf("JSON-LD names %q", got)
	}

	v := s.visit(t)
	v.size(360, 740)
	v.at("/")
	v.sees("Your API key", "Open data", "Laser lab")
	v.seesNot("Secret lab")
	v.fits()
	v.shot("open-home-360")
	v.accessible(script)
	v.follow("Laser lab")
	v.isAt("/dataspaces/" + did)
	v.sees("Laser lab")
	v.unfold("About this dataspace")
	v.sees("open to everybody")
	v.seesNot("Members")
	v.seesNot("History")
	v.follow("Runs of 2026")
	v.sees("What the laser saw.", "run-1.txt")
	v.fits()
	v.shot("open-set-360")
	v.accessible(script)
	v.follow("run-2.txt")
	v.sees("Download", "text/plain", "a user")
	v.until(`document.querySelector(".preview").innerText.includes("run-2.txt")`)
	v.fits()
	v.seesNot("Replace")
	v.at("/dataspaces/" + closed)
	v.sees("Your API key")
	v.seesNot("Secret lab")
	v.at("/dataspaces/nothing")
	v.sees("Your API key")
	s.call(t, "DELETE", "/sets/"+sid, nil)
	v.expect("status of 410")
	v.at("/sets/" + sid)
	v.sees("Runs of 2026", "This was deleted")
	v.seesNot("trash")
	plain.expect("status of 410")
	plain.at("/sets/" + sid)
	plain.sees("This was deleted on")
	v.at("/sets/" + sid)
	v.follow("Sign in")
	v.isAt("/signin?to=%2Fsets%2F" + sid)
	v.signIn(s.Key())
	v.isAt("/sets/" + sid)
	v.sees("This set is in the trash")
}

// Who chooses that everybody may read is told what that means, and whether the service allows it.
func TestChoosingOpen(t *testing.T) {
	t.Parallel()
	for on, hint := range map[string]string{"on": "Anyone on the network can read", "off": "It is visible only with an account until the operator"} {
		t.Run(on, func(t *testing.T) {
			s := open(t, "--anonymous", on)
			did, _ := s.makeSet(t)
			v := s.signedIn(t, s.Key(), "/dataspaces/"+did)
			v.menu("Edit")
			v.seesNot(hint)
			v.do(chromedp.SetValue(chromedp.CSS(`dialog select[name=visibility]`), "open"))
			v.do(chromedp.Evaluate[chromedp.Void](`void document.querySelector("dialog select[name=visibility]").dispatchEvent(new Event("change", {bubbles: true}))`))
			v.sees(hint)
			v.submit()
			v.sees("open to everybody")
		})
	}
}

// Whose session has ended reads what is open as others do, before signing in again.
func TestOpenDataAfterASession(t *testing.T) {
	t.Parallel()
	s := open(t, "--anonymous", "on")
	did, sid, files := s.openSet(t)
	mary := s.person(t, "mary", "member", did)
	v := s.signedIn(t, mary.key, "/account")
	v.at("/sets/" + sid)
	v.sees("run-1.txt", "mary")
	s.revoke(t, mary)
	v.expect("401")
	for _, page := range [][2]string{{"/dataspaces/" + did, "Runs of 2026"}, {"/sets/" + sid, "run-2.txt"}, {"/resources/" + files[0], "run-1.txt"}} {
		v.at(page[0])
		v.sees(page[1], "Sign in")
	}
	v.until(`document.querySelector(".preview .lines .text")`)
}
