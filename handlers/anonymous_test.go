package handlers_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
	"labshelf/handlers"
	"labshelf/internal/openapitest"
	"labshelf/repository"
)

// kinds are the kinds of dataspaces for an anonymous reader.
var kinds = map[string]struct {
	fields  object
	deleted bool
}{
	"open": {object{"visibility": "open"}, false}, "deleted open": {object{"visibility": "open"}, true},
	"public": {object{"visibility": "public"}, false}, "private": {nil, false},
}

// gone are the operations that fail for a deleted object.
var gone = []string{"downloadResource", "downloadArchive", "downloadVersion", "listVersions", "pageVersions", "getVersion"}

// TestAnonymousMatrix tries every operation without a key, on each kind of dataspace, with and
// without anonymous reading. For a dataspace that is not readable, each answer equals the answer
// for an unknown id.
func TestAnonymousMatrix(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		c := ownGateway(t, repository.Config{Anonymous: on}, handlers.Config{})
		same(t, "the status reports it", c.get("/status").object()["anonymous"], any(on))
		for kind, of := range kinds {
			t.Run(kind+map[bool]string{true: ", on", false: ", off"}[on], func(t *testing.T) {
				f := c.on(t).newFixture(of.fields)
				f.send("PUT", "/sets/"+f.ids["SetId"], object{"title": "Set"}).want(http.StatusOK) // rows that a fixture writes directly are not indexed
				if err := c.repo.Search.Indexed(t.Context()); err != nil {                         // otherwise a search has no page yet
					t.Fatal(err)
				}
				paths := map[string]string{}
				for _, op := range operations() {
					paths[op.id] = f.path(routeOf(op.id), f.ids)
				}
				if of.deleted {
					f.send("DELETE", "/dataspaces/"+f.dataspace, nil).want(http.StatusNoContent)
				}
				nobody, before := f.withKey(""), f.dump()
				none := f.refusalWithoutKey()
				for _, op := range operations() {
					who := op.who()
					if who.Word == "everybody" {
						continue
					}
					var body any
					if op.body != nil {
						body = op.body(f)
					}
					method := routeOf(op.id).Method
					a := nobody.send(method, paths[op.id], body)
					switch served := on && who.Word == "anonymous" && of.fields["visibility"] == "open"; {
					case served && of.deleted && slices.Contains(gone, op.id):
						same(t, op.id, a.status, http.StatusGone)
					case served:
						same(t, op.id+": "+a.short()[:3], a.status, http.StatusOK)
						same(t, op.id+": Vary", strings.Contains(strings.Join(a.header.Values("Vary"), ", "), "Authorization, Cookie"), true)
						same(t, op.id+": changes nothing", method, http.MethodGet)
						same(t, op.id+": HEAD", nobody.send("HEAD", paths[op.id], nil).status, http.StatusOK)
					default:
						a.problem(http.StatusUnauthorized, "unauthenticated", "")
						same(t, op.id+": the refusal", withoutID(a), none)
						same(t, op.id+": no cache keeps it", who.Word != "anonymous" || !on || a.header.Get("Cache-Control") == "no-store", true)
					}
				}
				same(t, "the records are unchanged", f.dump() == before, true)
			})
		}
	}
}

// TestAnonymousOperationsAreDocumented tests that the OpenAPI document and the table of routes list
// the same operations as usable without a key.
func TestAnonymousOperationsAreDocumented(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		security := routeOf(op.id).Get("security").Items()
		optional := slices.ContainsFunc(security, func(of openapitest.Node) bool { return len(of.Names()) == 0 })
		same(t, op.id, optional, op.who().Word == "anonymous")
	}
}

// withoutID returns the relevant headers and the body of a refusal, without the request id.
func withoutID(a *answer) string {
	return a.header.Get("WWW-Authenticate") + strings.ReplaceAll(string(a.body), a.header.Get("X-Request-Id"), "")
}

// refusalWithoutKey returns the answer for an unknown id.
func (f *fixture) refusalWithoutKey() string {
	return withoutID(f.withKey("").get("/resources/" + ulid.Make().String()))
}

