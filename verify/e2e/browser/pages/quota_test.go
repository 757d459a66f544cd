package pages

import (
	"net/http"
	"testing"

	"labshelf/verify/e2e/browser"
)

// A sysadmin sets quotas in forms. From 80 % on, the page Usage and the upload dialog show a
// warning. A file that does not fit is refused with a clear message.
func TestQuota(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	laser := browser.DataspaceWith(t, s, "laser", "Laser lab", 80_000)
	anna := s.Person(t, "anna", "editor", laser.Dataspace)
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+laser.Dataspace)
	menu(v, "Edit")
	v.Fill("Quota in GB", "0.0001")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	v.At("/usage?dataspace=" + laser.Dataspace)
	v.Sees("Quota of this dataspace: 80.0 kB of 100 kB (80 %)", "80 % of this quota are used.", "Ask a sysadmin to purge them, or for a larger quota.")
	v.Shots("quota")
	v.At("/usage")
	v.Sees("quota nearly used up")
	v.At("/users")
	v.Press("Change anna")
	v.Fill("Quota in GB", "0,5")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)

	a := s.SignedIn(t, anna.Key, "/usage", "status of 507")
	a.Sees("Your quota: all versions of your files: 0 B of 500 MB (0 %)")
	a.At("/sets/" + s.Field(t, "/resources/"+laser.Files[0], "setId"))
	a.Sees("Upload files")
	a.Pick("Folder to upload", browser.Folder(t, "fits", map[string]int{"a.bin": 15_000}))
	a.Sees("After this upload 95 % of the quota of this dataspace are used.")
	a.Press("Cancel")
	a.Pick("Folder to upload", browser.Folder(t, "large", map[string]int{"b.bin": 25_000}))
	a.Sees("Not everything fits: the quota of this dataspace has 20.0 kB left.")
	a.Shot("quota-upload")
	a.Submit()
	a.Sees("the dataspace laser holds", "ask a sysadmin for a larger quota")
	a.Shot("quota-refused")

	v.At("/dataspaces/" + laser.Dataspace)
	menu(v, "Edit")
	v.Until(`[...document.querySelectorAll("dialog input")].some((i) => i.value === "0.0001")`)
	v.Fill("Quota in GB", "0")
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	var d struct{ Quota int64 }
	if err := s.Call(t.Context(), http.MethodGet, "/dataspaces/"+laser.Dataspace, nil, &d); err != nil || d.Quota != 0 {
		t.Errorf("after its removal, the quota is %d, %v", d.Quota, err)
	}
}
