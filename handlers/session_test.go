package handlers_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// signIn returns the Cookie header of a new session, and the client without its key.
func (c *client) signIn(headers ...string) (cookie string, browser *client) {
	c.t.Helper()
	a := c.withKey("").send("POST", "/session", object{"key": c.key}, headers...).want(http.StatusOK)
	token, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	return "Cookie: " + token, c.withKey("")
}

// TestSessionPermissions tests that a session works for every route, with the permissions of
// its key.
func TestSessionPermissions(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	editor := s.newMember("editor")
	signed := editor.withKey("").send("POST", "/session", object{"key": " Bearer " + editor.key + "\n"}).want(http.StatusOK)
	same(t, "the members", strings.Join(members(signed.body), " "), "username sysadmin")
	same(t, "sysadmin", signed.object()["sysadmin"], any(false))
	same(t, "Cache-Control", signed.header.Get("Cache-Control"), "no-store")
	parts := strings.Split(signed.header.Get("Set-Cookie"), "; ")
	same(t, "the header about the cookie", strings.Join(parts[1:2], " ")+" "+strings.Join(parts[len(parts)-2:], " "), "Path=/ HttpOnly SameSite=Strict")

	cookie, browser := editor.signIn()
	same(t, "who", browser.get("/users/me", cookie).want(http.StatusOK).object().text("id"), editor.id)
	browser.get("/sets/"+set, cookie).want(http.StatusOK)
	browser.get("/users/me", cookie+"; other=1").want(http.StatusOK)
	form := form(text("setId", set), file("a", "1"))
	made := browser.send("POST", "/resources", form, cookie).want(http.StatusCreated).object()
	same(t, "createdBy", made.text("createdBy"), editor.id)
	same(t, "the file", string(browser.get("/resources/"+made.text("id")+"/data", cookie).want(http.StatusOK).body), "1")
	browser.send("POST", "/users", object{"username": "x"}, cookie).problem(http.StatusForbidden, "forbidden", "")
	for deadline := time.Now().Add(time.Minute); editor.get("/users/me/keys").data()[0].text("lastUsed") == ""; { // recorded in the background
		if time.Now().After(deadline) {
			t.Fatal("the use of the key is not recorded")
		}
		time.Sleep(time.Millisecond)
	}

	// The header takes precedence over the cookie.
	browser.withKey("nonsense").get("/users/me", cookie).problem(http.StatusUnauthorized, "unauthenticated", "")
	same(t, "the user, with a key", s.get("/users/me", cookie).object().text("username"), "admin")
	// The token of a session is not accepted as a key, nor a key as a session.
	browser.withKey(strings.TrimPrefix(cookie, "Cookie: labshelf_session=")).get("/users/me").problem(http.StatusUnauthorized, "unauthenticated", "")
	browser.get("/users/me", "Cookie: labshelf_session="+editor.key).problem(http.StatusUnauthorized, "unauthenticated", "")

	// Signing in again ends the former session. Signing out ends this one and every copy of it.
	again := browser.send("POST", "/session", object{"key": editor.key}, cookie).want(http.StatusOK)
	browser.get("/users/me", cookie).problem(http.StatusUnauthorized, "unauthenticated", "")
	token, _, _ := strings.Cut(again.header.Get("Set-Cookie"), ";")
	next := "Cookie: " + token
	browser.get("/users/me", next).want(http.StatusOK)
	out := browser.send("DELETE", "/session", nil, next).want(http.StatusNoContent)
	same(t, "the cookie goes", strings.HasPrefix(out.header.Get("Set-Cookie"), "labshelf_session=; Path=/; Max-Age=0"), true)
	browser.get("/users/me", next).problem(http.StatusUnauthorized, "unauthenticated", "")
	for _, nothing := range []string{next, "Cookie: a=b", "Cookie: labshelf_session=x", "X: y"} {
		browser.send("DELETE", "/session", nil, nothing).want(http.StatusNoContent)
	}
	editor.send("DELETE", "/session", nil).want(http.StatusNoContent)
	editor.get("/users/me").want(http.StatusOK)
}

