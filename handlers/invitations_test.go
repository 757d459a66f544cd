package handlers_test

import (
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

const html = "Accept: text/html"

// submit sends the form of a page.
func (v visitor) submit(fields string, headers ...string) *answer {
	v.t.Helper()
	return v.ask("POST", "", raw{"application/x-www-form-urlencoded", []byte(fields)}, append(headers, html)...)
}

func (a *answer) has(text string) bool { return bytes.Contains(a.body, []byte(text)) }

// invitation returns the fields of an invitation to the dataspace.
func (l linked) invitation(role string) object {
	return object{"kind": "invitation", "dataspaceId": l.dataspace, "role": role, "label": "secret label"}
}

// uses returns the number of uses of a link, and its state.
func (v visitor) uses(admin *client) string {
	v.t.Helper()
	l := admin.get("/links/" + v.id).want(http.StatusOK).object()
	return fmt.Sprint(l["uses"], " ", l["state"])
}

// invitations are links into a dataspace, one in each possible state. They contain words that the
// service must not reveal.
type invitations struct {
	good, account, used, expired, revoked, lost, left, deleted visitor

	title   string // visible through a valid invitation
	secrets []string
}

func (c *client) newInvitations(now func() time.Time) (i invitations) {
	i.title = "Invited title"
	in, gone := c.newSpace(object{"title": i.title}), c.newSpace(object{"title": i.title})
	fields := func(s *space) object {
		return object{"kind": "invitation", "dataspaceId": s.dataspace, "role": "editor", "label": "secret label"}
	}
	i.good, i.account = c.newLink(fields(in)), c.newLink(object{"kind": "invitation"})
	i.used, i.revoked, i.deleted = c.newLink(fields(in)), c.newLink(fields(in)), c.newLink(fields(gone))
	soon := fields(in)
	soon["expires"] = now().Add(time.Hour).UTC().Format(time.RFC3339)
	i.expired = c.newLink(soon)
	lost, left := in.newMember("admin"), in.newMember("admin")
	i.lost, i.left = lost.newLink(fields(in)), left.newLink(fields(in))
	i.used.ask("POST", "", object{"username": "colleague"}).want(http.StatusCreated)
	c.send("DELETE", "/links/"+i.revoked.id, nil).want(http.StatusNoContent)
	c.send("DELETE", "/dataspaces/"+gone.dataspace, nil).want(http.StatusNoContent)
	c.send("DELETE", "/privileges/"+lost.get("/privileges?userId=me").data()[0].text("id"), nil).want(http.StatusNoContent)
	c.send("DELETE", "/users/"+left.id, nil).want(http.StatusNoContent)
	i.secrets = []string{i.title, "secret label", "colleague", in.dataspace, gone.dataspace, left.id, i.good.id}
	return i
}

// TestInvitationCreatesUser tests that a program and a browser can each accept an invitation
// exactly once. Each creates a user with the role and a working key. The browser also gets a
// session.
func TestInvitationCreatesUser(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	for _, browser := range []bool{false, true} {
		v, name := l.newLink(l.invitation("editor")), l.name("colleague")
		var key string
		if browser {
			page := v.ask("GET", "", nil, html).want(http.StatusOK)
			same(t, "the page names the dataspace and the role", page.has("<strong>Hidden title</strong> as <strong>editor</strong>") && !page.has("secret label"), true)
			taken := v.submit("username=Admin&fullname=Ada").want(http.StatusConflict)
			same(t, "the form keeps the input and shows the error", taken.has(`value="Admin"`) && taken.has(`value="Ada"`) && taken.has(`aria-invalid="true" aria-describedby="wrong rules"`), true)
			v.submit("username=a+b").want(http.StatusBadRequest)
			same(t, "uses before", v.uses(l.client), "0 active")
			done := v.submit("username=" + name + "&fullname=Ada").want(http.StatusCreated)
			_, after, _ := strings.Cut(string(done.body), `<pre class="key">`)
			key, _, _ = strings.Cut(after, "<")
			cookie, _, _ := strings.Cut(done.header.Get("Set-Cookie"), ";")
			same(t, "signed in as", l.withKey("").get("/users/me", "Cookie: "+cookie).want(http.StatusOK).object().text("fullname"), "Ada")
			same(t, "the cookie belongs to a session", strings.Contains(done.header.Get("Set-Cookie"), "HttpOnly; SameSite=Strict"), true)
		} else {
			v.ask("POST", "", object{"username": name, "sysadmin": true}).problem(http.StatusBadRequest, "unknown_field", "sysadmin")
			v.ask("POST", "", object{}).problem(http.StatusBadRequest, "missing_field", "username")
			done := v.ask("POST", "", object{"username": name}).want(http.StatusCreated)
			same(t, "no session for programs", done.header.Get("Set-Cookie"), "")
			key = done.object().text("key")
			same(t, "the answer", done.object().text("role")+done.object().text("dataspaceId"), "editor"+l.dataspace)
		}
		colleague := l.withKey(key)
		same(t, "the user", colleague.get("/users/me").want(http.StatusOK).object().text("username"), name)
		colleague.send("POST", "/sets", object{"name": l.name("set"), "dataspaceId": l.dataspace}).want(http.StatusCreated)
		same(t, "uses", v.uses(l.client), "1 used_up")
		v.ask("POST", "", object{"username": l.name("late")}).problem(http.StatusGone, "link_ended", "")
		v.submit("username=" + l.name("late")).want(http.StatusGone)
	}
	alone := l.newLink(object{"kind": "invitation"})
	made := alone.ask("POST", "", object{"username": l.name("alone")}).want(http.StatusCreated).object()
	same(t, "an account without a role", fmt.Sprint(made["role"], made["dataspaceId"], len(l.withKey(made.text("key")).get("/privileges?userId=me").data())), "<nil> <nil> 0")
}

// TestConcurrentAcceptances sends 16 concurrent acceptances. One creates a user, and the others
// leave nothing.
func TestConcurrentAcceptances(t *testing.T) {
	t.Parallel()
	l := ownGateway(t, repository.Config{}, handlers.Config{}).newLinked()
	for round := range 4 {
		v := l.newLink(l.invitation("member"))
		var made atomic.Int64
		var all, sending sync.WaitGroup
		sending.Add(16)
		for i := range 16 {
			all.Go(func() {
				body := &interrupted{rest: fmt.Appendf(nil, `{"username": "racer-%d-%d"}`, round, i), at: 5, act: func() {
					sending.Done()
					sending.Wait() // wait until all requests are in progress
				}}
				if v.ask("POST", "", body, "Content-Type: application/json").status == http.StatusCreated {
					made.Add(1)
				}
			})
		}
		all.Wait()
		same(t, "created users", made.Load(), 1)
		same(t, "existing users", len(l.get("/users").data()), round+2)
		same(t, "existing members", len(l.get("/privileges?dataspaceId="+l.dataspace).data()), round+2)
		same(t, "uses", v.uses(l.client), "1 used_up")
	}
}

// TestInvitationOfUsers tests that a user who is signed in, or sends a key, gets only the role. If
// the user already has that role or a higher one, the invitation stays unused.
func TestInvitationOfUsers(t *testing.T) {
	t.Parallel()
	l := ownGateway(t, repository.Config{}, handlers.Config{}).newLinked()
	users := len(l.get("/users").data())
	v := l.newLink(l.invitation("editor"))
	member, admin := l.newMember("member"), l.newMember("admin")
	as := func(c *client) string { return "Authorization: Bearer " + c.key }
	for _, tc := range []struct {
		who  *client
		role string
	}{{admin, "admin"}, {l.client, ""}} {
		kept := v.ask("POST", "", nil, as(tc.who)).want(http.StatusOK).object()
		same(t, "not used", kept["used"], any(false))
	}
	same(t, "the role of the admin", admin.get("/privileges?userId=me").data()[0].text("role"), "admin")
	same(t, "the page reports it", v.ask("GET", "", nil, html, as(admin)).has("are already admin in Hidden title"), true)
	same(t, "uses", v.uses(l.client), "0 active")
	v.ask("POST", "", object{"username": "another"}, as(member)).problem(http.StatusBadRequest, "invalid_field", "username")
	v.ask("POST", "", nil, as(member)+"x").problem(http.StatusUnauthorized, "unauthenticated", "")
	cookie, _ := member.signIn()
	name := member.get("/users/me").object().text("username")
	same(t, "the page for a signed-in user", v.ask("GET", "", nil, html, cookie).has("Join as "+name), true)
	same(t, "a page for another user", v.submit("as=somebody", cookie).want(http.StatusBadRequest).has("somebody is no longer signed in here"), true)
	same(t, "a page after signing out", v.submit("as="+name).want(http.StatusBadRequest).has("Choose a username"), true)
	same(t, "a form for a new user", v.submit("username=another", cookie).want(http.StatusBadRequest).has("Join as "+name), true)
	done := v.submit("as="+name, cookie).want(http.StatusOK)
	same(t, "joined, without a key", done.has("Welcome, "+name) && !done.has("class=\"key\""), true)
	same(t, "the role", member.get("/privileges?userId=me").data()[0].text("role"), "editor")
	same(t, "uses", v.uses(l.client), "1 used_up")
	alone := l.newLink(object{"kind": "invitation"})
	same(t, "an invitation to an account, for a user with an account", alone.ask("POST", "", nil, as(member)).want(http.StatusOK).object()["used"], any(false))
	same(t, "users", len(l.get("/users").data()), users+2)
	member.send("DELETE", "/session", nil, cookie).want(http.StatusNoContent)
	same(t, "an ended session", l.newLink(l.invitation("editor")).ask("GET", "", nil, html, cookie).want(http.StatusOK).has("Choose a username"), true)
}

// TestInvitationFromAnotherSite tests that no page of another site can accept an invitation. The
// first request from another site has no session, so the page reloads itself.
func TestInvitationFromAnotherSite(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	v := l.newLink(l.invitation("member"))
	for _, headers := range [][]string{{"Sec-Fetch-Site: cross-site"}, {"Origin: https://evil.example.org"}, {"Origin: null"}} {
		v.submit("username="+l.name("x"), headers...).want(http.StatusForbidden)
	}
	v.ask("POST", "", object{"username": l.name("x")}, "Origin: https://evil.example.org").problem(http.StatusForbidden, "cross_origin", "")
	again := v.ask("GET", "", nil, html, "Sec-Fetch-Site: cross-site").want(http.StatusOK)
	same(t, "requested again", again.has(`http-equiv="refresh" content="0; url=`+v.address+`?again"`), true)
	same(t, "once", v.ask("GET", "?again", nil, html, "Sec-Fetch-Site: cross-site").want(http.StatusOK).has("Choose a username"), true)
	page := v.ask("GET", "", nil, html, "Sec-Fetch-Site: same-origin").want(http.StatusOK)
	same(t, "its form has an origin", page.header.Get("Referrer-Policy"), "strict-origin")
	same(t, "uses", v.uses(l.client), "0 active")
}

// TestInvitePermission tests that sysadmins may always invite. If configured, admins may invite to
// their dataspace while they are its admins and it is not deleted.
func TestInvitePermission(t *testing.T) {
	t.Parallel()
	for _, admins := range []bool{false, true} {
		l := ownGateway(t, repository.Config{AdminsInvite: admins}, handlers.Config{}).newLinked()
		other := l.newSpace(nil)
		status := map[bool]int{true: http.StatusCreated, false: http.StatusForbidden}
		for role, may := range map[string]bool{"member": false, "editor": false, "admin": admins} {
			who := l.newMember(role)
			who.send("POST", "/links", l.invitation("admin")).want(status[may])
			who.send("POST", "/links", object{"kind": "invitation"}).want(http.StatusForbidden)
			who.send("POST", "/links", object{"kind": "invitation", "dataspaceId": other.dataspace, "role": "member"}).want(http.StatusForbidden)
		}
		taker, alone := l.newMember("admin"), l.newLink(object{"kind": "invitation"})
		of := l.newLink(l.invitation("editor"))
		taker.get("/links/" + of.id).want(http.StatusOK)
		taker.get("/links/"+alone.id).problem(http.StatusForbidden, "forbidden", "")
		taken := taker.send("POST", "/links/"+of.id+"/take", nil)
		same(t, "after a takeover", taken.status, map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[admins])
		fresh := l.newLink(l.invitation("editor"))
		for _, change := range []object{{"label": "x"}, {"expires": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}} {
			same(t, "changed by an admin", taker.send("PUT", "/links/"+fresh.id, change).status, taken.status)
		}
		taker.send("DELETE", "/links/"+of.id, nil).want(http.StatusNoContent)
		of.ask("GET", "", nil).problem(http.StatusGone, "link_ended", "")
		same(t, "the logged role of the invitation", l.get("/audit?objectId=" + of.id + "&action=link.create").data()[0]["values"].(map[string]any)["role"], any("editor"))
	}
}

// TestChosenUsernames tests that a reserved username cannot be chosen, and that the attempt does
// not use the invitation.
func TestChosenUsernames(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	v := c.newLink(object{"kind": "invitation"})
	id := c.get("/users/me").object().text("id")
	for name, sysadmins := range map[string]bool{
		"me": false, "Me": false, id: false, strings.ToLower(id): false, "anonymous": true, "Anonymous": true, ".": true, "..": true, "-x": true,
	} {
		v.ask("POST", "", object{"username": name}).problem(http.StatusBadRequest, "invalid_field", "username")
		made := c.bad("POST", "/users", object{"username": name})
		if made.status == http.StatusCreated && strings.EqualFold(name, "anonymous") {
			c.send("POST", "/users", object{"username": name}).problem(http.StatusConflict, "username_taken", "username")
		}
		if status := made.status; (status != http.StatusBadRequest) != sysadmins {
			t.Errorf("a sysadmin makes %s: %s", name, made.short())
		}
	}
	v.ask("POST", "", object{"username": "m-e.."}).want(http.StatusCreated)
}

// TestChangeDoesNotExtendInvitation tests that a change does not extend the lifetime of an
// invitation.
func TestChangeDoesNotExtendInvitation(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
	l := ownGateway(t, repository.Config{Now: now}, handlers.Config{}).newLinked()
	made := now()
	v, day := l.newLink(l.invitation("member")), 24*time.Hour
	at := func(after time.Duration) object { return object{"expires": made.Add(after).UTC().Format(time.RFC3339)} }
	l.send("PUT", "/links/"+v.id, at(29*day)).want(http.StatusOK)
	clock.Store(int64(25 * day))
	l.send("PUT", "/links/"+v.id, at(31*day)).problem(http.StatusBadRequest, "invalid_field", "expires")
	ends, err := time.Parse(time.RFC3339, l.send("PUT", "/links/"+v.id, object{"expires": ""}).want(http.StatusOK).object().text("expires"))
	if left := ends.Sub(made); err != nil || left > 30*day+time.Minute || left < 30*day-time.Minute {
		t.Errorf("without an expiry it expires after %s", left)
	}
}

// TestInvitationFields tests invalid fields of an invitation, and its lifetime.
func TestInvitationFields(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{0, 48 * time.Hour, 90 * 24 * time.Hour} {
		l := ownGateway(t, repository.Config{LinkAge: life}, handlers.Config{}).newLinked()
		for _, tc := range []struct {
			change object
			field  string
		}{
			{object{"role": "owner"}, "role"}, {object{"role": nil}, "role"}, {object{"setId": l.set}, "setId"}, {object{"password": "a blue horse"}, "password"},
			{object{"maxUses": 5}, "maxUses"}, {object{"folder": "a"}, "folder"}, {object{"expires": "2020-01-01"}, "expires"},
			{object{"expires": time.Now().AddDate(0, 0, 31).UTC().Format(time.RFC3339)}, "expires"}, {object{"dataspaceId": "x"}, "dataspaceId"},
		} {
			fields := l.invitation("member")
			for name, value := range tc.change {
				fields[name] = value
			}
			a := l.bad("POST", "/links", fields)
			if a.status < 400 || a.status > 404 || a.object().text("field") != tc.field {
				t.Errorf("%v: %s", tc.change, a.short())
			}
		}
		l.send("POST", "/links", object{"kind": "invitation", "dataspaceId": l.dataspace}).problem(http.StatusBadRequest, "missing_field", "role")
		l.send("POST", "/links", object{"kind": "invitation", "role": "member"}).problem(http.StatusBadRequest, "missing_field", "dataspaceId")
		made := l.send("POST", "/links", l.invitation("member")).want(http.StatusCreated).object()
		want := 7 * 24 * time.Hour
		if life > 0 {
			want = min(want, life)
		}
		ends, err := time.Parse(time.RFC3339, made.text("expires"))
		if left := time.Until(ends); err != nil || left > want || left < want-time.Minute {
			t.Errorf("link_lifetime %s: it ends at %s", life, made.text("expires"))
		}
		l.send("PUT", "/links/"+made.text("id"), object{"maxUses": 2}).problem(http.StatusBadRequest, "invalid_field", "maxUses")
		l.send("PUT", "/links/"+made.text("id"), object{"role": "admin"}).problem(http.StatusConflict, "read_only_field", "role")
		same(t, "changed", l.send("PUT", "/links/"+made.text("id"), object{"label": "Ada"}).want(http.StatusOK).object().text("label"), "Ada")
		l.send("DELETE", "/dataspaces/"+l.dataspace, nil).want(http.StatusNoContent)
		l.send("POST", "/links", l.invitation("member")).problem(http.StatusConflict, "parent_deleted", "dataspaceId")
	}
}

// TestInvitationIsLogged tests that one commit logs everything, with the inviter as the user and
// the invitation as the cause.
func TestInvitationIsLogged(t *testing.T) {
	t.Parallel()
	l := ownGateway(t, repository.Config{}, handlers.Config{}).newLinked()
	inviter := l.newUser(object{"sysadmin": true})
	v := inviter.newLink(l.invitation("editor"))
	id := v.submit("username=colleague").want(http.StatusCreated)
	made := l.get("/audit?objectId=" + v.id).data()[0]
	var said []string
	for _, e := range l.get("/audit?limit=4").data() {
		said = append(said, fmt.Sprint(e.text("action"), " ", e["userId"] == inviter.id, " ", e["cause"] == made["number"], " ", e["requestId"] == id.header.Get("X-Request-Id")))
	}
	same(t, "the entries, the newest first", strings.Join(said, ", "),
		"session.begin false false true, key.create false false true, privilege.grant true true true, user.create true true true")
}

// TestInvitationsAreThrottled tests the limit per address, which is the same as for other requests
// of visitors.
func TestInvitationsAreThrottled(t *testing.T) {
	oneNode(t)
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{AnonymousRequests: 3})
	v := c.newLink(object{"kind": "invitation"})
	for range 3 {
		v.ask("POST", "", object{"username": "admin"}).problem(http.StatusConflict, "username_taken", "username")
	}
	v.ask("POST", "", object{"username": "free"}).problem(http.StatusTooManyRequests, "too_many_requests", "")
	v.ask("POST", "", nil, "Authorization: Bearer "+c.key+"x").problem(http.StatusUnauthorized, "unauthenticated", "")
	cookie, _ := c.signIn()
	for range 4 {
		v.ask("POST", "", nil, "Authorization: Bearer "+c.key).want(http.StatusOK)
		v.ask("GET", "", nil, html, cookie).want(http.StatusOK)
	}
	c.send("DELETE", "/session", nil, cookie).want(http.StatusNoContent)
	v.ask("GET", "", nil, html, cookie).want(http.StatusTooManyRequests)

	// a new service, because the limit applies for a minute
	g := ownGateway(t, repository.Config{}, handlers.Config{AnonymousRequests: 1}).newLinked()
	share := g.newLink(object{"kind": "share", "setId": g.set, "password": "a blue horse"})
	share.submit("password=guessed", "Authorization: Bearer "+g.key).want(http.StatusUnauthorized)
	share.submit("password=guessed", "Authorization: Bearer "+g.key).want(http.StatusTooManyRequests)
}
