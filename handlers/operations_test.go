package handlers_test

import (
	"net/http"
	"path"
	"strings"

	"github.com/getkin/kin-openapi/routers"
)

// operation is one operation of the interface: who may do it, and what a good request for it sends.
type operation struct {
	id    string
	allow string
	self  bool // {id} is the caller himself
	body  func(f *fixture) any
}

// Who may: words of callers, see testCallers.
const (
	everybody = "nobody none public member editor admin sysadmin"
	keyed     = "none public member editor admin sysadmin"
	readers   = "public member editor admin sysadmin"
	holders   = "member editor admin sysadmin"
	writers   = "editor admin sysadmin"
	managers  = "admin sysadmin"
	sysadmins = "sysadmin"
)

// operations is the permission table of the interface. Each line may be tried after those before it: what is deleted is
// restored in the next.
func operations() []operation {
	fields := func(o object) func(*fixture) any { return func(*fixture) any { return o } }
	return []operation{
		{"getStatus", everybody, false, nil},
		{"getOpenAPIJSON", everybody, false, nil},
		{"getOpenAPIYAML", everybody, false, nil},

		{"listDataspaces", keyed, false, nil},
		{"pageDataspaces", keyed, false, nil},
		{"listSets", keyed, false, nil},
		{"pageSets", keyed, false, nil},
		{"listResources", keyed, false, nil},
		{"pageResources", keyed, false, nil},
		{"listUsers", keyed, false, nil},
		{"pageUsers", keyed, false, nil},
		{"listPrivileges", keyed, false, nil},
		{"pagePrivileges", keyed, false, nil},
		{"getUsage", keyed, false, nil},
		{"getUser", keyed, false, nil},

		{"getDataspace", readers, false, nil},
		{"listDataspaceSets", readers, false, nil},
		{"pageDataspaceSets", readers, false, nil},
		{"listDataspaceResources", readers, false, nil},
		{"pageDataspaceResources", readers, false, nil},
		{"getDataspaceUsage", readers, false, nil},
		{"getSet", readers, false, nil},
		{"listSetResources", readers, false, nil},
		{"pageSetResources", readers, false, nil},
		{"getResource", readers, false, nil},
		{"downloadResource", readers, false, nil},
		{"getPrivilege", holders, false, nil},

		{"createSet", writers, false, func(f *fixture) any { return object{"name": f.name("set"), "dataspaceId": f.dataspace} }},
		{"updateSet", writers, false, fields(object{"title": "New"})},
		{"createResource", writers, false, func(f *fixture) any { return form(text("setId", f.ids["SetId"]), file("new", "new")) }},
		{"replaceResource", writers, false, func(*fixture) any { return form(file("new", "new")) }},
		{"editResource", writers, false, fields(object{"description": "New"})},
		{"deleteResource", writers, false, nil},
		{"restoreResource", writers, false, nil},
		{"deleteSet", writers, false, nil},
		{"restoreSet", writers, false, nil},

		{"updateDataspace", managers, false, fields(object{"title": "New"})},
		{"grantPrivilege", managers, false, func(f *fixture) any {
			return object{"userId": f.ids["UserId"], "dataspaceId": f.dataspace, "role": "editor"}
		}},
		{"revokePrivilege", managers, false, nil},
		{"deleteDataspace", managers, false, nil},
		{"restoreDataspace", managers, false, nil},

		{"createDataspace", sysadmins, false, func(f *fixture) any { return object{"name": f.name("space")} }},
		{"createUser", sysadmins, false, func(f *fixture) any { return object{"username": f.name("user")} }},
		{"updateUser", sysadmins, false, fields(object{"about": "New"})},
		{"listUserKeys", sysadmins, false, nil},
		{"pageUserKeys", sysadmins, false, nil},
		{"createUserKey", sysadmins, false, fields(object{"label": "New"})},
		{"revokeUserKey", sysadmins, false, nil},
		{"deleteUser", sysadmins, false, nil},
		{"restoreUser", sysadmins, false, nil},

		{"getUser", keyed, true, nil},
		{"updateUser", keyed, true, fields(object{"fullname": "New"})},
		{"listUserKeys", keyed, true, nil},
		{"pageUserKeys", keyed, true, nil},
		{"createUserKey", keyed, true, fields(object{"label": "New"})},
		{"revokeUserKey", keyed, true, nil},
	}
}

// fixture is one object of every kind, for a path or body to name. ids are by the names of the document's parameters.
type fixture struct {
	*space
	ids map[string]string
}

// newFixture makes the objects. The user in it has a role and a key.
func (c *client) newFixture(fields object) *fixture {
	c.t.Helper()
	f := &fixture{space: c.newSpace(fields)}
	user, set := f.newMember("member"), f.newSet()
	f.ids = map[string]string{
		"DataspaceId": f.dataspace, "SetId": set, "ResourceId": f.upload(set, "a.txt", "content").text("id"), "UserId": user.id,
		"KeyId":       user.get("/users/me/keys").data()[0].text("id"),
		"PrivilegeId": user.get("/privileges?userId=me").data()[0].text("id"),
	}
	return f
}

// route finds an operation in the document.
func routeOf(id string) *routers.Route {
	for route := range suite.operations {
		if route.Operation.OperationID == id {
			return route
		}
	}
	return nil
}

// path fills the path of an operation; that of a page with a token which the listing has just given out.
func (f *fixture) path(route *routers.Route, ids map[string]string) string {
	f.t.Helper()
	filled := route.Path
	for _, parameter := range route.PathItem.Parameters {
		if id, ok := ids[path.Base(parameter.Ref)]; ok {
			filled = strings.Replace(filled, "{"+parameter.Value.Name+"}", id, 1)
		}
	}
	listing, isPage := strings.CutSuffix(filled, "/query/results/{token}")
	if !isPage {
		return filled
	}
	return strings.TrimPrefix(f.get(listing).want(http.StatusOK).object().text("currentPage"), f.base)
}

// try sends a good request for the operation in the name of a caller.
func (f *fixture) try(caller *client, op operation) *answer {
	f.t.Helper()
	ids := map[string]string{}
	for name, id := range f.ids {
		ids[name] = id
	}
	if op.self {
		ids["UserId"] = caller.id
		if caller.key != "" {
			ids["KeyId"] = caller.send("POST", "/users/me/keys", nil).want(http.StatusCreated).object().text("id")
		}
	}
	var body any
	if op.body != nil {
		body = op.body(f)
	}
	route := routeOf(op.id)
	return caller.send(route.Method, f.path(route, ids), body)
}
