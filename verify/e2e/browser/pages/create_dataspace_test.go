package pages

import (
	"testing"

	"labshelf/verify/e2e/browser"
)

// If the service lets all users create dataspaces, the pages do, too. The creator becomes the
// admin.
func TestUsersCreateDataspaces(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--dataspaces-by", "users")
	jon := s.Person(t, "jon", "", "")
	v := s.SignedIn(t, jon.Key, "/", "status of 400") // the answer to the request without a name
	v.Sees("No dataspaces yet")
	v.Press("New dataspace")
	v.Until(`document.activeElement.name === "name"`)
	v.Fill("Name", "jon-lab")
	v.Submit()
	v.Sees("you are admin", "New set")
	v.Until(`document.querySelector("h1").innerText === "jon-lab"`)
	v.Follow("Dataspaces")
	v.Lists("jon-lab") // the request without a name created nothing
}

// If only sysadmins create dataspaces, the page says so before it shows a form. An unreachable
// service is an error, not a refusal.
func TestOnlySysadminsCreateDataspaces(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	jon := s.Person(t, "jon", "admin", did)
	v := s.SignedIn(t, jon.Key, "/", "status of 403", "ERR_BLOCKED_BY_CLIENT")
	v.Press("New dataspace")
	v.Sees("Only sysadmins can create dataspaces", "Your username is jon.")
	v.Until(`!document.querySelector("dialog input")`)
	v.Shot("new-dataspace-refused")
	v.Press("Close")
	v.Until(`!document.querySelector("dialog")`)
	v.Cut(s.Base() + "/dataspaces")
	v.Press("New dataspace")
	v.Sees("cannot be reached")
	v.Until(`!document.querySelector("dialog input")`)
	v.Shot("new-dataspace-unreachable")
}
