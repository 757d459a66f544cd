package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What is deleted lies in the trash, and comes back from there.
func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt", "b.txt")[0]
	v := s.visit(t)
	v.at("/resources/" + rid)
	v.signIn(s.Key())
	v.press("Delete")
	v.sees("Delete this file?")
	v.submit()
	v.sees("in the trash")
	v.follow("Trash")
	v.lists("a.txt")
	v.press("Restore a.txt")
	v.sees("No file is in the trash")
	v.at("/sets/" + sid)
	v.lists("a.txt", "b.txt")
}

// replace puts the file at a path in place of the one whose page is open, and agrees to that.
func (v *visitor) replace(path string) {
	v.t.Helper()
	v.pick("File to replace it with", path)
	v.sees("Replace this file?")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
}

// A file is replaced, and what is known of it edited; what the service refuses stands beside the field.
func TestReplaceAndEdit(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	v := s.visit(t)
	v.expect("status of 400", "status of 412") // the preview may still be reading what is replaced
	v.at("/resources/" + rid)
	v.signIn(s.Key())
	v.sees("5 B")
	v.replace(folder(t, "x", map[string]int{"new.dat": 3000}) + "/new.dat")
	v.sees("3.0 kB", "new.dat")
	v.press("Edit")
	v.fill("Description", "calibrated")
	v.fill("Format", "DAT")
	v.submit()
	v.seesNot("Edit details")
	v.sees("calibrated", "DAT")
	v.at("/sets/" + sid)
	v.press("Edit")
	v.fill("Title", "Runs, calibrated")
	v.submit()
	v.until(`document.querySelector("h1").innerText === "Runs, calibrated"`)
	v.follow("Laser lab")
	v.press("New set")
	v.fill("Name", "Not A Name")
	v.submit()
	v.until(`document.querySelector("dialog .error:not(:empty)")`)
	v.until(`document.querySelector("dialog [name=name]").getAttribute("aria-invalid") === "true"`)
}

// An admin gives a colleague access, who may then read; a key is made, shown once and revoked.
func TestAccessAndKeys(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	mary := s.person(t, "mary", "", "")
	v := s.visit(t)
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.follow("Members")
	v.press("Give access")
	v.fill("Person", "nobody-at-all")
	v.expect("status of 404")
	v.submit()
	v.sees("There is nobody of that name")
	v.fill("Person", "mary")
	v.submit()
	v.until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of mary" && s.value === "member")`)
	hers := s.visit(t)
	hers.at("/dataspaces/" + did)
	hers.signIn(mary.key)
	hers.sees("Runs of 2026", "you are member")
	hers.at("/account")
	hers.press("New key")
	hers.fill("Label", "microscope")
	hers.submit()
	hers.sees("It is shown only now")
	key := get(hers, chromedp.Evaluate[string](`document.querySelector(".secret code").innerText`))
	hers.press("I have kept it")
	hers.sees("microscope")
	third := s.visit(t)
	third.at("/")
	third.signIn(key)
	hers.press("Revoke microscope")
	hers.submit()
	hers.until(`[...document.querySelectorAll("tr")].some((row) => /^microscope revoked/.test(row.innerText))`)
	third.at("/account")
	third.sees("Your API key")
	v.press("Remove access of mary")
	v.submit()
	v.seesNot("mary")
}

// A key that has come to its end is listed as such, and not offered to be revoked.
func TestExpiredKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	end := time.Now().Add(3 * time.Second)
	s.call(t, "POST", "/users/me/keys", map[string]string{"label": "visitor", "expires": end.UTC().Format(time.RFC3339Nano)})
	v := s.visit(t)
	v.at("/")
	v.signIn(s.Key())
	time.Sleep(time.Until(end.Add(100 * time.Millisecond)))
	v.at("/account")
	v.until(`[...document.querySelectorAll("tr")].some((row) => /^visitor expired/.test(row.innerText) && !row.querySelector("button"))`)
}
