package handlers_test

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"labshelf/handlers"
	"labshelf/repository"
)

// callers are the columns of the permission table, each with a function that creates the caller for
// a dataspace. The foreign caller is an admin of another dataspace, and is treated like a caller
// without a role.
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
		"anonymous": func(f *fixture) *client {
			unknown := f.newUser(nil)
			unknown.key = ""
			return unknown
		},
		"foreign": func(f *fixture) *client { return f.newSpace(nil).newMember("admin") },
		"none":    stranger, "public": stranger, "member": member("member"), "editor": member("editor"), "admin": member("admin"),
		"sysadmin": func(f *fixture) *client { return f.newUser(object{"sysadmin": true}) },
	}
}

// visibilityFor returns the visibility of the dataspace for a caller.
func visibilityFor(caller string) object {
	return map[string]object{"public": {"visibility": "public"}, "anonymous": {"visibility": "open"}}[caller]
}

// TestPermissions tries every operation as every caller. The operation is allowed, or it is refused
// (401 without a key) and changes nothing.
func TestPermissions(t *testing.T) {
	t.Parallel()
	table := operations()
	var named []string
	for _, op := range table {
		named = append(named, op.id)
	}
	slices.Sort(named)
	if diff := gocmp.Diff(suite.operationIDs(), slices.Compact(named)); diff != "" {
		t.Fatalf("the permission table and the document have different operations (-document +table)\n%s", diff)
	}
	own := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	for name, newCaller := range callers() {
		if testing.Short() && !slices.Contains([]string{"nobody", "anonymous", "foreign", "editor"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			fields := visibilityFor(name)
			f := own.on(t).newFixture(fields)
			caller, column := newCaller(f), strings.Replace(name, "foreign", "none", 1)
			for _, op := range table {
				before := f.dump()
				a := f.try(caller, op)
				if after := f.dump(); a.status >= 300 && after != before {
					t.Errorf("%s: refused, but something has changed:\n%s\nbefore:\n%s", op.id, after, before)
				}
				switch {
				case slices.Contains(strings.Fields(op.allow()), column):
					if a.status >= 300 {
						t.Errorf("%s: refused with %s", op.id, a.short())
					}
				case name == "nobody", name == "anonymous":
					a.problem(http.StatusUnauthorized, "unauthenticated", "")
					same(t, op.id+": WWW-Authenticate", a.header.Get("WWW-Authenticate"), `Bearer realm="labshelf"`)
				default:
					status, code := op.refusal()
					a.problem(status, code, "")
				}
			}
		})
	}
}

// TestUnknownObjects tests that all callers get the same answer for an unknown object.
func TestUnknownObjects(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	for name, newCaller := range callers() {
		f := own.on(t).newFixture(visibilityFor(name))
		caller, before := newCaller(f), f.dump()
		for _, op := range operations() {
			route := routeOf(op.id)
			for _, parameter := range route.PathParameters {
				kind := parameter.Component
				if notFound[kind] == "" || op.self || kind == "KeyId" || kind == "BlobDigest" { // these require permission first
					continue
				}
				var body any
				if op.body != nil {
					body = op.body(f)
				}
				a := caller.send(route.Method, strings.Replace(f.path(route, f.ids), f.ids[kind], ulid.Make().String(), 1), body)
				if name == "nobody" || name == "anonymous" {
					a.problem(http.StatusUnauthorized, "unauthenticated", "")
				} else {
					a.problem(http.StatusNotFound, notFound[kind], "")
				}
			}
		}
		same(t, "the records are unchanged", f.dump() == before, true)
	}
}

// TestUsersCreateDataspaces tests that, if configured, any user can create dataspaces and becomes
// their admin.
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

// TestRevokedRoleEndsWithNextRequest tests that a revoked role ends with the next request, even
// during a listing or an upload.
func TestRevokedRoleEndsWithNextRequest(t *testing.T) {
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

var update = flag.Bool("update", false, "write docs/reference/permissions.md anew")

// TestPermissionsPage tests that docs/reference/permissions.md matches the routes. go test
// ./handlers -run TestPermissionsPage -update writes the file.
func TestPermissionsPage(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "docs", "reference", "permissions.md")
	made := permissionsPage()
	if *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(written), made); diff != "" {
		t.Errorf("docs/reference/permissions.md does not match the routes; run this test with -update (-written +made)\n%s", diff)
	}
}

// permissionsPage returns the content of docs/reference/permissions.md.
func permissionsPage() string {
	var page strings.Builder
	page.WriteString(`# Permissions

A test writes this page from the routes of the service. Other tests send every request as every caller.

| cell | meaning |
|---|---|
| yes | the request is served. A listing shows only objects that the caller can read |
| 401, 403 | the request is refused and changes nothing |
| sender | served if the caller began the upload, with any of their keys, otherwise 404. The final commit checks the permission to write again |
| oneself | served if the user in the path is the caller, otherwise 403 |
| config | served if ` + "`dataspaces_by = \"users\"`" + `, otherwise 403. The creator of a dataspace becomes its admin |

| rule | |
|---|---|
| missing ids | callers with a valid key get 404, before the permission is checked. For keys of other users and paths below /admin, the permission is checked first. Callers without a key get 401 |
| *no key, open* | the dataspace is open, and ` + "`anonymous = \"on\"`" + `; otherwise use the column *no key*. An invalid key always gets 401 |
| keys | a key with limits gets 403 for a request that its scope, dataspace, set or networks exclude. Every key can read its own user |
| roles | roles in the dataspace of the request. A role in another dataspace gives no rights. If the body names a set, its dataspace is used |
| copy and move | the line describes the permission at the destination. At the source, a copy requires permission to read, and a move requires an editor |
| ` + "`POST /links`" + ` | the line describes shares and requests. Sysadmins can create invitations. With ` + "`invitations = \"admins\"`" + `, admins can create invitations to their dataspace. Editors never own invitations. Only sysadmins can create invitations without a dataspace |

## Callers

| callers | no key | no key, open | no role, private | no role, public | member | editor | admin | sysadmin |
|---|---|---|---|---|---|---|---|---|
`)
	special := map[string]string{"oneself": "oneself", "senders": "sender", "creators": "config"}
	var requests strings.Builder
	scopes := scopesOfRoutes()
	seen := map[string]bool{}
	for _, route := range handlers.Routes() {
		fmt.Fprintf(&requests, "| `%s %s` | %s | %s |\n", route.Method, route.Path, route.Audience.Word, scopes[route.Method+" "+route.Path])
		if seen[route.Audience.Word] {
			continue
		}
		seen[route.Audience.Word] = true
		page.WriteString("| " + route.Audience.Word + " |")
		for _, column := range strings.Fields(handlers.Everybody) {
			cell := cmp.Or(special[route.Audience.Word], "403")
			switch {
			case slices.Contains(strings.Fields(route.Audience.Callers), column):
				cell = "yes"
			case column == "nobody", column == "anonymous":
				cell = "401"
			}
			page.WriteString(" " + cell + " |")
		}
		page.WriteString("\n")
	}
	page.WriteString("\n## Requests\n\n| request | callers | keys of these scopes |\n|---|---|---|\n" + requests.String())
	page.WriteString(filtersTable(strings.Fields(handlers.Everybody)))
	page.WriteString(driveTable(strings.Fields(handlers.Everybody)))
	return page.String()
}
