package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/handlers"
)

// TestLogHasOneLineWithoutSecrets tests that every request writes one line with its id, and that no
// key or query is logged.
func TestLogHasOneLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	c := s.configured(handlers.Config{})
	const canary = "canary-in-the-query"
	key := auth.NewKey()
	answers := []*answer{
		c.get("/sets/" + set).want(200),
		c.get("/sets/" + set + "/resources?name=" + canary).want(200),
		c.bad("GET", "/sets?state="+canary, nil).want(400),
		c.bad("GET", "/sets?key="+canary, nil).problem(400, "key_in_url", "key"),
		c.bad("GET", "/sets?state="+key, nil).problem(400, "key_in_url", "state"),
		c.bad("GET", "/sets?"+key, nil).problem(400, "key_in_url", ""),
		c.bad("DELETE", "/users/me/keys/"+key, nil).problem(400, "key_in_url", ""),
		c.withKey(key).get("/sets").want(401),
		c.withKey("Bearer " + key).get("/sets").want(401),
		c.send("POST", "/users/me/keys", object{"label": canary}).want(201),
		c.send("OPTIONS", "/sets?x="+canary, nil).want(204),
	}
	same(t, "lines", strings.Count(c.log.String(), "\n"), len(answers))
	var line struct {
		Request, Method, Path, User, From string
		Status                            int
	}
	for i, text := range strings.Split(strings.TrimSpace(c.log.String()), "\n") {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		a := answers[i]
		same(t, a.what+": request", line.Request, a.header.Get("X-Request-Id"))
		same(t, a.what+": status", line.Status, a.status)
		same(t, a.what+": method", line.Method+" ", a.what[:len(line.Method)+1])
	}
	for _, secret := range []string{key, canary, s.key, answers[9].object().text("key"), key[8:]} {
		if strings.Contains(c.log.String(), secret) {
			t.Errorf("the log contains %q: %s", secret, c.log)
		}
	}
	for _, a := range answers[2:9] {
		if strings.Contains(string(a.body), key) {
			t.Errorf("an answer repeats a key: %s", a.short())
		}
	}
	same(t, "the user in the log", strings.Contains(c.log.String(), `"user":"admin"`), true)
}
