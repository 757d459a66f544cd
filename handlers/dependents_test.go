package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/repository"
)

// dependents returns the kinds of the objects that depend on a key, and the number of its sessions.
func (m *maker) dependents(of *client) string {
	m.t.Helper()
	o := m.get("/users/" + m.user.id + "/keys/" + m.keys[of] + "/dependents").want(http.StatusOK).object()
	var kinds []string
	for _, d := range o["data"].([]any) {
		kinds = append(kinds, object(d.(map[string]any)).text("kind"))
	}
	slices.Sort(kinds)
	same(m.t, "count", fmt.Sprint(o["count"]), fmt.Sprint(len(kinds)))
	return strings.Join(kinds, " ") + fmt.Sprintf(", %v sessions", o["sessions"])
}

// TestKeysExpireWithTheirCreator tests that a key that users create for themselves expires with
// the key of the request, and cannot expire later.
func TestKeysExpireWithTheirCreator(t *testing.T) {
	t.Parallel()
	m := newMaker(t, repository.Config{}, nil)
	end := m.key.get("/users/me/keys").data()[2].text("expires")
	at, err := time.Parse(time.RFC3339, end)
	if err != nil {
		t.Fatal(err)
	}
	create := func(c *client, headers []string, fields object) *answer {
		return c.send("POST", "/users/me/keys", fields, headers...)
	}
	for _, by := range []struct {
		c       *client
		headers []string
	}{{m.key, nil}, {m.grandchild, nil}, {m.withKey(""), []string{m.cookie}}} {
		made := create(by.c, by.headers, object{}).want(http.StatusCreated).object()
		same(t, "the end of one without an end", made.text("expires"), end)
		create(by.c, by.headers, object{"expires": at.Format(time.RFC3339)}).want(http.StatusCreated)
		late := create(by.c, by.headers, object{"expires": at.Add(time.Second).Format(time.RFC3339)}).problem(http.StatusBadRequest, "invalid_field", "expires")
		same(t, "the rule is named", late.has("must not be later than"), true)
	}
	same(t, "a key created by a sysadmin", m.send("POST", "/users/"+m.user.id+"/keys", object{"expires": "2999"}).want(http.StatusCreated).object().text("madeWith"), "")
	link := m.key.send("POST", "/links", object{"kind": "share", "setId": m.set, "expires": "2999"}).want(http.StatusCreated).object()
	same(t, "the end that a link shows", link.text("expires"), end)
}

// TestDependentsAreKept tests that the objects created with a key can survive the replacement of
// the key. They then depend on its parent.
func TestDependentsAreKept(t *testing.T) {
	t.Parallel()
	m := newMaker(t, repository.Config{}, nil)
	const made = "invitation key key request share webhook, 1 sessions"
	same(t, "of the key", m.dependents(m.key), made)
	same(t, "of its parent", m.dependents(m.parent), strings.Replace(made, "key key", "key key key", 1))
	revoke := func(of *client, query string) *answer {
		return m.bad("DELETE", "/users/"+m.user.id+"/keys/"+m.keys[of]+query, nil)
	}
	revoke(m.key, "?dependents=x").problem(http.StatusBadRequest, "invalid_parameter", "dependents")
	revoke(m.key, "?dependents=keep").want(http.StatusNoContent)
	m.key.get("/users/me").want(http.StatusUnauthorized)
	same(t, "of a revoked key", m.dependents(m.key), ", 0 sessions")
	same(t, "of its parent, afterwards", m.dependents(m.parent), strings.Replace(made, "1 s", "0 s", 1))
	for what, ask := range m.probes() {
		kept := !slices.Contains([]string{"key", "session", "drive", "tus"}, what)
		if a := ask(); (a.status < 300) != kept {
			t.Errorf("%s, kept should be %v: %s", what, kept, a.short())
		}
	}
	same(t, "the kept link is the parent's", m.get("/links/"+m.share.id).object().text("madeWith"), m.keys[m.parent])
	same(t, "its end stays", m.get("/links/"+m.share.id).object().text("expires") != "", true)
	same(t, "the webhook is as it was", m.get("/webhooks/"+m.hook).object().text("state"), "active")
	revoke(m.parent, "?dependents=end").want(http.StatusNoContent)
	for what, ask := range m.probes() {
		if a := ask(); a.status < 300 {
			t.Errorf("%s, in the end: %s", what, a.short())
		}
	}
	causes := map[string]int{}
	entries := m.get("/audit?order=newest&limit=20").data()
	last := slices.IndexFunc(entries, func(e object) bool { return e.text("action") == "key.revoke" && e["cause"] == nil })
	for _, e := range entries[:last] {
		same(t, "the cause of "+e.text("action"), fmt.Sprint(e["cause"]), fmt.Sprint(entries[last]["number"]))
		causes[e.text("action")]++
	}
	same(t, "entries", fmt.Sprint(causes), "map[key.revoke:2 link.revoke:3 webhook.pause:1]")
}

// TestObjectsSurviveSysadminsKey tests that revoking a sysadmin's key ends neither objects that the
// sysadmin has created for other users, nor invited users.
func TestObjectsSurviveSysadminsKey(t *testing.T) {
	t.Parallel()
	m := newMaker(t, repository.Config{}, object{"sysadmin": true})
	other := m.key.newUser(nil)
	guest := m.invitation.ask("POST", "", object{"username": m.name("guest")}).want(http.StatusCreated).object().text("key")
	m.key.send("DELETE", "/users/me/keys/"+m.keys[m.key], nil).want(http.StatusNoContent)
	other.get("/users/me").want(http.StatusOK)
	m.withKey(guest).get("/users/me").want(http.StatusOK)
}

// TestLinkIsTakenOverWithAnotherKey tests that a link depends on the key that last took it over.
func TestLinkIsTakenOverWithAnotherKey(t *testing.T) {
	t.Parallel()
	m := newMaker(t, repository.Config{}, nil)
	m.user.send("POST", "/links/"+m.share.id+"/take", nil).want(http.StatusOK)
	m.key.send("DELETE", "/users/me/keys/"+m.keys[m.key], nil).want(http.StatusNoContent)
	m.share.ask("GET", "/files/"+m.shared, nil).want(http.StatusOK)
	m.request.ask("GET", "", nil).problem(http.StatusGone, "link_ended", "")
}