// TestSignInRefused tests each way in which a sign-in is refused.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	c := user.withKey("")
	for _, tt := range []struct {
		body   any
		status int
		code   errs.Code
		field  string
	}{
		{object{}, 400, "missing_field", "key"},
		{object{"key": 1}, 400, "invalid_field", "key"},
		{object{"key": nil}, 400, "invalid_field", "key"},
		{object{"key": user.key, "x": 1}, 400, "unknown_field", "x"},
		{object{"eppn": "anna@example.org", "mail": "anna@example.org", "cn": "Anna"}, 403, "key_required", "key"},
		{object{"mail": "anna@example.org", "key": user.key}, 403, "key_required", "key"},
		{object{"key": ""}, 401, "unauthenticated", ""},
		{object{"key": auth.NewKey()}, 401, "unauthenticated", ""},
		{object{"key": strings.Repeat("x", 1<<20)}, 413, "too_large", ""},
		{raw{"text/plain", []byte("{}")}, 415, "unsupported_media_type", ""},
		{raw{"application/json", []byte(`{"key": "a", "key": "b"}`)}, 400, "invalid_body", ""},
		{nil, 400, "invalid_body", ""},
	} {
		a := c.bad("POST", "/session", tt.body)
		if a.status != tt.status || a.object().text("code") != string(tt.code) || tt.field != "" && a.object().text("field") != tt.field {
			t.Errorf("%.100v: want %d %s %s, got %s", tt.body, tt.status, tt.code, tt.field, a.short())
		}
		same(t, "a cookie", a.header.Get("Set-Cookie"), "")
	}
	c.bad("POST", "/session?key="+user.key, object{"key": user.key}).problem(http.StatusBadRequest, "key_in_url", "key")
	c.bad("DELETE", "/session?key=x", nil).problem(http.StatusBadRequest, "key_in_url", "key")
	c.bad("GET", "/session", nil).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
	revoked := user.send("POST", "/users/me/keys", nil).want(201).object()
	user.send("DELETE", "/users/me/keys/"+revoked.text("id"), nil).want(204)
	c.send("POST", "/session", object{"key": revoked.text("key")}).problem(http.StatusUnauthorized, "unauthenticated", "")
}

// TestSessionsAreThrottled tests that keys and sessions cannot be guessed by signing in.
func TestSessionsAreThrottled(t *testing.T) {
	oneNode(t)
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	c := user.configured(handlers.Config{FailedKeys: 2}).withKey("")
	cookie, browser := (&client{gateway: c.gateway, t: t, key: user.key}).signIn()
	unknown, _ := auth.NewSession([16]byte{1})
	c.send("POST", "/session", object{"key": auth.NewKey()}).want(http.StatusUnauthorized)
	c.get("/sets", "Cookie: labshelf_session="+unknown).want(http.StatusUnauthorized)
	for range 2 {
		a := c.send("POST", "/session", object{"key": auth.NewKey()}).problem(http.StatusTooManyRequests, "too_many_failures", "")
		same(t, "Retry-After", a.header.Get("Retry-After") != "", true)
		c.get("/sets", "Cookie: labshelf_session="+unknown).problem(http.StatusTooManyRequests, "too_many_failures", "")
		c.get("/status", "Cookie: labshelf_session=x").problem(http.StatusTooManyRequests, "too_many_failures", "")
	}
	browser.get("/sets", cookie).want(http.StatusOK)
	c.send("POST", "/session", object{"key": user.key}).want(http.StatusOK)
	c.send("DELETE", "/session", nil, "Cookie: labshelf_session="+unknown).want(http.StatusNoContent)
}

