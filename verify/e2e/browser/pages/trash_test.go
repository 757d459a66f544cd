package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// settled waits until the buttons of all rows are loaded.
func (v *visitor) settled() {
	v.t.Helper()
	v.until(`document.querySelector(".list[aria-busy=false] .body .row")`)
	v.until(`![...document.querySelectorAll(".list .body .row [role=cell]")].some((cell) => cell.innerText.trim() === "…")`)
}

// restorable returns the labels of the buttons that restore records, in order.
func (v *visitor) restorable() string {
	v.t.Helper()
	return get(v, chromedp.Evaluate[string](
		`[...document.querySelectorAll("main button")].map((b) => b.textContent.trim()).filter((text) => text.startsWith("Restore")).join()`))
}

// A deleted file is in the trash and can be restored from there.
func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt", "b.txt")[0]
	v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 410") // of what the page asks for just then
	v.menu("Delete")
	v.sees("Delete this file?")
	v.submit()
	v.sees("in the trash")
	v.follow("Trash")
	v.lists("a.txt")
	v.press("Restore a.txt")
	v.sees("No files in the trash")
	v.at("/sets/" + sid)
	v.lists("a.txt", "b.txt")
}

// The trash offers to restore only what the user may restore.
func TestTrashOffersPermittedRestores(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	other := s.create(t, "/dataspaces", map[string]string{"name": "lab-two"})
	theirs := s.create(t, "/sets", map[string]string{"name": "theirs", "dataspaceId": other})
	gone := s.create(t, "/dataspaces", map[string]string{"name": "gone"})
	mary := s.person(t, "mary", "editor", did)
	for dataspaceID, role := range map[string]string{other: "member", gone: "admin"} {
		s.call(t, "POST", "/privileges", map[string]string{"userId": mary.id, "dataspaceId": dataspaceID, "role": role})
	}
	s.call(t, "DELETE", "/resources/"+s.put(t, theirs, "theirs.txt")[0], nil)
	s.call(t, "DELETE", "/resources/"+s.put(t, sid, "hers.txt")[0], nil)
	s.call(t, "DELETE", "/sets/"+theirs, nil)
	s.call(t, "DELETE", "/dataspaces/"+gone, nil)
	v := s.signedIn(t, mary.key, "/trash")
	v.lists("hers.txt", "theirs.txt")
	v.settled()
	if got := v.restorable(); got != "Restore hers.txt" {
		t.Errorf("of the files an editor of one and member of the other dataspace is offered: %q", got)
	}
	v.follow("Sets")
	v.lists("theirs")
	v.settled()
	if got := v.restorable(); got != "" {
		t.Errorf("of the sets a member is offered: %q", got)
	}
	v.follow("Dataspaces")
	v.lists("gone")
	v.settled()
	if got := v.restorable(); got != "Restore gone" {
		t.Errorf("of the dataspaces an admin is offered: %q", got)
	}
	v.press("Restore gone")
	v.sees("No dataspaces in the trash")
	s.call(t, "DELETE", "/dataspaces/"+did, nil)
	v.at("/trash?view=dataspaces")
	v.lists("Laser lab")
	v.settled()
	if got := v.restorable(); got != "" {
		t.Errorf("of the dataspaces an editor is offered: %q", got)
	}
	v.at("/sets/" + sid)
	v.sees("Restore its dataspace Laser lab first. Only its admins can restore it.")
}

// A record in a deleted container can be restored only after the container, to which a link leads.
func TestRestoreContainerFirst(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	rid := s.put(t, sid, "a.txt")[0]
	for _, path := range []string{"/resources/" + rid, "/sets/" + sid, "/dataspaces/" + did} { // each separately, so that none is restored with another
		s.call(t, "DELETE", path, nil)
	}
	v := s.signedIn(t, s.Key(), "/trash")
	v.settled()
	v.sees("Restore its dataspace first")
	v.shot("trash-above")
	v.size(360, 740)
	v.shot("trash-above-360")
	v.size(1280, 800)
	v.at("/sets/" + sid)
	v.sees("Restore its dataspace Laser lab first")
	v.shot("set-above")
	v.at("/resources/" + rid)
	v.sees("Restore its dataspace Laser lab first")
	if got := v.restorable(); got != "" {
		t.Errorf("in a deleted dataspace is offered: %q", got)
	}
	click(v, chromedp.CSS(`main .title .actions a[href="/dataspaces/`+did+`"]`))
	v.isAt("/dataspaces/" + did)
	v.press("Restore")
	v.sees("New set")
	v.at("/resources/" + rid)
	v.sees("Restore its set Runs of 2026 first")
	v.follow("Trash")
	v.settled()
	v.sees("Restore its set first")
	if got := v.restorable(); got != "" {
		t.Errorf("in a deleted set is offered: %q", got)
	}
	click(v, chromedp.Search(`//*[contains(@class,"trash")]//a[normalize-space()="set"]`))
	v.isAt("/sets/" + sid)
	v.press("Restore")
	v.sees("Upload files")
	v.follow("Trash")
	v.press("Restore a.txt")
	v.sees("No files in the trash")
	s.holds(t, sid, []string{"a.txt"})
}

// A set without active files offers no download. A deleted set lists the files that were deleted
// with it and are restored with it.
func TestEmptySetHasNoDownload(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	offered := func(is bool) string {
		return fmt.Sprintf(`!document.querySelector(".waiting") && ((more) => (more.ariaExpanded === "true" || more.click(),
			[...document.querySelectorAll("main [role=menuitem]")].some((a) => a.innerText.trim() === "Download all") === %t))(document.querySelector("main [aria-label='More actions']"))`, is)
	}
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.sees("This set is empty")
	v.until(offered(false))
	v.pick("Files to upload", folder(t, "x", map[string]int{"a.txt": 5})+"/a.txt")
	v.submit()
	v.lists("a.txt")
	v.until(offered(true))
	v.toggle("a.txt")
	v.deleteSelected()
	v.submit()
	v.sees("This set is empty")
	v.until(offered(false))
	s.put(t, sid, "b.txt", "c.txt")
	s.call(t, "DELETE", "/sets/"+sid, nil)
	v.at("/sets/" + sid)
	v.sees("This set is in the trash")
	v.lists("a.txt", "b.txt", "c.txt")
	v.until(offered(false))
	v.shot("deleted-set")
	v.choose("Show", "active")
	v.sees("No matches")
	v.choose("Show", "deleted")
	v.press("Restore")
	v.lists("b.txt", "c.txt")
	v.until(offered(true))
	s.call(t, "DELETE", "/dataspaces/"+did, nil)
	v.at("/dataspaces/" + did)
	v.sees("Runs of 2026 deleted")
	v.follow("Files of all sets")
	v.until(`/b\.txt\s+deleted/.test(document.body.innerText)`)
}
