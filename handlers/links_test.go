package handlers_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

// visitor sends requests below the address of a link, without a key.
type visitor struct {
	*client
	id, address string
}

// newLink creates a link and returns a visitor with its address.
func (c *client) newLink(fields object) visitor {
	c.t.Helper()
	made := c.send("POST", "/links", fields).want(http.StatusCreated).object()
	return visitor{c.withKey(""), made.text("id"), made.text("address")}
}

func (v visitor) ask(method, below string, body any, headers ...string) *answer {
	v.t.Helper()
	return v.bad(method, v.address+below, body, headers...)
}

// linked is a set with files inside and outside a folder. Its words must not be visible to a
// visitor with a link to the folder.
type linked struct {
	*space
	set, within, outside string
	secrets              []string
}

func (c *client) newLinked() linked {
	s := c.newSpace(object{"title": "Hidden title"})
	l := linked{space: s, set: s.newSet()}
	l.within = s.upload(l.set, "in.txt", "within", text("name", "open/in.txt")).text("id")
	l.outside = s.upload(l.set, "out.txt", "outside", text("name", "closed/out.txt")).text("id")
	l.secrets = []string{"closed", "out.txt", "outside", l.outside, "Hidden title", l.dataspace}
	return l
}

// TestLinkAnswers tests the answers of each kind of link, in each state, to each request of a
// visitor. No answer contains hidden data.
func TestLinkAnswers(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
	c := ownGateway(t, repository.Config{Now: now, AdminsInvite: true}, handlers.Config{})
	l := c.newLinked()
	share := object{"kind": "share", "setId": l.set, "folder": "open", "hidesPeople": true}
	with := func(o object, field string, value any) object {
		more := object{field: value}
		for name, value := range o {
			more[name] = value
		}
		return more
	}
	request := object{"kind": "request", "setId": l.set}
	editor := l.newMember("editor")
	former := editor.newLink(share)
	l.send("DELETE", "/privileges/"+editor.get("/privileges?userId=me").data()[0].text("id"), nil).want(http.StatusNoContent)
	revoked, expired, used := c.newLink(share), c.newLink(with(share, "expires", now().Add(time.Hour).UTC().Format(time.RFC3339))), c.newLink(with(share, "maxUses", 1))
	c.send("DELETE", "/links/"+revoked.id, nil).want(http.StatusNoContent)
	used.ask("GET", "/files/"+l.within, nil, "X-Forwarded-For: 192.0.2.1").want(http.StatusOK)
	invites := c.newInvitations(now)
	clock.Store(int64(2 * time.Hour))
	unknown := visitor{c.withKey(""), "", strings.TrimSuffix(c.base, "/v1") + "/s/AAAAAAAAAAAAAAAAAAAAAA"}
	drop := raw{"text/plain", []byte("dropped")}
	begin := headed{raw{}, []string{inTus, "Upload-Length: 7", uploadMetadata("filename", "a.txt")}}
	chunk := headed{raw{"application/offset+octet-stream", []byte("x")}, []string{inTus, "Upload-Offset: 0"}}
	sender := c.newLink(request)
	at := strings.TrimPrefix(sender.started(7, "filename", "of another link"), sender.address)
	asks := []struct {
		method, below string
		body          any
	}{
		{"GET", "", nil}, {"HEAD", "", nil}, {"GET", "/files/" + l.within, nil}, {"GET", "/files/" + l.outside, nil}, {"GET", "/files/nonsense", nil},
		{"GET", "/archive", nil}, {"PUT", "/a.txt", drop}, {"POST", "", form(file("a.txt", "x"))}, {"DELETE", "", nil}, {"PUT", "/files/" + l.within, drop},
		{"GET", "/uploads", nil}, {"POST", "/uploads", begin}, {"GET", at, chunk}, {"HEAD", at, chunk}, {"PATCH", at, chunk}, {"POST", at, chunk}, {"DELETE", at, chunk},
		{"POST", "", raw{"application/x-www-form-urlencoded", []byte("username=admin")}},
	}
	for _, tc := range []struct {
		what string
		who  visitor
		want string
	}{
		{"a share", c.newLink(share), "200 200 200 404 404 200 404 404 405 404 405 404 404 404 404 405 404 303"},
		{"a share that has a password", c.newLink(with(share, "password", "a blue horse")), "401 401 401 401 401 401 404 401 405 404 405 404 404 404 404 405 404 401"},
		{"a request", c.newLink(request), "200 200 404 404 404 404 201 200 405 201 405 201 404 404 404 405 404 303"},
		{"a request that has a password", c.newLink(with(request, "password", "a blue horse")), "401 401 404 404 404 404 401 401 405 401 405 401 401 401 401 405 401 401"},
		{"one that is revoked", revoked, "410 410 410 410 410 410 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"one that has expired", expired, "410 410 410 410 410 410 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"one that is used up", used, "410 410 410 410 410 410 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"a link of a former editor", former, "410 410 410 410 410 410 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"an invitation", invites.good, "200 200 404 404 404 404 404 415 405 404 405 404 404 404 404 405 404 409"},
		{"an invitation to have an account", invites.account, "200 200 404 404 404 404 404 415 405 404 405 404 404 404 404 405 404 409"},
		{"one that was accepted", invites.used, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"an invitation that has expired", invites.expired, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"an invitation that is revoked", invites.revoked, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"an invitation by a former admin", invites.lost, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"an invitation by a deleted user", invites.left, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"one into a dataspace that is deleted", invites.deleted, "410 410 404 404 404 404 404 410 405 404 405 404 404 404 404 405 404 410"},
		{"none", unknown, "404 404 404 404 404 404 404 404 405 404 405 404 404 404 404 405 404 404"},
	} {
		for _, accept := range []string{"Accept: application/json", "Accept: text/html"} {
			var got []string
			for _, ask := range asks {
				a := tc.who.ask(ask.method, ask.below, ask.body, accept)
				got = append(got, fmt.Sprint(a.status))
				for _, secret := range append(l.secrets, invites.secrets...) {
					shown := secret == l.outside && strings.HasSuffix(ask.below, secret) || secret == invites.title && tc.who == invites.good
					if bytes.Contains(a.body, []byte(secret)) && !shown {
						t.Errorf("%s, %s %s: the answer has %q\n%s", tc.what, ask.method, ask.below, secret, a.short())
					}
				}
			}
			same(t, tc.what+", "+accept, strings.Join(got, " "), tc.want)
		}
	}
	l.send("DELETE", "/sets/"+l.set, nil).want(http.StatusNoContent)
	c.newLinked()
}