// TestUnknownIDsWithoutKey tests that every unknown id, of any kind of object, gets the same
// answer, even within open data.
func TestUnknownIDsWithoutKey(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	f := c.newFixture(object{"visibility": "open"})
	nobody, none := f.withKey(""), f.refusalWithoutKey()
	for _, op := range operations() {
		route := routeOf(op.id)
		if op.who().Word != "anonymous" || strings.HasPrefix(op.id, "page") {
			continue
		}
		for _, parameter := range route.PathParameters {
			unknown := map[string]string{}
			for name, id := range f.ids {
				unknown[name] = id
			}
			unknown[parameter.Component] = ulid.Make().String()
			same(t, op.id+" of unknown "+parameter.Name, withoutID(nobody.send(route.Method, f.path(route, unknown), nil)), none)
		}
	}
	same(t, "an archive with a missing file", withoutID(nobody.get("/sets/"+f.ids["SetId"]+"/archive?resource="+ulid.Make().String())), none)
}

// TestWrongCredentialsAreNotMissing tests that a request with an invalid key is not anonymous, and
// counts as failed. A request with the cookie of an ended session is anonymous, and its answer
// reports the end.
func TestWrongCredentialsAreNotMissing(t *testing.T) {
	oneNode(t)
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	f := c.newFixture(object{"visibility": "open"})
	user := f.newUser(nil)
	revoked := user.send("POST", "/users/me/keys", nil).want(201).object()
	user.send("DELETE", "/users/me/keys/"+revoked.text("id"), nil).want(204)
	at := "/resources/" + f.ids["ResourceId"]
	cookie := func(value string) string { return "Cookie: labshelf_session=" + value }
	dead := user.send("POST", "/session", object{"key": user.key}).want(200).header.Get("Set-Cookie")
	dead, _, _ = strings.Cut(dead, ";")
	unkeyed := user.withKey("")
	unkeyed.get(at, "Cookie: "+dead).want(http.StatusOK)
	unkeyed.send("DELETE", "/session", nil, "Cookie: "+dead).want(204)

	const allowed = 3
	counted := f.configured(handlers.Config{FailedKeys: allowed}).withKey("")
	for name, header := range map[string]string{
		"a revoked key": "Authorization: " + revoked.text("key"), "an empty header": "Authorization: ", "Bearer without a key": "Authorization: Bearer ",
		"an empty cookie": cookie(""),
	} {
		for range 2 * allowed {
			same(t, name, counted.bad("GET", at, nil, header).status, http.StatusUnauthorized)
		}
	}
	unknown := []string{"Authorization: " + auth.NewKey(), "Authorization: nonsense", "Authorization: Bearer " + auth.NewKey(), "Authorization: more"}
	for i, header := range unknown {
		want := http.StatusUnauthorized
		if i >= allowed {
			want = http.StatusTooManyRequests
		}
		same(t, header, counted.bad("GET", at, nil, header).status, want)
	}
	counted.get(at).want(http.StatusOK) // a missing key is not a failure
	parted := f.newUser(nil)
	revokedToo, _, _ := strings.Cut(parted.send("POST", "/session", object{"key": parted.key}).want(200).header.Get("Set-Cookie"), ";")
	parted.send("DELETE", "/users/me/keys/"+parted.get("/users/me/keys").want(200).data()[0].text("id"), nil)
	for _, ended := range []string{"Cookie: " + dead, cookie("nonsense"), "Cookie: " + revokedToo} {
		for range 2 * allowed {
			a := counted.get(at, ended).want(http.StatusOK)
			same(t, ended, a.header.Get("X-Session")+" "+a.header.Get("Cache-Control"), "ended private, no-cache")
		}
		same(t, ended+", of something else", counted.get("/resources/"+ulid.Make().String(), ended).status, http.StatusUnauthorized)
	}
	live := f.newUser(nil)
	own, _, _ := strings.Cut(live.send("POST", "/session", object{"key": live.key}).want(200).header.Get("Set-Cookie"), ";")
	same(t, "a session", counted.get(at, "Cookie: "+own).want(http.StatusOK).header.Get("X-Session"), "")
	same(t, "a wrong key in addition to the session", counted.bad("GET", at, nil, "Cookie: "+own, "Authorization: "+auth.NewKey()).status, http.StatusTooManyRequests)
	counted.get(at, "Cookie: theme=dark").want(http.StatusOK)
}

