package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// A sign-in link, such as "labshelf demo" prints, switches to another user only after confirmation.
func TestLinkOfAnotherUserNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.signedIn(t, mary.key, "/")
	v.sees("Secret lab")
	for _, path := range []string{"/signin#", "/docs#", "/#"} { // the last one keeps the document
		v.at(path + jon.key)
		v.sees("You are signed in as mary", "signs you in as jon")
		v.until(`!location.href.includes("lsk_")`)
		v.shot("sign-in-as-another")
		v.press("Stay signed in as mary")
		v.seesNot("signs you in as jon")
		if path != "/docs#" {
			v.until(listCount("2 dataspaces"))
		}
		v.at("/")
		v.until(listCount("2 dataspaces"))
	}
	v.at("/signin#" + jon.key)
	v.press("Sign in as jon")
	v.until(listCount("1 dataspace"))
	v.seesNot("Secret lab")
	v.at("/signin#" + jon.key) // a key of the same user changes nothing
	v.until(listCount("1 dataspace"))
	v.at("/signin#lsk_nobodys")
	v.sees("You are signed in as jon", "Stay signed in as jon")
	v.until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.press("Stay signed in as jon")
	v.until(listCount("1 dataspace"))
}

// Without a session the link signs in at once.
func TestLinkSignsIn(t *testing.T) {
	t.Parallel()
	s, _, jon, _ := twoDataspaces(t)
	v := s.visit(t)
	v.at("/signin#" + jon.key)
	v.sees("jon")
	v.until(listCount("1 dataspace") + ` && !location.href.includes("lsk_")`)
}

// The question mentions uploads of other windows, which continue if the user does not switch.
func TestLinkDuringUploadInAnotherTab(t *testing.T) {
	t.Parallel()
	s := open(t).inTabs(t)
	did, sid := s.makeSet(t)
	mary, jon := s.person(t, "mary", "editor", did), s.person(t, "jon", "member", did)
	path := filepath.Join(folder(t, "x", map[string]int{"large.bin": 24 << 20}), "large.bin")
	v := s.signedIn(t, mary.key, "/sets/"+sid)
	v.sees("This set is empty")
	v.slow(2<<20, 0)
	v.pick("Files to upload", path)
	v.submit()
	s.arrives(t, 1<<20)
	other := v.tab()
	other.at("/signin#" + jon.key)
	other.sees("signs you in as jon", "1 file of mary is still being uploaded")
	other.shot("sign-in-during-upload")
	other.press("Stay signed in as mary")
	other.sees("Laser lab")
	v.front()
	v.slow(-1, 0)
	v.sees("All done", "1 sent")
	s.holdsFile(t, sid, path)
	v.until(`document.querySelector(".me").innerText.trim() === "mary"`)
}

// The question is also asked in the window that is uploading, whose document stays.
func TestLinkDuringUpload(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	mary, jon := s.person(t, "mary", "editor", did), s.person(t, "jon", "member", did)
	path := filepath.Join(folder(t, "x", map[string]int{"large.bin": 24 << 20}), "large.bin")
	v := s.signedIn(t, mary.key, "/sets/"+sid)
	v.sees("This set is empty")
	v.slow(2<<20, 0)
	v.pick("Files to upload", path)
	v.submit()
	s.arrives(t, 1<<20)
	v.do(chromedp.Evaluate[chromedp.Void]("void (location.hash = " + `"` + jon.key + `"` + ")"))
	v.sees("signs you in as jon", "1 file of mary is still being uploaded")
	v.press("Stay signed in as mary")
	v.slow(-1, 0)
	v.sees("All done", "1 sent")
	s.holdsFile(t, sid, path)
}
