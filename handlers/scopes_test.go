package handlers_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

// narrowest returns the narrowest scope of a key that permits an operation: "any", "read", "add",
// "write" or "all".
func (op operation) narrowest() string {
	switch route := routeOf(op.id); op.who().Word {
	case "everybody":
		if op.id == "signIn" {
			return "all"
		}
		return "any"
	case "senders":
		return "add"
	case "anonymous", "readers", "callers with a key", "keyed":
		for _, listed := range []string{"/privileges", "/links", "/webhooks", "/audit"} {
			if route.Path == listed || strings.HasPrefix(route.Path, listed+"/query/") {
				return "all"
			}
		}
		if op.id == "getUser" && op.self {
			return "any"
		}
		return "read"
	case "writers":
		switch op.id {
		case "createResource", "beginUpload":
			return "add"
		case "createLink":
			return "all"
		}
		return "write"
	}
	return "all"
}

// scopesOfRoutes returns, by method and path of a route, the scopes that permit its operation.
func scopesOfRoutes() map[string]string {
	scopes := map[string]string{}
	for _, op := range operations() {
		route := routeOf(op.id)
		at := route.Method + " " + route.Path
		if _, known := scopes[at]; known { // the same operation on the caller's own objects
			continue
		}
		scopes[at] = map[string]string{
			"any": "every key", "read": "read, write, all", "add": "add, write, all", "write": "write, all", "all": "all",
		}[op.narrowest()]
	}
	return scopes
}

// permittedBy are the operations that a key of each scope permits, by the narrowest scope for them.
var permittedBy = map[string]string{"read": "any read", "add": "any add", "write": "any read add write"}

// limited returns the client with a key of its own that has limits.
func (c *client) limited(limits object) *client {
	c.t.Helper()
	narrow := c.withKey(c.send("POST", "/users/me/keys", limits).want(http.StatusCreated).object().text("key"))
	narrow.unlimited = c.key
	return narrow
}

// TestScopes tries every operation with keys of every scope, of a user who may do everything. The
// key permits it, or it is refused and changes nothing.
func TestScopes(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	for scope, permitted := range permittedBy {
		t.Run(scope, func(t *testing.T) {
			f := own.on(t).newFixture(nil)
			caller := f.newUser(object{"sysadmin": true}).limited(object{"scope": scope})
			for _, op := range operations() {
				if op.who().Word == "senders" && !op.self {
					continue // another user's upload
				}
				if op.id == "signIn" {
					op.body = func(*fixture) any { return object{"key": caller.key} }
				}
				f.expect(caller, op, slices.Contains(strings.Fields(permitted), op.narrowest()))
			}
		})
	}
}

// expect tries an operation that is permitted, or must be refused and change nothing.
func (f *fixture) expect(caller *client, op operation, permitted bool) {
	f.t.Helper()
	method, path, body := f.request(caller, op)
	before := f.dump()
	a := caller.send(method, path, body)
	switch {
	case permitted && a.status >= 300:
		f.t.Errorf("%s: refused with %s", op.id, a.short())
	case !permitted:
		a.problem(http.StatusForbidden, "key_limited", "")
		if f.dump() != before {
			f.t.Errorf("%s: refused, but something has changed", op.id)
		}
	}
}

// TestPlaces tries every operation with keys that permit writing in one place: the dataspace of the
// objects, their set, another dataspace, or another set of the dataspace.
func TestPlaces(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	for _, place := range []string{"dataspace", "set", "other dataspace", "other set"} {
		t.Run(place, func(t *testing.T) {
			f := own.on(t).newFixture(nil)
			limits := map[string]object{
				"dataspace": {"dataspaceId": f.dataspace}, "set": {"setId": f.ids["SetId"]},
				"other dataspace": {"dataspaceId": f.newSpace(nil).dataspace}, "other set": {"setId": f.newSet()},
			}[place]
			limits["scope"] = "write"
			caller := f.newUser(object{"sysadmin": true}).limited(limits)
			for _, op := range operations() {
				if op.who().Word == "senders" || op.id == "signIn" {
					continue // see TestScopes
				}
				scope := op.narrowest()
				f.expect(caller, op, scope == "any" || scope != "all" && slices.Contains(op.places(), place))
			}
		})
	}
}