// TestAnonymousAnswersInCaches tests that shared caches may store only open data, and must
// revalidate it.
func TestAnonymousAnswersInCaches(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	f := c.newFixture(object{"visibility": "open"})
	for _, at := range []string{"/dataspaces/" + f.dataspace, "/sets/" + f.ids["SetId"], "/sets/" + f.ids["SetId"] + "/resources",
		"/resources/" + f.ids["ResourceId"], "/resources/" + f.ids["ResourceId"] + "/data"} {
		open, keyed := f.withKey("").get(at).want(200), f.get(at).want(200)
		same(t, at+" without a key", open.header.Get("Cache-Control"), "public, no-cache")
		same(t, at+" with a key", keyed.header.Get("Cache-Control"), "private, no-cache")
		same(t, at+" is the same", string(open.body), string(keyed.body))
		if tag := open.header.Get("ETag"); tag != "" {
			same(t, at+" is still the same", f.withKey("").get(at, "If-None-Match: "+tag).status, http.StatusNotModified)
		}
	}
	part := f.withKey("").get("/resources/"+f.ids["ResourceId"]+"/data", "Range: bytes=1-3").want(http.StatusPartialContent)
	same(t, "a part", string(part.body), "ont")
	f.send("PUT", "/dataspaces/"+f.dataspace, object{"visibility": "public"}).want(200)
	same(t, "closed immediately", f.withKey("").get("/resources/"+f.ids["ResourceId"]).status, http.StatusUnauthorized)
	tag := f.get("/resources/" + f.ids["ResourceId"]).header.Get("ETag")
	same(t, "a tag gives no access", f.withKey("").get("/resources/"+f.ids["ResourceId"], "If-None-Match: "+tag).status, http.StatusUnauthorized)
}

// TestAnonymousPageTokens tests that a page token of an open listing is refused for other listings.
func TestAnonymousPageTokens(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	f, other := c.newFixture(object{"visibility": "open"}), c.newFixture(nil)
	f.upload(f.ids["SetId"], "b", "b")
	nobody := f.withKey("")
	next := nobody.get("/sets/" + f.ids["SetId"] + "/resources?limit=1").want(200).object().text("nextPage")
	same(t, "the next page", len(nobody.get(next).data()), 1)
	token := next[strings.LastIndex(next, "/"):]
	for at, status := range map[string]int{
		"/sets/" + other.ids["SetId"] + "/resources": 401, "/dataspaces/" + f.dataspace + "/resources": 400, "/resources": 401, "/sets": 401, "/search": 401,
	} {
		same(t, at, nobody.bad("GET", at+"/query/results"+token, nil).status, status)
	}
	same(t, "of another listing, with a key", other.bad("GET", "/resources/query/results"+token, nil).status, 400)
	f.send("PUT", "/dataspaces/"+f.dataspace, object{"visibility": "private"}).want(200)
	same(t, "when it is closed", nobody.get(next).status, http.StatusUnauthorized)
}

// TestAnonymousRequestsAreThrottled tests the limit per address. Requests with a key are not
// limited.
func TestAnonymousRequestsAreThrottled(t *testing.T) {
	oneNode(t)
	t.Parallel()
	of := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{}).newFixture(object{"visibility": "open"})
	const allowed = 5
	c := of.configured(handlers.Config{AnonymousRequests: allowed, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	at := "/sets/" + of.ids["SetId"]
	for range allowed {
		c.withKey("").get(at).want(http.StatusOK)
	}
	a := c.withKey("").get(at).problem(http.StatusTooManyRequests, "too_many_requests", "")
	same(t, "Retry-After", a.header.Get("Retry-After") != "", true)
	c.get(at).want(http.StatusOK)
	c.withKey("").get(at, "X-Forwarded-For: 192.0.2.7").want(http.StatusOK)
	c.withKey("").get("/sets").problem(http.StatusUnauthorized, "unauthenticated", "") // a request without a key
}

// TestAnonymousReadersSeeNoDestination tests that anonymous readers do not see the new location of
// a moved file, or the link through which a file arrived.
func TestAnonymousReadersSeeNoDestination(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	open, private := c.newSpace(object{"visibility": "open"}), c.newSpace(nil)
	set := open.newSet()
	id := open.upload(set, "a.txt", "a").text("id")
	open.send("POST", "/resources/"+id+"/move", object{"setId": private.newSet()}).want(http.StatusCreated)
	same(t, "with a key", open.get("/resources/"+id).object().text("movedTo") != "", true)
	for _, path := range []string{"/resources/" + id, "/sets/" + set + "/resources?state=deleted"} {
		a := open.withKey("").get(path).want(http.StatusOK)
		same(t, path, strings.Contains(string(a.body), id) && !strings.Contains(string(a.body), "movedTo"), true)
	}
}
