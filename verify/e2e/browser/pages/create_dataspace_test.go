package browser

import "testing"

// If the service lets all users create dataspaces, so do the pages; the creator is the admin.
func TestUsersCreateDataspaces(t *testing.T) {
	t.Parallel()
	s := open(t, "--dataspaces-by", "users")
	jon := s.person(t, "jon", "", "")
	v := s.signedIn(t, jon.key, "/", "status of 400") // the answer to the request without a name
	v.sees("No dataspaces yet")
	v.press("New dataspace")
	v.until(`document.activeElement.name === "name"`)
	v.fill("Name", "jon-lab")
	v.submit()
	v.sees("you are admin", "New set")
	v.until(`document.querySelector("h1").innerText === "jon-lab"`)
	v.follow("Dataspaces")
	v.lists("jon-lab") // the request without a name created nothing
}

// If only sysadmins create dataspaces, the page says so before it shows a form. An unreachable
// service is an error, not a refusal.
func TestOnlySysadminsCreateDataspaces(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	jon := s.person(t, "jon", "admin", did)
	v := s.signedIn(t, jon.key, "/", "status of 403", "ERR_BLOCKED_BY_CLIENT")
	v.press("New dataspace")
	v.sees("Only sysadmins can create dataspaces", "Your username is jon.")
	v.until(`!document.querySelector("dialog input")`)
	v.shot("new-dataspace-refused")
	v.press("Close")
	v.until(`!document.querySelector("dialog")`)
	v.cut(s.Base() + "/dataspaces")
	v.press("New dataspace")
	v.sees("cannot be reached")
	v.until(`!document.querySelector("dialog input")`)
	v.shot("new-dataspace-unreachable")
}