// places returns the places of TestPlaces in which a key permits an operation.
func (op operation) places() []string {
	switch op.id {
	case "createResource", "beginUpload":
		return []string{"dataspace", "set"}
	case "getDataspace", "listDataspaceSets", "pageDataspaceSets", "listDataspaceResources", "pageDataspaceResources":
		return []string{"dataspace", "set", "other set"}
	case "createSet":
		return []string{"dataspace"}
	case "listDataspaces", "pageDataspaces", "listSets", "pageSets", "listResources", "pageResources", "search", "pageSearch", "followEvents":
		return []string{"dataspace", "set", "other dataspace", "other set"} // without what is elsewhere
	case "getUsage":
		return []string{"dataspace", "other dataspace"}
	}
	for _, parameter := range routeOf(op.id).PathParameters {
		switch parameter.Component {
		case "SetId", "ResourceId", "EditId":
			return []string{"dataspace", "set"}
		case "DataspaceId", "SchemaId":
			return []string{"dataspace"}
		}
	}
	return nil
}

// TestInstrumentKey tests on the API and on the drive that a key which only adds files adds them,
// and reads, replaces, deletes or renames nothing.
func TestInstrumentKey(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	instrument := d.as(d.limited(object{"scope": "add", "setId": d.set, "label": "microscope"}))
	d.dav("MKCOL", "/sub", "").want(http.StatusCreated)
	d.dav("PUT", "/sub/old.txt", "old").want(http.StatusCreated)
	instrument.dav("PUT", "/sub/new.txt", "new").want(http.StatusCreated)
	instrument.dav("PUT", "/other.txt", "other").want(http.StatusCreated)
	made := instrument.send("POST", "/resources", form(text("setId", d.set), file("form.txt", "form"))).want(http.StatusCreated).object()
	same(t, "createdBy", made.text("createdBy"), d.get("/users/me").object().text("id"))
	upload := instrument.begin(5, "setId", d.set, "filename", "chunks.txt")
	instrument.chunk(upload, 0, "chunk").want(http.StatusNoContent)
	replacing := d.begin(5, "resourceId", made.text("id"), "filename", "form.txt")

	before := d.content()
	for _, try := range []struct{ method, path, body, header string }{
		{"PUT", "/sub/old.txt", "replaced", "X: y"},
		{"GET", "/sub/old.txt", "", "X: y"}, {"HEAD", "/sub/old.txt", "", "X: y"}, {"GET", "/sub/new.txt", "", "Range: bytes=0-0"},
		{"PROPFIND", "", "", "Depth: 1"}, {"PROPFIND", "/sub/old.txt", "", "Depth: 0"}, {"PROPFIND", "/dav/", "", "Depth: 1"},
		{"DELETE", "/sub/old.txt", "", "X: y"}, {"DELETE", "/sub", "", "X: y"}, {"MKCOL", "/made", "", "X: y"},
		{"MOVE", "/sub/old.txt", "", "Destination: $/moved.txt"}, {"COPY", "/sub/old.txt", "", "Destination: $/copied.txt"},
		{"COPY", "/sub", "", "Destination: $/copied"}, {"LOCK", "/sub/old.txt", lockBody, "Timeout: Second-60"}, {"PROPPATCH", "/sub/old.txt", patchBody, "X: y"},
	} {
		a := instrument.dav(try.method, try.path, try.body, try.header)
		same(t, a.what, a.status, http.StatusForbidden)
		same(t, a.what+" shows the file", strings.Contains(string(a.body), "old.txt"), false)
	}
	instrument.chunk(replacing, 0, "chunk").want(http.StatusForbidden)
	instrument.send("DELETE", strings.TrimPrefix(replacing, d.base), headed{raw{}, []string{inTus}}).want(http.StatusForbidden)
	same(t, "the files", d.content(), before)
}

// content returns the names and contents of the files in the set.
func (d *onDrive) content() string {
	d.t.Helper()
	var all strings.Builder
	for _, r := range d.get("/sets/" + d.set + "/resources").data() {
		all.WriteString(r.text("name") + " " + string(d.get("/resources/"+r.text("id")+"/data").body) + "\n")
	}
	return all.String()
}