// TestLinkShowsPresentFiles tests that a link to a folder shows its present files. A link to a file
// shows the newest or a fixed version. The archive has the same content.
func TestLinkShowsPresentFiles(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	folder := l.newLink(object{"kind": "share", "setId": l.set, "folder": "open/", "label": "For you"})
	file1 := l.newLink(object{"kind": "share", "setId": l.set, "resourceIds": []string{l.within}})
	first := l.newLink(object{"kind": "share", "setId": l.set, "resourceIds": []string{l.within}, "version": 1})
	l.send("PUT", "/resources/"+l.within, form(file("in.txt", "replaced"), text("name", "elsewhere/in.txt"))).want(http.StatusOK)
	later := l.upload(l.set, "b.txt", "later", text("name", "open/deep/b.txt")).text("id")
	for _, tc := range []struct {
		who         visitor
		names, file string
		content     string
	}{{folder, "deep/b.txt", later, "later"}, {file1, "elsewhere/in.txt", l.within, "replaced"}, {first, "open/in.txt", l.within, "within"}} {
		var names []string
		for _, f := range tc.who.ask("GET", "", nil).want(http.StatusOK).object()["files"].([]any) {
			names = append(names, f.(map[string]any)["name"].(string))
		}
		same(t, "names", strings.Join(names, " "), tc.names)
		same(t, "content", string(tc.who.ask("GET", "/files/"+tc.file, nil).want(http.StatusOK).body), tc.content)
		packed := tc.who.ask("GET", "/archive", nil).want(http.StatusOK).body
		z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil || len(z.File) != 3 || z.File[0].Name != tc.names {
			t.Fatalf("%v: %d entries, the first %q", err, len(z.File), z.File[0].Name)
		}
	}
	same(t, "the page has the label", bytes.Contains(folder.ask("GET", "", nil, "Accept: text/html").body, []byte("<h1>For you</h1>")), true)
	l.send("DELETE", "/resources/"+later, nil).want(http.StatusNoContent)
	folder.ask("GET", "/files/"+later, nil).problem(http.StatusNotFound, "resource_not_found", "")
}

