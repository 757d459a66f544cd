package browser

import (
	"net/http"
	"testing"
)

// A sysadmin sets quotas in forms; from 80 % on the page Usage and the upload dialog warn, and a
// file that does not fit is refused in plain words.
func TestQuota(t *testing.T) {
	t.Parallel()
	s := open(t)
	laser := dataspaceWith(t, s, "laser", "Laser lab", 80_000)
	anna := s.person(t, "anna", "editor", laser.dataspace)
	v := s.signedIn(t, s.Key(), "/dataspaces/"+laser.dataspace)
	v.menu("Edit")
	v.fill("Quota in GB", "0.0001")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	v.at("/usage?dataspace=" + laser.dataspace)
	v.sees("Quota of this dataspace: 80.0 kB of 100 kB (80 %)", "80 % of this quota are used.", "Ask a sysadmin for that, or for a larger quota.")
	v.shots("quota")
	v.at("/usage")
	v.sees("quota nearly used up")
	v.at("/users")
	v.press("Change anna")
	v.fill("Quota in GB", "0,5")
	v.submit()
	v.until(`!document.querySelector("dialog")`)

	a := s.signedIn(t, anna.key, "/usage", "status of 507")
	a.sees("Your quota: all versions of your files: 0 B of 500 MB (0 %)")
	a.at("/sets/" + s.field(t, "/resources/"+laser.files[0], "setId"))
	a.sees("Upload files")
	a.pick("Folder to upload", folder(t, "fits", map[string]int{"a.bin": 15_000}))
	a.sees("After this upload 95 % of the quota of this dataspace are used.")
	a.press("Cancel")
	a.pick("Folder to upload", folder(t, "large", map[string]int{"b.bin": 25_000}))
	a.sees("Not everything fits: the quota of this dataspace has 20.0 kB left.")
	a.shot("quota-upload")
	a.submit()
	a.sees("the dataspace laser holds", "ask a sysadmin for a larger quota")
	a.shot("quota-refused")

	v.at("/dataspaces/" + laser.dataspace)
	v.menu("Edit")
	v.until(`[...document.querySelectorAll("dialog input")].some((i) => i.value === "0.0001")`)
	v.fill("Quota in GB", "0")
	v.submit()
	v.until(`!document.querySelector("dialog")`)
	var d struct{ Quota int64 }
	if err := s.Call(t.Context(), http.MethodGet, "/dataspaces/"+laser.dataspace, nil, &d); err != nil || d.Quota != 0 {
		t.Errorf("without a quota it is %d, %v", d.Quota, err)
	}
}