// TestKeyOfSetOnDrive tests that a key for one set leads through its dataspace to the set, and
// shows no other.
func TestKeyOfSetOnDrive(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	other := d.newDrive(nil)
	space, _ := path.Split(d.folder)
	dataspace := d.get("/sets/" + d.set).object().text("dataspaceId")
	sibling := d.send("POST", "/sets", object{"name": d.name("sibling"), "dataspaceId": dataspace}).want(http.StatusCreated).object().text("name")
	d.dav("PUT", "/a.txt", "a").want(http.StatusCreated)
	guest := d.as(d.limited(object{"scope": "read", "setId": d.set}))
	for _, above := range []string{"/dav/", space} {
		shown := string(guest.dav("PROPFIND", above, "", "Depth: 1").want(http.StatusMultiStatus).body)
		same(t, above+" shows the place", strings.Contains(shown, strings.Trim(strings.TrimPrefix(d.folder, "/dav/")[:len(space)-len("/dav/")], "/")), true)
		same(t, above+" shows another", strings.Contains(shown, sibling) || strings.Contains(shown, other.folder), false)
	}
	same(t, "the file", string(guest.dav("GET", "/a.txt", "").want(http.StatusOK).body), "a")
	guest.dav("PROPFIND", space+sibling, "", "Depth: 0").want(http.StatusNotFound)
	guest.dav("PROPFIND", other.folder, "", "Depth: 0").want(http.StatusNotFound)
	guest.dav("PUT", "/b.txt", "b").want(http.StatusForbidden)
}

// TestKeyListings tests that listings and searches contain only what a key reaches.
func TestKeyListings(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set, sibling, elsewhere := s.newSet(), s.newSet(), c.newSpace(nil).newSet()
	for _, in := range []string{set, sibling, elsewhere} {
		c.upload(in, "needle.txt", in)
	}
	for limits, want := range map[string]int{"": 3, "dataspaceId=" + s.dataspace: 2, "setId=" + set: 1} {
		field, id, _ := strings.Cut(limits, "=")
		reader := c
		if limits != "" {
			reader = c.limited(object{"scope": "read", field: id})
		}
		for _, at := range []string{"/sets", "/resources"} {
			same(t, at+" with "+limits, len(reader.get(at).want(http.StatusOK).data()), want)
		}
		same(t, "hits with "+limits, len(reader.find("needle").data()), want)
		same(t, "sets of the dataspace with "+limits, len(reader.get("/dataspaces/"+s.dataspace+"/sets").data()), min(want, 2))
		same(t, "resources of the dataspace with "+limits, len(reader.get("/dataspaces/"+s.dataspace+"/resources").data()), min(want, 2))
		same(t, "other dataspaces with "+limits, len(reader.get("/dataspaces").data()) > 1, limits == "")
	}
}

// TestKeyNetworks tests that a key works only from its networks, and so does a session of the key.
func TestKeyNetworks(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).newUser(object{"sysadmin": true})
	near := c.limited(object{"networks": []string{"::1", "127.0.0.1", "10.0.0.0/8"}})
	far := c.limited(object{"networks": []string{"192.0.2.0/24", "2001:db8::/32"}})
	near.get("/users/me").want(http.StatusOK)
	same(t, "the canonical form", strings.Join(stringsOf(near.key0()["networks"]), " "), "10.0.0.0/8 127.0.0.1/32 ::1/128")
	far.get("/users/me").problem(http.StatusForbidden, "key_limited", "")
	c.withKey("").send("POST", "/session", object{"key": far.key}).problem(http.StatusForbidden, "key_limited", "")
	cookie, browser := near.signIn()
	browser.get("/users/me", cookie).want(http.StatusOK)
	id := near.key0().text("id")
	c.send("PUT", "/users/me/keys/"+id, object{"networks": []string{"10.0.0.0/8"}}).want(http.StatusOK)
	browser.get("/users/me", cookie).problem(http.StatusForbidden, "key_limited", "")
	for _, bad := range [][]string{{"10.0.0.1/8"}, {"x"}, {""}, {"10.0.0.0/33"}, {"::ffff:10.0.0.0/104"}} {
		c.send("POST", "/users/me/keys", object{"networks": bad}).problem(http.StatusBadRequest, "invalid_field", "networks")
	}
}

