package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// settled waits until the buttons of all rows are loaded.
func settled(v *browser.Visitor) {
	v.T.Helper()
	v.Until(`document.querySelector(".list[aria-busy=false] .body .row")`)
	v.Until(`![...document.querySelectorAll(".list .body .row [role=cell]")].some((cell) => cell.innerText.trim() === "…")`)
}

// restorable returns the labels of the buttons that restore records, in order.
func restorable(v *browser.Visitor) string {
	v.T.Helper()
	return browser.Get(v, chromedp.Evaluate[string](
		`[...document.querySelectorAll("main button")].map((b) => b.textContent.trim()).filter((text) => text.startsWith("Restore")).join()`))
}

// A deleted file is in the trash and can be restored from it.
func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt", "b.txt")[0]
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 410") // for requests that the page is just sending
	menu(v, "Delete")
	v.Sees("Delete this file?")
	v.Submit()
	v.Sees("in the trash")
	v.Follow("Trash")
	v.Lists("a.txt")
	v.Press("Restore a.txt")
	v.Sees("No files in the trash")
	v.At("/sets/" + sid)
	v.Lists("a.txt", "b.txt")
}

// The trash offers to restore only records that the user may restore.
func TestTrashOffersPermittedRestores(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	other := s.Create(t, "/dataspaces", map[string]string{"name": "lab-two"})
	theirs := s.Create(t, "/sets", map[string]string{"name": "theirs", "dataspaceId": other})
	gone := s.Create(t, "/dataspaces", map[string]string{"name": "gone"})
	mary := s.Person(t, "mary", "editor", did)
	for dataspaceID, role := range map[string]string{other: "member", gone: "admin"} {
		s.Do(t, "POST", "/privileges", map[string]string{"userId": mary.ID, "dataspaceId": dataspaceID, "role": role})
	}
	s.Do(t, "DELETE", "/resources/"+s.Put(t, theirs, "theirs.txt")[0], nil)
	s.Do(t, "DELETE", "/resources/"+s.Put(t, sid, "hers.txt")[0], nil)
	s.Do(t, "DELETE", "/sets/"+theirs, nil)
	s.Do(t, "DELETE", "/dataspaces/"+gone, nil)
	v := s.SignedIn(t, mary.Key, "/trash")
	v.Lists("hers.txt", "theirs.txt")
	settled(v)
	if got := restorable(v); got != "Restore hers.txt" {
		t.Errorf("the offers for files to an editor of one dataspace and member of the other are %q", got)
	}
	v.Follow("Sets")
	v.Lists("theirs")
	settled(v)
	if got := restorable(v); got != "" {
		t.Errorf("the offers for sets to a member are %q", got)
	}
	v.Follow("Dataspaces")
	v.Lists("gone")
	settled(v)
	if got := restorable(v); got != "Restore gone" {
		t.Errorf("the offers for dataspaces to an admin are %q", got)
	}
	v.Press("Restore gone")
	v.Sees("No dataspaces in the trash")
	s.Do(t, "DELETE", "/dataspaces/"+did, nil)
	v.At("/trash?view=dataspaces")
	v.Lists("Laser lab")
	settled(v)
	if got := restorable(v); got != "" {
		t.Errorf("the offers for dataspaces to an editor are %q", got)
	}
	v.At("/sets/" + sid)
	v.Sees("Restore its dataspace Laser lab first. Only its admins can restore it.")
}

// A record in a deleted container can be restored only after the container. The page links to the
// container.
func TestRestoreContainerFirst(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := s.Put(t, sid, "a.txt")[0]
	for _, path := range []string{"/resources/" + rid, "/sets/" + sid, "/dataspaces/" + did} { // each separately, so that none is restored with its container
		s.Do(t, "DELETE", path, nil)
	}
	v := s.SignedIn(t, s.Key(), "/trash")
	settled(v)
	v.Sees("Restore its dataspace first")
	v.Shot("trash-above")
	v.Size(360, 740)
	v.Shot("trash-above-360")
	v.Size(1280, 800)
	v.At("/sets/" + sid)
	v.Sees("Restore its dataspace Laser lab first")
	v.Shot("set-above")
	v.At("/resources/" + rid)
	v.Sees("Restore its dataspace Laser lab first")
	if got := restorable(v); got != "" {
		t.Errorf("the offers in a deleted dataspace are %q", got)
	}
	browser.Click(v, chromedp.CSS(`main .title .actions a[href="/dataspaces/`+did+`"]`))
	v.IsAt("/dataspaces/" + did)
	v.Press("Restore")
	v.Sees("New set")
	v.At("/resources/" + rid)
	v.Sees("Restore its set Runs of 2026 first")
	v.Follow("Trash")
	settled(v)
	v.Sees("Restore its set first")
	if got := restorable(v); got != "" {
		t.Errorf("the offers in a deleted set are %q", got)
	}
	browser.Click(v, chromedp.Search(`//*[contains(@class,"trash")]//a[normalize-space()="set"]`))
	v.IsAt("/sets/" + sid)
	v.Press("Restore")
	v.Sees("Upload files")
	v.Follow("Trash")
	v.Press("Restore a.txt")
	v.Sees("No files in the trash")
	s.Holds(t, sid, []string{"a.txt"})
}

// A set without active files offers no download. A deleted set lists the files that were deleted
// with it, and that will be restored with it.
func TestEmptySetHasNoDownload(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	offered := func(is bool) string {
		return fmt.Sprintf(`!document.querySelector(".waiting") && ((more) => (more.ariaExpanded === "true" || more.click(),
			[...document.querySelectorAll("main [role=menuitem]")].some((a) => a.innerText.trim() === "Download all") === %t))(document.querySelector("main [aria-label='More actions']"))`, is)
	}
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Sees("This set is empty")
	v.Until(offered(false))
	v.Pick("Files to upload", browser.Folder(t, "x", map[string]int{"a.txt": 5})+"/a.txt")
	v.Submit()
	v.Lists("a.txt")
	v.Until(offered(true))
	toggle(v, "a.txt")
	deleteSelected(v)
	v.Submit()
	v.Sees("This set is empty")
	v.Until(offered(false))
	s.Put(t, sid, "b.txt", "c.txt")
	s.Do(t, "DELETE", "/sets/"+sid, nil)
	v.At("/sets/" + sid)
	v.Sees("This set is in the trash")
	v.Lists("a.txt", "b.txt", "c.txt")
	v.Until(offered(false))
	v.Shot("deleted-set")
	v.Choose("Show", "active")
	v.Sees("No matches")
	v.Choose("Show", "deleted")
	v.Press("Restore")
	v.Lists("b.txt", "c.txt")
	v.Until(offered(true))
	s.Do(t, "DELETE", "/dataspaces/"+did, nil)
	v.At("/dataspaces/" + did)
	v.Sees("Runs of 2026 deleted")
	v.Follow("Files of all sets")
	v.Until(`/b\.txt\s+deleted/.test(document.body.innerText)`)
}
