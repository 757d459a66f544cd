package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// bad is a request that must be refused, with the expected refusal.
type bad struct {
	what         string
	method, path string
	body         any
	status       int
	code         errs.Code
	field        string
	headers      []string
}

// refuses sends requests that must be refused. After each request, the records must be unchanged,
// and no temporary file may remain. At the end, no blob may have been added, and the service must
// still work. The gateway must not be shared with other tests.
func (c *client) refuses(cases []bad) {
	c.t.Helper()
	before, disk := c.dump(), c.disk(c.t)
	for _, b := range cases {
		a := c.bad(b.method, b.path, b.body, b.headers...)
		a.what = b.what + ": " + a.what[:min(len(a.what), 200)]
		a.problem(b.status, b.code, b.field)
		if after := c.dump(); after != before {
			c.t.Fatalf("%s: something has changed:\n%s\nbefore:\n%s", a.what, after, before)
		}
		if left := c.temporary(c.t); len(left) > 0 {
			c.t.Fatalf("%s: %d temporary files remain", a.what, len(left))
		}
	}
	same(c.t, "the blobs", slices.Equal(c.disk(c.t), disk), true)
	c.get("/status").want(http.StatusOK)
}

// TestBadKeysAreUnauthenticated tests that every operation that requires a key gives the same
// answer to a missing, unknown, revoked or expired key.
func TestBadKeysAreUnauthenticated(t *testing.T) {
	t.Parallel()
	var behind atomic.Int64 // how far the service's clock is behind
	behind.Store(int64(2 * time.Hour))
	now := func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
	c := ownGateway(t, repository.Config{Now: now}, handlers.Config{})
	f := c.newFixture(nil)
	user := f.newMember("admin")
	end := time.Now().Add(-time.Hour)
	expired := user.send("POST", "/users/me/keys", object{"expires": end.Format(time.RFC3339Nano)}).want(http.StatusCreated).object()
	revoked := user.send("POST", "/users/me/keys", nil).want(http.StatusCreated).object()
	user.send("DELETE", "/users/me/keys/"+revoked.text("id"), nil).want(http.StatusNoContent)
	gone := f.newMember("admin")
	f.send("DELETE", "/users/"+gone.id, nil).want(http.StatusNoContent)
	behind.Store(0)
	keys, _ := user.walk("/users/me/keys")
	same(t, "state of the expired key", keys[1].text("state"), "expired")

	before, seen := c.dump(), map[string]bool{}
	for _, key := range []string{"", "wrong", auth.NewKey(), expired.text("key"), revoked.text("key"), gone.key, "Bearer", "Bearer " + auth.NewKey(), user.key + "x", "Basic " + user.key, strings.ToUpper(user.key)} {
		for _, op := range someOperations() {
			if op.self || op.allow() == handlers.Everybody {
				continue
			}
			var body any = raw{"nonsense/type", []byte("{")} // the key is checked first
			route := routeOf(op.id)
			if route.Method == http.MethodGet {
				body = nil
			}
			a := f.withKey(key).on(t).bad(route.Method, f.path(route, f.ids), body)
			a.problem(http.StatusUnauthorized, "unauthenticated", "")
			seen[strings.Replace(string(a.body), a.header.Get("X-Request-Id"), "", 1)+a.header.Get("WWW-Authenticate")] = true
		}
	}
	same(t, "different answers", len(seen), 1)
	same(t, "the records are unchanged", c.dump() == before, true)
	user.get("/users/me", "Authorization: "+user.key).problem(http.StatusUnauthorized, "unauthenticated", "")
	for _, key := range []string{"Bearer " + user.key, "bearer  " + user.key, " " + user.key} {
		user.withKey(key).get("/users/me").want(http.StatusOK)
	}
}

// notFound contains the codes for unknown ids, by the parameter names of the OpenAPI document.
var notFound = map[string]errs.Code{
	"DataspaceId": "dataspace_not_found", "SetId": "set_not_found", "ResourceId": "resource_not_found",
	"UserId": "user_not_found", "KeyId": "key_not_found", "PrivilegeId": "privilege_not_found",
	"BlobDigest": "blob_not_found", "UploadId": "upload_not_found",
	"WebhookId": "webhook_not_found", "SchemaId": "schema_not_found", "EditId": "edit_not_found", "LinkId": "link_not_found",
}

