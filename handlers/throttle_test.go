package handlers_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/handlers"
)

// TestUnknownKeysAreThrottled tests that an address that tries unknown keys is limited, but not
// requests with a valid key or without one.
func TestUnknownKeysAreThrottled(t *testing.T) {
	oneNode(t)
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	user := s.newUser(nil)
	revoked := user.send("POST", "/users/me/keys", nil).want(201).object()
	user.send("DELETE", "/users/me/keys/"+revoked.text("id"), nil).want(204)
	gone := s.newUser(nil)
	s.send("DELETE", "/users/"+gone.id, nil).want(204)

	const allowed = 4
	c := user.configured(handlers.Config{FailedKeys: allowed, TrustedProxies: loopback()})
	reference := ""
	refused := func(key string, headers ...string) {
		t.Helper()
		a := c.withKey(key).get("/sets", headers...).problem(http.StatusUnauthorized, "unauthenticated", "")
		body := strings.ReplaceAll(string(a.body), a.header.Get("X-Request-Id"), "")
		if reference == "" {
			reference = body
		}
		same(t, "the body", body, reference)
		same(t, "WWW-Authenticate", a.header.Get("WWW-Authenticate") != "", true)
		same(t, "Retry-After", a.header.Get("Retry-After"), "")
	}
	throttled := func(key string, headers ...string) {
		t.Helper()
		a := c.withKey(key).get("/sets", headers...).problem(http.StatusTooManyRequests, "too_many_failures", "")
		// The time is shorter if the machine has taken more than a second since the first request.
		if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 || wait > 60/allowed {
			t.Errorf("Retry-After: got %q, want up to %d", a.header.Get("Retry-After"), 60/allowed)
		}
	}
	for range 3 * allowed {
		refused("")
		refused(revoked.text("key"))
		refused(gone.key)
		c.get("/sets").want(http.StatusOK)
	}
	for _, key := range []string{auth.NewKey(), "nonsense", "Bearer " + auth.NewKey(), auth.NewKey()} {
		refused(key)
	}
	throttled(auth.NewKey())
	throttled("nonsense")
	refused("")
	refused(revoked.text("key"))
	c.get("/sets").want(http.StatusOK)
	c.withKey("").get("/status").want(http.StatusOK)
	// otherwise this request could be used to guess keys
	c.withKey(auth.NewKey()).get("/status").problem(http.StatusTooManyRequests, "too_many_failures", "")

	const guess, via = "guess", "X-Forwarded-For: "
	for i := range allowed {
		refused(guess, fmt.Sprintf("%s10.0.0.%d, 192.0.2.1", via, i)) // addresses that the client itself adds are ignored
	}
	throttled(guess, via+"192.0.2.1")
	throttled(guess, via+"8.8.8.8, 192.0.2.1:4711, 127.0.0.1")
	throttled(guess, via+"192.0.2.1", via+"[::1]:80")
	refused(guess, via+"192.0.2.2")
	for i := range allowed {
		refused(guess, fmt.Sprintf("%s2001:db8:0:1::%d", via, i))
	}
	throttled(guess, via+"2001:db8:0:1:ffff:ffff:ffff:ffff")
	refused(guess, via+"2001:db8:0:2::1")
	same(t, "the log names the client", strings.Contains(c.log.String(), `"client":"2001:db8:0:2::1"`), true)

	free := user.configured(handlers.Config{})
	for range 150 {
		free.withKey(guess).get("/sets").want(http.StatusUnauthorized)
	}
	// Without a trusted proxy, the header is ignored.
	direct := user.configured(handlers.Config{FailedKeys: 1})
	direct.withKey(guess).get("/sets", via+"192.0.2.1").want(http.StatusUnauthorized)
	direct.withKey(guess).get("/sets", via+"192.0.2.2").want(http.StatusTooManyRequests)
}
