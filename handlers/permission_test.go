package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/handlers"
	"labshelf/repository"
)

// callers are the columns of the permission table: how each is made around a dataspace.
func callers() map[string]func(f *fixture) *client {
	member := func(role string) func(*fixture) *client {
		return func(f *fixture) *client { return f.newMember(role) }
	}
	stranger := func(f *fixture) *client { return f.newUser(nil) }
	return map[string]func(f *fixture) *client{
		"nobody": func(f *fixture) *client {
			unknown := f.newUser(nil)
			unknown.key = ""
			return unknown
		},
		"none": stranger, "public": stranger, "member": member("member"), "editor": member("editor"), "admin": member("admin"),
		"sysadmin": func(f *fixture) *client { return f.newUser(object{"sysadmin": true}) },
	}
}

// TestPermissions tries every operation as everybody: allowed, or 403 (401 without a key) and nothing changed.
func TestPermissions(t *testing.T) {
	t.Parallel()
	table := operations()
	var named []string
	for _, op := range table {
		named = append(named, op.id)
	}
	slices.Sort(named)
	if diff := cmp.Diff(suite.operationIDs(), slices.Compact(named)); diff != "" {
		t.Fatalf("the permission table has other operations than the document (-document +table)\n%s", diff)
	}
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	for name, newCaller := range callers() {
		t.Run(name, func(t *testing.T) {
			fields := object{}
			if name == "public" {
				fields["visibility"] = "public"
			}
			f := own.on(t).newFixture(fields)
			caller := newCaller(f)
			for _, op := range table {
				before := f.dump()
				a := f.try(caller, op)
				if after := f.dump(); a.status >= 300 && after != before {
					t.Errorf("%s: refused, and yet something has changed:\n%s\nbefore:\n%s", op.id, after, before)
				}
				switch {
				case slices.Contains(strings.Fields(op.allow), name):
					if a.status >= 300 {
						t.Errorf("%s: refused with %s", op.id, a.short())
					}
				case name == "nobody":
					a.problem(http.StatusUnauthorized, "unauthenticated", "")
					same(t, op.id+": WWW-Authenticate", a.header.Get("WWW-Authenticate"), `Bearer realm="labshelf"`)
				default:
					a.problem(http.StatusForbidden, "forbidden", "")
				}
			}
		})
	}
}

// TestUsersCreateDataspaces: where the operator wants it, any user creates dataspaces and becomes their admin.
func TestUsersCreateDataspaces(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{UsersCreateDataspaces: true}, handlers.Config{})
	user, other := c.newUser(nil), c.newUser(nil)
	s := user.newSpace(nil)
	role := user.get("/privileges?dataspaceId=" + s.dataspace).data()
	same(t, "number of roles", len(role), 1)
	same(t, "the creator's role", role[0].text("role")+role[0].text("userId"), "admin"+user.id)
	user.send("PUT", "/dataspaces/"+s.dataspace, object{"title": "Mine"}).want(http.StatusOK)
	user.send("POST", "/privileges", object{"userId": other.id, "dataspaceId": s.dataspace, "role": "member"}).want(http.StatusCreated)
	other.get("/dataspaces/" + s.dataspace).want(http.StatusOK)
	user.send("POST", "/users", object{"username": "x"}).problem(http.StatusForbidden, "forbidden", "")
}

// TestRightsEnd: a role that is taken away is gone with the next request, also in the middle of things.
func TestRightsEnd(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, set := s.newMember("editor"), s.newSet()
	role := editor.get("/privileges?userId=me").data()[0].text("id")
	body := form(text("setId", set), file("a", "content"))
	slow := &interrupted{rest: body.body, at: len(body.body) / 2, act: func() {
		s.send("DELETE", "/privileges/"+role, nil).want(http.StatusNoContent)
	}}
	editor.bad("POST", "/resources", slow, "Content-Type: "+body.contentType).problem(http.StatusForbidden, "forbidden", "")
	editor.get("/sets/"+set).problem(http.StatusForbidden, "forbidden", "")
	user := s.newUser(object{"sysadmin": true})
	user.get("/sets/" + set).want(http.StatusOK)
	s.send("PUT", "/users/"+user.id, object{"sysadmin": false}).want(http.StatusOK)
	user.get("/sets/"+set).problem(http.StatusForbidden, "forbidden", "")
}