// TestCrossOriginChangesAreRefused tests that a request that changes something with a cookie must
// come from a page of the service. This does not apply to keys or to reading.
func TestCrossOriginChangesAreRefused(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{AllowedOrigins: []string{friend}, TrustedProxies: loopback(), AllowedHosts: []string{"data.example.org"}}).newSpace(nil)
	cookie, browser := s.signIn()
	here, proxied := "Origin: "+s.server.URL, "X-Forwarded-Host: data.example.org"
	for _, tt := range []struct {
		headers []string
		own     bool
	}{
		{nil, true}, // not a browser
		{[]string{here}, true},
		{[]string{"Sec-Fetch-Site: same-origin", here}, true},
		{[]string{"Sec-Fetch-Site: none"}, true},
		{[]string{proxied, "Origin: https://data.example.org"}, true},
		{[]string{"Sec-Fetch-Site: same-site", "Origin: http://localhost:1"}, false},
		{[]string{"Sec-Fetch-Site: cross-site"}, false},
		{[]string{"Origin: https://evil.example.org"}, false},
		{[]string{"Origin: null"}, false},
		{[]string{"Origin: " + friend}, false},
		{[]string{"Origin: " + friend, "Sec-Fetch-Site: cross-site"}, false},
		{[]string{proxied, here}, false},
	} {
		with := append(tt.headers, cookie)
		name := object{"name": s.name("set"), "dataspaceId": s.dataspace}
		made := browser.send("POST", "/sets", name, with...)
		if tt.own {
			made.want(http.StatusCreated)
			browser.send("POST", "/session", object{"key": s.key}, tt.headers...).want(http.StatusOK)
		} else {
			made.problem(http.StatusForbidden, "cross_origin", "")
			browser.send("DELETE", "/dataspaces/"+s.dataspace, nil, with...).problem(http.StatusForbidden, "cross_origin", "")
			browser.send("DELETE", "/session", nil, with...).problem(http.StatusForbidden, "cross_origin", "")
			a := browser.send("POST", "/session", object{"key": s.key}, tt.headers...).problem(http.StatusForbidden, "cross_origin", "")
			same(t, "a cookie", a.header.Get("Set-Cookie"), "")
			same(t, "credentials", a.header.Get("Access-Control-Allow-Credentials"), "")
			s.send("POST", "/sets", name, with...).want(http.StatusCreated) // with a key and the cookie
		}
		browser.get("/sets", with...).want(http.StatusOK)
	}
	same(t, "the dataspace", s.get("/dataspaces/"+s.dataspace).object().text("state"), "active")
}

// TestOriginOfBaseURL tests that the pages work behind a proxy that sends another host and does not
// forward the original one.
func TestOriginOfBaseURL(t *testing.T) {
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	for _, tt := range []struct {
		base, origin string
		status       int
	}{
		{"http://Data.lab/v1", "http://data.lab", http.StatusOK},
		{"http://data.lab:80/shelf/v1", "http://data.lab", http.StatusOK},
		{"https://data.lab:443/v1", "https://data.lab", http.StatusOK},
		{"http://data.lab:8080/v1", "http://data.lab:8080", http.StatusOK},
		{"http://data.lab:8080/v1", "http://data.lab", http.StatusForbidden},
		{"https://data.lab/v1", "http://data.lab", http.StatusForbidden},
		{"https://data.lab/v1", "https://evil.example.org", http.StatusForbidden},
	} {
		base, err := url.Parse(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		c := user.configured(handlers.Config{BaseURL: base}).withKey("")
		at := c.server.URL + strings.TrimSuffix(base.Path, "/v1") + "/v1/session"
		c.send("POST", at, object{"key": user.key}, "Origin: "+tt.origin).want(tt.status)
	}
}

// TestCookieAttributes tests the path and the transport of the cookie.
func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	for _, tt := range []struct {
		base, proto string
		tls         bool
		path        string
		secure      bool
	}{
		{"", "", false, "/", false},
		{"", "", true, "/", true},
		{"", "https", false, "/", true},
		{"", "http", true, "/", false},
		{"https://localhost/v1", "", false, "/", true},
		{"http://localhost/shelf/v1/", "", false, "/shelf", false},
	} {
		config := handlers.Config{TrustedProxies: loopback()}
		if tt.base != "" {
			base, err := url.Parse(tt.base)
			if err != nil {
				t.Fatal(err)
			}
			config.BaseURL = base
		}
		for method, body := range map[string]string{"POST": `{"key": "` + user.key + `"}`, "DELETE": ""} {
			request, got := httptest.NewRequest(method, "http://localhost"+strings.TrimSuffix(tt.path, "/")+"/v1/session", strings.NewReader(body)), httptest.NewRecorder()
			request.RemoteAddr = "127.0.0.1:1"
			if tt.tls {
				request.TLS = &tls.ConnectionState{}
			}
			if tt.proto != "" {
				request.Header.Set("X-Forwarded-Proto", tt.proto)
			}
			handlers.New(suite.gateway.repo, config).ServeHTTP(got, request)
			cookies := got.Result().Cookies()
			if len(cookies) != 1 {
				t.Fatalf("%v %s: %d %s", tt, method, got.Code, got.Body)
			}
			c := cookies[0]
			if c.Name != "labshelf_session" || c.Path != tt.path || c.Secure != tt.secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" {
				t.Errorf("%v %s: %s", tt, method, c)
			}
			if (c.Value != "") != (method == "POST") {
				t.Errorf("%v %s: %s", tt, method, c)
			}
		}
	}
}

