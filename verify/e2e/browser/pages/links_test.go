package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// newLink creates a link in the open dialog and returns the address shown.
func newLink(v *browser.Visitor) string {
	v.T.Helper()
	v.Submit()
	v.Sees("it is shown only once")
	address := browser.Get(v, chromedp.Evaluate[string](`document.querySelector("dialog input[readonly]").value`))
	mail := browser.Get(v, chromedp.Evaluate[string](`decodeURIComponent(document.querySelector("dialog a[href^='mailto:']").href)`))
	if !strings.HasPrefix(address, v.Origin+"/s/") || !strings.Contains(mail, "\r\n"+address+"\r\n") {
		v.T.Fatalf("the address is %q, and the mail is %q", address, mail)
	}
	return strings.TrimPrefix(address, v.Origin)
}

// scanned checks that the QR code is not empty, and has the light margin that readers need.
func scanned(v *browser.Visitor) {
	v.T.Helper()
	v.Until(`(() => {
		const box = document.querySelector("dialog svg.qr path").getBBox();
		const size = document.querySelector("dialog svg.qr").viewBox.baseVal.width;
		return size >= 29 && box.x === 4 && box.y === 4 && box.width === size - 8 && box.height === size - 8;
	})()`)
}

// saves downloads the target of a link and returns its content.
func saves(v *browser.Visitor, label, name string) string {
	v.T.Helper()
	folder := v.Downloads()
	v.Follow(label)
	var content []byte
	v.WaitFor(func() (err error) {
		if content, err = os.ReadFile(filepath.Join(folder, name)); err == nil && len(content) == 0 {
			err = fmt.Errorf("%s is empty", name)
		}
		return err
	})
	return string(content)
}

// looks takes screenshots of a page in both themes of the system, and checks that the page is
// accessible and not too wide.
func looks(v *browser.Visitor, name, script string) {
	v.T.Helper()
	for _, theme := range []string{"dark", "light"} {
		v.Theme(theme)
		for _, f := range v.Audit(script) {
			v.T.Errorf("%s in the %s theme: %s: %s\n\t%s", name, theme, f.ID, f.Help, f.Where)
		}
	}
	v.Shots(name)
	v.Size(360, 740)
	fits(v)
}

// An editor shares a folder, and selected files. A visitor on a phone downloads files, enters a
// password, and uploads two files through a request link. The links are listed with their use, and
// stop working when they are revoked.
func TestShareByLinks(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "raw/one.txt", "raw/two.txt", "secret.txt")
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Person(t, "mara", "editor", did).Key, "/sets/"+sid+"?prefix=raw/")
	menuOf(v, "Share", "Make a link …")
	v.Sees("Links of this set")
	v.Fill("Label", "Scans for Bern")
	v.Until(`document.querySelector("dialog input[name=folder]").value === "raw"`)
	looks(v, "link-form", script)
	v.Size(1280, 800)
	folder := newLink(v)
	scanned(v)
	looks(v, "link-new", script)
	v.Size(1280, 800)
	v.Press("Done")
	v.SeesNot(folder)

	outsider := s.Visit(t)
	outsider.Expect("status of 401", "status of 410")
	outsider.Size(360, 740)
	outsider.At(folder)
	outsider.Sees("Scans for Bern", "Shared by mara", "one.txt", "two.txt", "Download all as zip")
	outsider.SeesNot("secret.txt")
	looks(outsider, "link-visit", script)
	if got := saves(outsider, "two.txt", "two.txt"); got != "raw/two.txt" {
		t.Errorf("the download is %q", got)
	}

	v.At("/sets/" + sid)
	v.Press("All files")
	browser.Click(v, chromedp.CSS(`input[aria-label="Select raw/one.txt"]`))
	browser.Click(v, chromedp.CSS(`input[aria-label="Select secret.txt"]`))
	browser.Click(v, chromedp.Search(`//*[contains(@class,"note")]//button[normalize-space()="Share …"]`))
	v.Sees("Share 2 files")
	v.Fill("Password", "kingfisher")
	chosen := newLink(v)
	v.Sees("and the password,")
	v.Press("Done")
	outsider.At(chosen)
	outsider.Sees("A password, please")
	outsider.SeesNot("one.txt")
	looks(outsider, "link-password", script)
	outsider.Fill("Password of this link", "kingfisher")
	outsider.Press("Open")
	outsider.Sees("raw/one.txt", "secret.txt")
	outsider.SeesNot("two.txt")

	v.At("/sets/" + sid)
	menuOf(v, "Share", "Make a link …")
	browser.Click(v, chromedp.CSS(`dialog input[type=radio]:not(:checked)`))
	v.Fill("Label", "Field notes")
	v.Fill("Kinds of files", ".txt")
	v.Fill("Largest file in MB", "1.5")
	request := newLink(v)
	v.Press("Done")
	outsider.Scripts(false)
	outsider.At(request)
	outsider.Sees("Field notes", "mara asks for files", ".txt only")
	outsider.Do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{browser.FileWith(t, "north.txt", "cold"), browser.FileWith(t, "south.txt", "warm")}))
	outsider.Press("Send")
	outsider.Sees("Received, and safe:", "north.txt", "south.txt")
	outsider.Scripts(true)
	looks(outsider, "link-request", script)
	var dropped int
	for _, name := range s.Names(t, sid) {
		if strings.HasPrefix(name, "Field notes/") {
			dropped++
		}
	}
	if dropped != 2 {
		t.Errorf("the set contains %q", s.Names(t, sid))
	}

	v.At("/sets/" + sid)
	menuOf(v, "Share", "Links of this set")
	v.IsAt("/links?setId=" + sid)
	v.Sees("Links of Runs of 2026", "Scans for Bern", "1 download", "Field notes", "2 files, 8 B", "owned by you")
	looks(v, "links", script)
	v.Size(1280, 800)
	v.Press("Change Field notes")
	v.Until(`document.querySelector("dialog input[name=maxFileBytes]").value === "1.5" && document.querySelector("dialog input[name=types]").value === ".txt"`)
	v.Fill("Files at most", "2")
	v.Submit()
	v.Sees("2 of 2 files", "used up")
	v.Press("Revoke Scans for Bern")
	v.Submit()
	v.SeesNot("Scans for Bern")
	v.Choose("Show", "deleted")
	v.Sees("Scans for Bern", "revoked")
	outsider.At(folder)
	outsider.Sees("this link has ended")
	looks(outsider, "link-ended", script)

	admin := s.SignedIn(t, s.Key(), "/")
	admin.Follow("Links")
	admin.Press("Take over Field notes")
	admin.Submit()
	admin.Sees("owned by you")
	admin.Shots("links-admin")
}
