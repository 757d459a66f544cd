package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// newLink makes a link in the open dialog and returns its address, as it is shown.
func (v *visitor) newLink() string {
	v.t.Helper()
	v.submit()
	v.sees("it is shown only once")
	address := get(v, chromedp.Evaluate[string](`document.querySelector("dialog input[readonly]").value`))
	mail := get(v, chromedp.Evaluate[string](`decodeURIComponent(document.querySelector("dialog a[href^='mailto:']").href)`))
	if !strings.HasPrefix(address, v.origin+"/s/") || !strings.Contains(mail, "\r\n"+address+"\r\n") {
		v.t.Fatalf("the address is %q, the mail %q", address, mail)
	}
	return strings.TrimPrefix(address, v.origin)
}

// scanned checks that the QR code is not empty, with the light margin that readers need.
func (v *visitor) scanned() {
	v.t.Helper()
	v.until(`(() => {
		const box = document.querySelector("dialog svg.qr path").getBBox();
		const size = document.querySelector("dialog svg.qr").viewBox.baseVal.width;
		return size >= 29 && box.x === 4 && box.y === 4 && box.width === size - 8 && box.height === size - 8;
	})()`)
}

// saves downloads what a link leads to and returns its content.
func (v *visitor) saves(label, name string) string {
	v.t.Helper()
	folder := v.downloads()
	v.follow(label)
	var content []byte
	v.waitFor(func() (err error) {
		if content, err = os.ReadFile(filepath.Join(folder, name)); err == nil && len(content) == 0 {
			err = fmt.Errorf("%s is empty", name)
		}
		return err
	})
	return string(content)
}

// looks takes pictures of a page of visitors in both themes, which that takes from the system, and
// checks that it fits and is accessible.
func (v *visitor) looks(name, script string) {
	v.t.Helper()
	for _, theme := range []string{"dark", "light"} {
		v.theme(theme)
		for _, f := range v.audit(script) {
			v.t.Errorf("%s in the %s theme: %s: %s\n\t%s", name, theme, f.ID, f.Help, f.Where)
		}
	}
	v.shots(name)
	v.size(360, 740)
	v.fits()
}

// An editor shares a folder, and chosen files; an outsider on a phone downloads from it, enters a
// password, and sends two files by a request. The links are listed with their use, and end when
// they are revoked.
func TestShareByLinks(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "raw/one.txt", "raw/two.txt", "secret.txt")
	script := axe(t)
	v := s.signedIn(t, s.person(t, "mara", "editor", did).key, "/sets/"+sid+"?prefix=raw/")
	v.menuOf("Share", "Make a link …")
	v.sees("Links of this set")
	v.fill("Label", "Scans for Bern")
	v.until(`document.querySelector("dialog input[name=folder]").value === "raw"`)
	v.looks("link-form", script)
	v.size(1280, 800)
	folder := v.newLink()
	v.scanned()
	v.looks("link-new", script)
	v.size(1280, 800)
	v.press("Done")
	v.seesNot(folder)

	outsider := s.visit(t)
	outsider.expect("status of 401", "status of 410")
	outsider.size(360, 740)
	outsider.at(folder)
	outsider.sees("Scans for Bern", "Shared by mara", "one.txt", "two.txt", "Download all as zip")
	outsider.seesNot("secret.txt")
	outsider.looks("link-visit", script)
	if got := outsider.saves("two.txt", "two.txt"); got != "raw/two.txt" {
		t.Errorf("the download is %q", got)
	}

	v.at("/sets/" + sid)
	v.press("All files")
	click(v, chromedp.CSS(`input[aria-label="Select raw/one.txt"]`))
	click(v, chromedp.CSS(`input[aria-label="Select secret.txt"]`))
	click(v, chromedp.Search(`//*[contains(@class,"note")]//button[normalize-space()="Share …"]`))
	v.sees("Share 2 files")
	v.fill("Password", "kingfisher")
	chosen := v.newLink()
	v.sees("and the password,")
	v.press("Done")
	outsider.at(chosen)
	outsider.sees("A password, please")
	outsider.seesNot("one.txt")
	outsider.looks("link-password", script)
	outsider.fill("Password of this link", "kingfisher")
	outsider.press("Open")
	outsider.sees("raw/one.txt", "secret.txt")
	outsider.seesNot("two.txt")

	v.at("/sets/" + sid)
	v.menuOf("Share", "Make a link …")
	click(v, chromedp.CSS(`dialog input[type=radio]:not(:checked)`))
	v.fill("Label", "Field notes")
	v.fill("Kinds of files", ".txt")
	v.fill("Largest file in MB", "1.5")
	request := v.newLink()
	v.press("Done")
	outsider.scripts(false)
	outsider.at(request)
	outsider.sees("Field notes", "mara asks for files", ".txt only")
	outsider.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{fileWith(t, "north.txt", "cold"), fileWith(t, "south.txt", "warm")}))
	outsider.press("Send")
	outsider.sees("Received, and safe:", "north.txt", "south.txt")
	outsider.scripts(true)
	outsider.looks("link-request", script)
	var dropped int
	for _, name := range s.names(t, sid) {
		if strings.HasPrefix(name, "Field notes/") {
			dropped++
		}
	}
	if dropped != 2 {
		t.Errorf("the set holds %q", s.names(t, sid))
	}

	v.at("/sets/" + sid)
	v.menuOf("Share", "Links of this set")
	v.isAt("/links?setId=" + sid)
	v.sees("Links of Runs of 2026", "Scans for Bern", "1 download", "Field notes", "2 files, 8 B", "owned by you")
	v.looks("links", script)
	v.size(1280, 800)
	v.press("Change Field notes")
	v.until(`document.querySelector("dialog input[name=maxFileBytes]").value === "1.5" && document.querySelector("dialog input[name=types]").value === ".txt"`)
	v.fill("Files at most", "2")
	v.submit()
	v.sees("2 of 2 files", "used up")
	v.press("Revoke Scans for Bern")
	v.submit()
	v.seesNot("Scans for Bern")
	v.choose("Show", "deleted")
	v.sees("Scans for Bern", "revoked")
	outsider.at(folder)
	outsider.sees("this link has ended")
	outsider.looks("link-ended", script)

	admin := s.signedIn(t, s.Key(), "/")
	admin.follow("Links")
	admin.press("Take over Field notes")
	admin.submit()
	admin.sees("owned by you")
	admin.shots("links-admin")
}
