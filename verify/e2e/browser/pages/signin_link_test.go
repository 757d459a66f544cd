package pages

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A sign-in link, as "labshelf demo" prints it, switches to another user only after a confirmation.
func TestLinkOfAnotherUserNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s, mary, jon, _ := twoDataspaces(t)
	v := s.SignedIn(t, mary.Key, "/")
	v.Sees("Secret lab")
	for _, path := range []string{"/signin#", "/docs#", "/#"} { // the last path keeps the document
		v.At(path + jon.Key)
		v.Sees("You are signed in as mary", "signs you in as jon")
		v.Until(`!location.href.includes("lsk_")`)
		v.Shot("sign-in-as-another")
		v.Press("Stay signed in as mary")
		v.SeesNot("signs you in as jon")
		if path != "/docs#" {
			v.Until(listCount("2 dataspaces"))
		}
		v.At("/")
		v.Until(listCount("2 dataspaces"))
	}
	v.At("/signin#" + jon.Key)
	v.Press("Sign in as jon")
	v.Until(listCount("1 dataspace"))
	v.SeesNot("Secret lab")
	v.At("/signin#" + jon.Key) // a key of the same user changes nothing
	v.Until(listCount("1 dataspace"))
	v.At("/signin#lsk_nobodys")
	v.Sees("You are signed in as jon", "Stay signed in as jon")
	v.Until(`document.querySelector("[role=alert]:not(:empty)") !== null`)
	v.Press("Stay signed in as jon")
	v.Until(listCount("1 dataspace"))
}

// Without a session, the link signs in immediately.
func TestLinkSignsIn(t *testing.T) {
	t.Parallel()
	s, _, jon, _ := twoDataspaces(t)
	v := s.Visit(t)
	v.At("/signin#" + jon.Key)
	v.Sees("jon")
	v.Until(listCount("1 dataspace") + ` && !location.href.includes("lsk_")`)
}

// The confirmation mentions uploads in other windows, which continue if the user does not switch.
func TestLinkDuringUploadInAnotherTab(t *testing.T) {
	t.Parallel()
	s := browser.Open(t).InTabs(t)
	did, sid := s.NewSet(t)
	mary, jon := s.Person(t, "mary", "editor", did), s.Person(t, "jon", "member", did)
	path := filepath.Join(browser.Folder(t, "x", map[string]int{"large.bin": 24 << 20}), "large.bin")
	v := s.SignedIn(t, mary.Key, "/sets/"+sid)
	v.Sees("This set is empty")
	v.Slow(2<<20, 0)
	v.Pick("Files to upload", path)
	v.Submit()
	s.Arrives(t, 1<<20)
	other := v.Tab()
	other.At("/signin#" + jon.Key)
	other.Sees("signs you in as jon", "1 file of mary is still being uploaded")
	other.Shot("sign-in-during-upload")
	other.Press("Stay signed in as mary")
	other.Sees("Laser lab")
	v.Front()
	v.Slow(-1, 0)
	v.Sees("All done", "1 sent")
	s.HoldsFile(t, sid, path)
	v.Until(`document.querySelector(".me").innerText.trim() === "mary"`)
}

// The confirmation is also shown in the window that uploads, whose document stays.
func TestLinkDuringUpload(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	mary, jon := s.Person(t, "mary", "editor", did), s.Person(t, "jon", "member", did)
	path := filepath.Join(browser.Folder(t, "x", map[string]int{"large.bin": 24 << 20}), "large.bin")
	v := s.SignedIn(t, mary.Key, "/sets/"+sid)
	v.Sees("This set is empty")
	v.Slow(2<<20, 0)
	v.Pick("Files to upload", path)
	v.Submit()
	s.Arrives(t, 1<<20)
	v.Do(chromedp.Evaluate[chromedp.Void]("void (location.hash = " + `"` + jon.Key + `"` + ")"))
	v.Sees("signs you in as jon", "1 file of mary is still being uploaded")
	v.Press("Stay signed in as mary")
	v.Slow(-1, 0)
	v.Sees("All done", "1 sent")
	s.HoldsFile(t, sid, path)
}