// TestSessionEndsWithKeyUserAndTime tests that a session ends with its key, with its user, and when
// it expires, at the next request or during an upload.
func TestSessionEndsWithKeyUserAndTime(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	rules := repository.Config{SessionAge: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	s := ownGateway(t, rules, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	ends := func(what string, cookie string, end func()) {
		t.Helper()
		s.withKey("").get("/sets", cookie).want(http.StatusOK)
		end()
		s.withKey("").get("/sets", cookie).problem(http.StatusUnauthorized, "unauthenticated", "")
		same(t, what, s.withKey("").get("/status", cookie).want(http.StatusOK).object().text("status"), "OK")
	}
	one := s.newMember("editor")
	cookie, _ := one.signIn()
	other, browser := one.withKey(s.send("POST", "/users/"+one.id+"/keys", nil).object().text("key")).signIn()
	ends("its key is revoked", cookie, func() {
		one.send("DELETE", "/users/me/keys/"+one.get("/users/me/keys").data()[0].text("id"), nil).want(http.StatusNoContent)
	})
	browser.get("/sets", other).want(http.StatusOK)
	ends("its user is deleted", other, func() { s.send("DELETE", "/users/"+one.id, nil).want(http.StatusNoContent) })

	two := s.newMember("editor")
	body := form(text("setId", set), file("a", "content"))
	for what, end := range map[string]func(cookie string){
		"signing out": func(cookie string) { two.send("DELETE", "/session", nil, cookie).want(http.StatusNoContent) },
		"its time":    func(string) { ahead.Add(int64(time.Hour)) },
	} {
		cookie, browser = two.signIn()
		slow := &interrupted{rest: body.body, at: len(body.body) / 2, act: func() { end(cookie) }}
		browser.bad("POST", "/resources", slow, "Content-Type: "+body.contentType, cookie).problem(http.StatusUnauthorized, "unauthenticated", "")
		browser.get("/sets", cookie).problem(http.StatusUnauthorized, "unauthenticated", "")
		same(t, "resources after "+what, len(s.get("/sets/"+set+"/resources").object()), 1)
	}

	// A session does not outlive its key.
	key := two.send("POST", "/users/me/keys", object{"expires": time.Now().Add(time.Duration(ahead.Load()) + time.Minute).UTC().Format(time.RFC3339)}).want(201).object()
	cookie, browser = two.withKey(key.text("key")).signIn()
	ends("its key expires", cookie, func() { ahead.Add(int64(time.Minute)) })

	// The newest sessions of a user are kept.
	three, cookies := s.newUser(nil), []string{}
	for range 34 {
		cookie, browser = three.signIn()
		cookies = append(cookies, cookie)
	}
	for i, cookie := range cookies {
		want := http.StatusOK
		if i < 2 {
			want = http.StatusUnauthorized
		}
		browser.get("/users/me", cookie).want(want)
	}
}
