package browser

import "testing"

// Where the service lets everybody make dataspaces, so do the pages; whoever makes one is its admin.
func TestUsersMakeDataspaces(t *testing.T) {
	t.Parallel()
	s := open(t, "--dataspaces-by", "users")
	jon := s.person(t, "jon", "", "")
	v := s.visit(t)
	v.expect("status of 400") // so the service answers whoever may, but says no name
	v.at("/")
	v.signIn(jon.key)
	v.sees("There is no dataspace for you yet")
	v.press("New dataspace")
	v.until(`document.activeElement.name === "name"`)
	v.fill("Name", "jon-lab")
	v.submit()
	v.sees("you are admin", "New set")
	v.until(`document.querySelector("h1").innerText === "jon-lab"`)
	v.follow("Dataspaces")
	v.lists("jon-lab") // and nothing by the question who may
}

// Where only sysadmins make dataspaces the service is asked before anything is typed, and the visitor told what to do. A service that
// cannot say it is no refusal.
func TestSysadminsMakeDataspaces(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	jon := s.person(t, "jon", "admin", did)
	v := s.visit(t)
	v.expect("status of 403", "ERR_BLOCKED_BY_CLIENT")
	v.at("/")
	v.signIn(jon.key)
	v.press("New dataspace")
	v.sees("lets only sysadmins make dataspaces", "Your user name is jon.")
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