// TestLinkUses tests that a whole file and an archive count as a use, and so does a part if the
// visitor has not begun the file before. A HEAD, the page, and further parts do not count. A link
// is never used more often than allowed.
func TestLinkUses(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	v := l.newLink(object{"kind": "share", "setId": l.set, "folder": "open", "maxUses": 3})
	uses := func() any { return l.get("/links/" + v.id).want(http.StatusOK).object()["uses"] }
	at := "/files/" + l.within
	v.ask("HEAD", at, nil).want(http.StatusOK)
	for _, none := range []string{"bytes=1000-", "bytes=1000-2000", "bytes=3-2", "bytes=99999999999999999999-"} {
		v.ask("GET", at, nil, "Range: "+none).want(http.StatusRequestedRangeNotSatisfiable)
	}
	same(t, "uses after a HEAD, and invalid parts", uses(), any(0.0))
	other := l.newLink(object{"kind": "share", "setId": l.set, "folder": "open"})
	other.ask("GET", at, nil, "Range: bytes=1000-", `If-Range: "other"`).want(http.StatusOK)
	same(t, "uses after a part that is sent as the whole file", l.get("/links/" + other.id).object()["uses"], any(1.0))
	v.ask("GET", at, nil, "Range: bytes=2-").want(http.StatusPartialContent)
	v.ask("GET", at, nil, "Range: bytes=3-").want(http.StatusPartialContent)
	same(t, "uses after parts", uses(), any(1.0))
	v.ask("GET", at, nil).want(http.StatusOK)
	v.ask("GET", "/archive", nil).want(http.StatusOK)
	same(t, "uses after a file and an archive", uses(), any(3.0))
	v.ask("GET", at, nil).problem(http.StatusGone, "link_ended", "")
	v.ask("GET", at, nil, "Range: bytes=4-").want(http.StatusPartialContent)
	for _, whole := range []string{"items=0-", "bytes=0-", "bytes=-6", "bytes=2-,0-", "bytes=00-"} {
		v.ask("GET", at, nil, "Range: "+whole).problem(http.StatusGone, "link_ended", "")
	}
	l.send("PUT", "/resources/"+l.within, form(file("in.txt", "within again"), text("name", "open/in.txt"))).want(http.StatusOK)
	v.ask("GET", at, nil, "Range: bytes=4-").problem(http.StatusGone, "link_ended", "")
	same(t, "state", l.get("/links/"+v.id).object().text("state"), "used_up")

	known := l.newLink(object{"kind": "share", "setId": l.set})
	tag := known.ask("GET", at, nil).header.Get("ETag")
	again := known.ask("GET", at, nil, "If-None-Match: "+tag).want(http.StatusOK)
	same(t, "no cache keeps it", again.header.Get("Cache-Control"), "private, no-store")

	crowd := l.newLink(object{"kind": "share", "setId": l.set, "maxUses": 5})
	var served atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if crowd.ask("GET", at, nil).status == http.StatusOK {
				served.Add(1)
			}
		})
	}
	all.Wait()
	same(t, "served of 16 concurrent requests", served.Load(), 5)
}

// TestLinkPassword tests that the password can be sent with HTTP Basic or with the form of the
// page. The cookie of the form is valid only for this link, and until the password changes.
func TestLinkPassword(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	fields := object{"kind": "share", "setId": l.set, "password": "a blue horse"}
	v, other := l.newLink(fields), l.newLink(fields)
	basic := func(password string) string {
		r, _ := http.NewRequest("GET", "http://x", nil)
		r.SetBasicAuth("anybody", password)
		return "Authorization: " + r.Header.Get("Authorization")
	}
	v.ask("GET", "", nil).problem(http.StatusUnauthorized, "link_password", "")
	v.ask("GET", "", nil, basic("a red horse")).problem(http.StatusUnauthorized, "link_password", "password")
	v.ask("GET", "", nil, basic("a blue horse")).want(http.StatusOK)
	page := v.ask("GET", "", nil, "Accept: text/html").want(http.StatusUnauthorized)
	same(t, "the page has a password field", bytes.Contains(page.body, []byte(`type="password"`)), true)
	enter := func(password string) *answer {
		return v.ask("POST", "", raw{"application/x-www-form-urlencoded", []byte("password=" + strings.ReplaceAll(password, " ", "+"))}, "Accept: text/html")
	}
	enter("a red horse").want(http.StatusUnauthorized)
	entered := enter("a blue horse").want(http.StatusSeeOther)
	cookie, _, _ := strings.Cut(entered.header.Get("Set-Cookie"), ";")
	v.ask("GET", "/files/"+l.within, nil, "Cookie: "+cookie).want(http.StatusOK)
	other.ask("GET", "/files/"+l.within, nil, "Cookie: "+cookie).want(http.StatusUnauthorized)
	l.send("PUT", "/links/"+v.id, object{"password": "a green horse"}).want(http.StatusOK)
	v.ask("GET", "", nil, "Cookie: "+cookie).want(http.StatusUnauthorized)
	l.send("PUT", "/links/"+v.id, object{"password": ""}).want(http.StatusOK)
	v.ask("GET", "", nil).want(http.StatusOK)
}