// key0 returns the record of the client's key.
func (c *client) key0() object {
	c.t.Helper()
	for _, k := range c.withKey(c.unlimited).get("/users/me/keys").data() {
		if strings.HasPrefix(c.key, k.text("prefix")) {
			return k
		}
	}
	c.t.Fatal("the key is not listed")
	return nil
}

// stringsOf returns the strings of a list.
func stringsOf(list any) (all []string) {
	for _, item := range list.([]any) {
		all = append(all, item.(string))
	}
	return all
}

// TestNarrowedKeys tests that the objects made with a key end when the key becomes narrow, unless
// the request keeps them.
func TestNarrowedKeys(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "?dependents=keep"} {
		m := newMaker(t, repository.Config{}, nil)
		before := m.dependents(m.key)
		at := "/users/" + m.user.id + "/keys/" + m.keys[m.key]
		m.user.send("PUT", at+query, object{"label": "renamed", "scope": "all"}).want(http.StatusOK)
		same(t, "dependents of a renamed key", m.dependents(m.key), before)
		shown := m.user.send("PUT", at+query, object{"scope": "read"}).want(http.StatusOK).object()
		same(t, "scope", shown.text("scope"), "read")
		same(t, "dependents of a narrowed key", m.dependents(m.key), ", 1 sessions")
		m.key.send("POST", "/sets", object{"name": m.name("set"), "dataspaceId": m.dataspace}).problem(http.StatusForbidden, "key_limited", "")
		m.key.get("/users/me/keys").problem(http.StatusForbidden, "key_limited", "")
		m.grandchild.get("/users/me").want(map[string]int{"": http.StatusUnauthorized, "?dependents=keep": http.StatusOK}[query])
		m.user.send("DELETE", at, nil).want(http.StatusNoContent)
		m.user.send("PUT", at, object{"label": "x"}).problem(http.StatusConflict, "key_ended", "")
	}
}

// TestKeysBecomeOnlyNarrower tests that no change makes a key stronger or more durable, since a
// stolen key could otherwise free itself or another key.
func TestKeysBecomeOnlyNarrower(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, sibling, other := s.newSet(), s.newSet(), s.newSpace(nil)
	user := s.newUser(object{"sysadmin": true})
	soon, later := "2999-01-01T00:00:00Z", "2999-01-02T00:00:00Z"
	for _, tt := range []struct {
		is, to object
		wider  string // the field that would become wider; "": none
	}{
		{object{}, object{"scope": "write"}, ""}, {object{"scope": "write"}, object{"scope": "add"}, ""}, {object{"scope": "write"}, object{"scope": "read"}, ""},
		{object{"scope": "write"}, object{"scope": "all"}, "scope"}, {object{"scope": "read"}, object{"scope": "add"}, "scope"}, {object{"scope": "add"}, object{"scope": "read"}, "scope"},
		{object{}, object{"dataspaceId": s.dataspace}, ""}, {object{"dataspaceId": s.dataspace}, object{"setId": set}, ""}, {object{}, object{"setId": set}, ""},
		{object{"dataspaceId": s.dataspace}, object{"dataspaceId": ""}, "dataspaceId"}, {object{"dataspaceId": s.dataspace}, object{"dataspaceId": other.dataspace}, "dataspaceId"},
		{object{"setId": set}, object{"setId": ""}, "dataspaceId"}, {object{"setId": set}, object{"dataspaceId": s.dataspace}, "setId"}, {object{"setId": set}, object{"setId": sibling}, "setId"},
		{object{}, object{"networks": []string{"10.0.0.0/8"}}, ""}, {object{"networks": []string{"10.0.0.0/8"}}, object{"networks": []string{"10.1.0.0/16", "10.2.0.1"}}, ""},
		{object{"networks": []string{"10.0.0.0/8"}}, object{"networks": []string{}}, "networks"}, {object{"networks": []string{"10.1.0.0/16"}}, object{"networks": []string{"10.0.0.0/8"}}, "networks"},
		{object{"networks": []string{"10.1.0.0/16"}}, object{"networks": []string{"10.1.0.0/16", "::1"}}, "networks"},
		{object{}, object{"expires": soon}, ""}, {object{"expires": later}, object{"expires": soon}, ""},
		{object{"expires": soon}, object{"expires": later}, "expires"}, {object{"expires": soon}, object{"expires": ""}, "expires"},
		{object{"expires": soon, "scope": "read"}, object{"label": "x", "expires": soon, "scope": "read"}, ""},
	} {
		at := "/users/me/keys/" + user.send("POST", "/users/me/keys", tt.is).want(http.StatusCreated).object().text("id")
		before := user.get(at).object()
		a := user.send("PUT", at, tt.to)
		if tt.wider == "" {
			a.want(http.StatusOK)
			continue
		}
		a.problem(http.StatusBadRequest, "invalid_field", tt.wider)
		same(t, "the key after a refused change", fmt.Sprint(user.get(at).object()), fmt.Sprint(before))
	}
}