// TestBadIDsAreNotFound tests that an unknown or malformed id in any path gets 404 with the code of
// its kind.
func TestBadIDsAreNotFound(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	var cases []bad
	for _, op := range someOperations() {
		route := routeOf(op.id)
		for _, parameter := range route.PathParameters {
			kind := parameter.Component
			if notFound[kind] == "" || op.self {
				continue
			}
			id, other := f.ids[kind], f.ids["SetId"]
			if kind == "SetId" {
				other = f.dataspace
			}
			otherCase := strings.ToLower(id)
			if otherCase == id {
				otherCase = strings.ToUpper(id)
			}
			for what, wrong := range map[string]string{
				"unknown": ulid.Make().String(), "another case": otherCase, "of another kind": other, "too short": id[1:], "too long": id + "0",
				"no id": "nonsense", "out of range": "8" + id[1:], "NUL": "%00", "a dot": ".", "10 KB": strings.Repeat("A", 10_000),
			} {
				ids := map[string]string{}
				for name, good := range f.ids {
					ids[name] = good
				}
				good := f.path(route, ids)
				bad := bad{what + " id", route.Method, strings.Replace(good, id, wrong, 1), nil, http.StatusNotFound, notFound[kind], "", nil}
				if op.body != nil {
					bad.body = op.body(f)
				}
				cases = append(cases, bad)
			}
		}
	}
	c.refuses(cases)

	user, key := f.newUser(nil), f.ids["KeyId"]
	unknown := ulid.Make().String()
	c.refuses([]bad{
		{"a key of another", "DELETE", "/users/" + user.id + "/keys/" + key, nil, 404, "key_not_found", "", nil},
		{"dataspace of a set", "POST", "/sets", object{"name": "ok", "dataspaceId": unknown}, 404, "dataspace_not_found", "dataspaceId", nil},
		{"dataspace of a set", "POST", "/sets", object{"name": "?", "dataspaceId": "nonsense", "more": 1}, 404, "dataspace_not_found", "dataspaceId", nil},
		{"set of a file", "POST", "/resources", form(text("setId", unknown), file("a", "b")), 404, "set_not_found", "setId", nil},
		{"set after a file", "POST", "/resources", form(file("a", "b"), text("setId", "nonsense")), 404, "set_not_found", "setId", nil},
		{"user of a role", "POST", "/privileges", object{"userId": unknown, "dataspaceId": f.dataspace, "role": "?"}, 404, "user_not_found", "userId", nil},
		{"dataspace of a role", "POST", "/privileges", object{"userId": "me", "dataspaceId": unknown, "role": "?"}, 404, "dataspace_not_found", "dataspaceId", nil},
		{"filter", "GET", "/resources?dataspaceId=" + unknown, nil, 404, "dataspace_not_found", "dataspaceId", nil},
		{"filter", "GET", "/resources?setId=nonsense", nil, 404, "set_not_found", "setId", nil},
		{"filter", "GET", "/sets?dataspaceId=nonsense", nil, 404, "dataspace_not_found", "dataspaceId", nil},
		{"filter", "GET", "/privileges?dataspaceId=" + unknown, nil, 404, "dataspace_not_found", "dataspaceId", nil},
		{"filter", "GET", "/privileges?userId=" + unknown, nil, 404, "user_not_found", "userId", nil},
	})
}

// TestBadMethodsAreNotAllowed tests that a path of the HTTP API answers other methods with 405 and
// a list of its methods, and that other paths get 404. Neither answer requires a key.
func TestBadMethodsAreNotAllowed(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	nobody := f.withKey("")
	nobody.t = t
	paths := map[string][]string{}
	for _, route := range suite.document.Operations {
		paths[route.Path] = append(paths[route.Path], route.Method)
	}
	for template, methods := range paths {
		at := strings.NewReplacer("{id}", f.dataspace, "{keyId}", "k", "{digest}", "d", "{token}", "t").Replace(template)
		if slices.Contains(methods, "GET") {
			methods = append(methods, "HEAD")
		}
		methods = append(methods, "OPTIONS")
		slices.Sort(methods)
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			if slices.Contains(methods, method) && method != "OPTIONS" {
				continue
			}
			for _, slash := range []string{"", "/"} {
				a := nobody.bad(method, at+slash, nil)
				switch method {
				case "OPTIONS":
					a.want(http.StatusNoContent)
				case "HEAD":
					a.want(http.StatusMethodNotAllowed)
				default:
					a.problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
				}
				same(t, a.what+": Allow", a.header.Get("Allow"), strings.Join(methods, ", "))
			}
		}
	}
	for _, path := range []string{"/nonsense", "/Sets", "//sets", "/sets//", "/sets/a/b", "/resources/a/data/b", "/query/results/t", "/sets/query/results", "/sets/query/results/", "/users/me/keys/query/results/a/b", "/status/query/results/t", "/usage/query/results/t", "/sets/a/query/results/t"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			nobody.bad(method, path, nil).problem(http.StatusNotFound, "not_found", "")
		}
	}
}