// TestFileRequests tests that files are stored below the label and the day, name the link and its
// owner, and obey the limits of the link. Refused files leave nothing.
func TestFileRequests(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	v := l.newLink(object{"kind": "request", "setId": l.set, "label": "Bern/East", "maxBytes": 10, "maxFileBytes": 6, "types": []string{".txt", "image/*"}, "maxUses": 3})
	put := func(name, content string) *answer { return v.ask("PUT", name, raw{"text/plain", []byte(content)}) }
	put("/deep/../a.txt", "123456").want(http.StatusCreated)
	put("/b.csv", "1").problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "name")
	put("/b.txt", "1234567").problem(http.StatusRequestEntityTooLarge, "too_large", "")
	put("/b.txt", "12345").problem(http.StatusRequestEntityTooLarge, "too_large", "")
	v.ask("PUT", "/b.txt", strings.NewReader("1234567"), "Transfer-Encoding: chunked").want(http.StatusRequestEntityTooLarge)
	v.ask("PUT", "/b.txt", raw{"text/plain", []byte("12")}, "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:").want(http.StatusBadRequest)
	page := v.ask("POST", "", form(file("c.txt", "12"), file("", ""), file("d.txt", "3")), "Accept: text/html").want(http.StatusOK)
	same(t, "the page lists the received files", bytes.Contains(page.body, []byte("<li>c.txt</li><li>d.txt</li>")), true)
	partly := l.newLink(object{"kind": "request", "setId": l.set, "maxUses": 1})
	rest := partly.ask("POST", "", form(file("one.txt", "1"), file("two.txt", "2")), "Accept: text/html").want(http.StatusGone)
	same(t, "the page lists the received files and the reason for the end", bytes.Contains(rest.body, []byte("<li>one.txt</li></ul>")) && bytes.Contains(rest.body, []byte("reached its limit of uses")), true)
	put("/e.txt", "1").problem(http.StatusGone, "link_ended", "")
	day := time.Now().UTC().Format("2006-01-02")
	var names []string
	for _, r := range l.get("/sets/" + l.set + "/resources").want(http.StatusOK).data() {
		if r["linkId"] == v.id {
			names = append(names, strings.Replace(r.text("name"), day, "DAY", 1))
			same(t, "createdBy", r.text("createdBy"), l.get("/users/me").object().text("id"))
		}
	}
	same(t, "files", strings.Join(names, " "), "Bern-East/DAY/deep/a.txt Bern-East/DAY/c.txt Bern-East/DAY/d.txt")
	after := l.get("/links/" + v.id).object()
	same(t, "uses and bytes", fmt.Sprint(after["uses"], " ", after["bytesReceived"], " ", after["state"]), "3 9 used_up")
}

// TestLinksAreTakenOver tests that an admin can take over the link of an editor who has left, and
// that visitors then have access again. Other users cannot see the link.
func TestLinksAreTakenOver(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	editor, admin, stranger := l.newMember("editor"), l.newMember("admin"), l.newUser(nil)
	v := editor.newLink(object{"kind": "share", "setId": l.set})
	stranger.get("/links/"+v.id).problem(http.StatusForbidden, "forbidden", "")
	same(t, "links of a stranger", len(stranger.get("/links").want(http.StatusOK).object()), 1)
	l.send("DELETE", "/privileges/"+editor.get("/privileges?userId=me").data()[0].text("id"), nil).want(http.StatusNoContent)
	v.ask("GET", "", nil).problem(http.StatusGone, "link_ended", "")
	same(t, "links of a former editor", len(editor.get("/links").want(http.StatusOK).object()), 1)
	editor.send("PUT", "/links/"+v.id, object{"label": "x"}).problem(http.StatusForbidden, "forbidden", "")
	for _, fields := range []object{
		{"kind": "share", "setId": l.set, "dataspaceId": 1}, {"kind": "invitation", "dataspaceId": l.dataspace, "role": "member", "setId": 1},
	} {
		stranger.bad("POST", "/links", fields).problem(http.StatusForbidden, "forbidden", "")
	}
	editor.send("POST", "/links/"+v.id+"/take", nil).problem(http.StatusForbidden, "forbidden", "")
	same(t, "owner", admin.send("POST", "/links/"+v.id+"/take", nil).want(http.StatusOK).object().text("ownerId"), admin.id)
	v.ask("GET", "", nil).want(http.StatusOK)
	l.newLink(object{"kind": "share", "setId": l.set})
	next := admin.get("/links?limit=1&dataspaceId=" + l.dataspace).want(http.StatusOK).object().text("nextPage")
	stranger.get(next).problem(http.StatusForbidden, "forbidden", "")
	stranger.get("/links?dataspaceId="+l.dataspace).problem(http.StatusForbidden, "forbidden", "")
	admin.get("/links?dataspaceId=nonsense").problem(http.StatusNotFound, "dataspace_not_found", "dataspaceId")
	same(t, "the admin lists it", admin.get("/links?dataspaceId=" + l.dataspace).data()[0].text("id"), v.id)
	admin.send("DELETE", "/links/"+v.id, nil).want(http.StatusNoContent)
	admin.send("POST", "/links/"+v.id+"/take", nil).problem(http.StatusConflict, "deleted", "")
	admin.send("PUT", "/links/"+v.id, object{"label": "x"}).problem(http.StatusConflict, "deleted", "")
}