// TestNewKeysAreNoWider tests that a key cannot create another one that outlives it or can be used
// from elsewhere.
func TestNewKeysAreNoWider(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).newUser(nil)
	near := c.limited(object{"networks": []string{"127.0.0.0/8", "::1"}, "expires": "2999-01-01T00:00:00Z"})
	made := near.send("POST", "/users/me/keys", nil).want(http.StatusCreated).object()
	same(t, "networks of a key without its own", strings.Join(stringsOf(made["networks"]), " "), "127.0.0.0/8 ::1/128")
	near.send("POST", "/users/me/keys", object{"networks": []string{"127.0.0.1"}}).want(http.StatusCreated)
	for field, value := range map[string]any{"networks": []string{"127.0.0.1", "192.0.2.1"}, "expires": "2999-01-02T00:00:00Z"} {
		near.send("POST", "/users/me/keys", object{field: value}).problem(http.StatusBadRequest, "invalid_field", field)
	}
	near.send("POST", "/users/me/keys", object{"networks": []string{}}).problem(http.StatusBadRequest, "invalid_field", "networks")
}

// TestShortenedKeys tests that sessions and keys made with a key expire with it when its expiry is
// brought forward.
func TestShortenedKeys(t *testing.T) {
	t.Parallel()
	m := newMaker(t, repository.Config{}, nil)
	at := "/users/" + m.user.id + "/keys/" + m.keys[m.key]
	end := time.Now().Add(time.Minute).UTC()
	m.user.send("PUT", at, object{"expires": end.Format(time.RFC3339Nano)}).want(http.StatusOK)
	browser := m.withKey("")
	for step, status := range []int{http.StatusOK, http.StatusOK, http.StatusUnauthorized} {
		m.ahead.Store(int64(time.Duration(step) * 55 * time.Second))
		for name, a := range map[string]*answer{
			"key": m.key.get("/users/me"), "child": m.child.get("/users/me"), "grandchild": m.grandchild.get("/users/me"), "session": browser.get("/users/me", m.cookie),
		} {
			same(t, name, a.status, status)
		}
	}
	m.user.send("DELETE", at+"?dependents=keep", nil).want(http.StatusNoContent)
	m.grandchild.get("/users/me").want(http.StatusUnauthorized)
}

// TestMovedKeys tests that the objects made with a key end whenever its limits change, also if it
// was narrow before.
func TestMovedKeys(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	maker := d.limited(object{"dataspaceId": d.get("/sets/" + d.set).object().text("dataspaceId")})
	link := maker.send("POST", "/links", object{"kind": "share", "setId": d.set}).want(http.StatusCreated).object()
	d.get("/links/" + link.text("id")).want(http.StatusOK)
	d.send("PUT", "/users/me/keys/"+maker.key0().text("id"), object{"setId": d.set}).want(http.StatusOK)
	same(t, "state of the link", d.get("/links/"+link.text("id")).object().text("state"), "revoked")
}