// TestLinkFieldsAreRefused tests that the error for an invalid field of a link names the field.
func TestLinkFieldsAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{LinkAge: 36 * time.Hour}, handlers.Config{})
	same(t, "the pages know it", strings.Contains(string(c.page("/").want(http.StatusOK).body), ` data-link-days="1">`), true)
	l := c.newLinked()
	elsewhere := l.upload(l.newSet(), "a.txt", "a").text("id")
	for _, tc := range []struct {
		fields object
		status int
		field  string
	}{
		{object{"kind": "gift"}, 400, "kind"}, {object{"kind": "invitation"}, 400, "setId"}, {object{"kind": "share", "role": "member"}, 400, "role"}, {object{"kind": "share", "maxBytes": 1}, 400, "maxBytes"}, {object{"kind": "request", "folder": "a"}, 400, "folder"},
		{object{"kind": "share", "version": 1}, 400, "version"}, {object{"kind": "share", "resourceIds": []string{elsewhere}, "folder": "a"}, 400, "resourceIds"},
		{object{"kind": "share", "resourceIds": []string{elsewhere}}, 400, "resourceIds"}, {object{"kind": "share", "resourceIds": []string{"x"}}, 404, "resourceIds"},
		{object{"kind": "share", "resourceIds": []string{l.within}, "version": 7}, 404, "version"}, {object{"kind": "share", "password": "short"}, 400, "password"},
		{object{"kind": "share", "expires": "2020-01-01"}, 400, "expires"}, {object{"kind": "share", "expires": "2100-01-01"}, 400, "expires"},
		{object{"kind": "request", "types": []string{"tif"}}, 400, "types"}, {object{"kind": "share", "folder": "a\nb"}, 400, "folder"},
	} {
		tc.fields["setId"] = l.set
		a := c.bad("POST", "/links", tc.fields)
		if a.status != tc.status || a.object().text("field") != tc.field {
			t.Errorf("%v: %s", tc.fields, a.short())
		}
	}
	l.send("PUT", "/resources/"+l.within, form(file("in.txt", "replaced"))).want(http.StatusOK)
	l.send("DELETE", "/resources/"+l.within+"/versions/1/data", nil).want(http.StatusOK)
	l.send("POST", "/links", object{"kind": "share", "setId": l.set, "resourceIds": []string{l.within}, "version": 1}).want(http.StatusGone)
	gone := l.newSet()
	l.send("DELETE", "/sets/"+gone, nil).want(http.StatusNoContent)
	l.send("POST", "/links", object{"kind": "share", "setId": gone}).problem(http.StatusConflict, "parent_deleted", "setId")
	ends := l.send("POST", "/links", object{"kind": "share", "setId": l.set}).want(http.StatusCreated).object().text("expires")
	at, err := time.Parse(time.RFC3339, ends)
	if left := time.Until(at); err != nil || left < 35*time.Hour || left > 36*time.Hour {
		t.Errorf("a link without an expiry expires at %q", ends)
	}
}

// TestVisitorsAreThrottled tests the limit per address, which is the same as for anonymous readers.
func TestVisitorsAreThrottled(t *testing.T) {
	oneNode(t)
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{AnonymousRequests: 3})
	v := c.newLink(object{"kind": "share", "setId": c.newLinked().set})
	for range 3 {
		v.ask("GET", "", nil).want(http.StatusOK)
	}
	same(t, "Retry-After", v.ask("GET", "", nil).problem(http.StatusTooManyRequests, "too_many_requests", "").header.Get("Retry-After"), "20")
	v.ask("PUT", "/a.txt", raw{"text/plain", []byte("x")}).want(http.StatusTooManyRequests)
}
