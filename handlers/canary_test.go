package handlers_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"labshelf/auth"
	"labshelf/cli/server/metrics"
	"labshelf/handlers"
	"labshelf/repository"
)

// The patterns of leaks: a key with more than its public prefix, and a page token. A key begins
// after a character that ends a word, or after an escaped line break in JSON. A random token may
// contain the first letters of a key by chance.
var (
	keyForm   = regexp.MustCompile(`(?:^|[^A-Za-z0-9_-]|\\[nrt])(` + auth.KeyPrefix + `|` + auth.SessionPrefix + `)[A-Za-z0-9_-]{5,}`)
	tokenForm = regexp.MustCompile(`/query/results/[A-Za-z0-9_=-]{2,}`)
)

// TestNoSecretIsWritten sends secrets in every possible position of valid and invalid requests, and
// searches for them in all logs and answers. All other tests of the package check their own logs
// and answers, too: see journal and contract.
func TestNoSecretIsWritten(t *testing.T) {
	t.Parallel()
	measured := metrics.New("1.2.3")
	own := ownGateway(t, repository.Config{}, handlers.Config{TrustedProxies: loopback(), AllowedOrigins: []string{friend}, FailedKeys: 5,
		Slow: 1, Observe: measured.Requests(), Metrics: measured.Handler()}) // every request is slow
	f := own.newFixture(nil)
	caller := f.newUser(object{"sysadmin": true})
	const word = "canary4711"
	key := auth.NewKey()
	const chosen = "a-key-that-an-operator-has-chosen" // such a key has no recognizable form
	sessionCookie, browser := caller.signIn()
	session := strings.TrimPrefix(sessionCookie, "Cookie: labshelf_session=")
	secrets := []string{word, session[len(auth.SessionPrefix)+8:], chosen[10:], key, key[len(auth.KeyPrefix):], own.admin, own.admin[len(auth.KeyPrefix):], caller.key}
	clean := func(where, text string) {
		t.Helper()
		for _, secret := range secrets {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s: %s", where, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	tried := func(a *answer) {
		t.Helper()
		clean(a.what, a.short())
	}

	// All operations with the key, and again without a key.
	wrong := []string{word, key, "Bearer " + word, "Basic " + word, word + " " + key}
	for i, op := range operations() {
		a := f.try(caller, op)
		if refused, _ := op.refusal(); a.status >= 300 && a.status != http.StatusConflict && (op.allow() != "" || a.status != refused) {
			t.Errorf("%s: %s", op.id, a.short())
		}
		tried(a)
		tried(own.withKey(wrong[i%len(wrong)]).bad(routeOf(op.id).Method, f.path(routeOf(op.id), f.ids), nil))
	}
	// The cookie of a session, in its own header and in others.
	for _, at := range []string{"/users/me", "/sets", "/resources/" + f.ids["ResourceId"] + "/data", "/status", "/nothing"} {
		tried(browser.bad("GET", at, nil, sessionCookie))
		tried(browser.bad("POST", at, nil, sessionCookie, "Origin: https://evil.example.org"))
		tried(browser.bad("GET", at+"/"+session, nil, sessionCookie))
		tried(browser.bad("GET", at+"?x="+session, nil, sessionCookie))
		tried(browser.bad("GET", own.server.URL+at, nil, sessionCookie))
	}
	tried(browser.withKey(session).bad("GET", "/sets", nil))
	tried(browser.bad("POST", "/session", object{"key": session, session: 1}))
	tried(browser.bad("DELETE", "/session", nil, sessionCookie))
	// In headers that should not contain it.
	for _, header := range []string{
		"Cookie: session=", "Cookie: labshelf_session=", "X-Api-Key: ", "X-Auth-Token: ", "Proxy-Authorization: ", "Referer: https://example.org/?key=", "Origin: https://", "User-Agent: ",
		"X-Forwarded-For: ", "X-Forwarded-Host: ", "X-Forwarded-Proto: ", "Forwarded: for=", "If-Match: ", "If-None-Match: ", "If-Range: ", "Range: ", "Range: bytes=",
		"Accept: ", "Content-Type: ", "Content-Type: multipart/form-data; boundary=", "Content-Encoding: ", "Content-Digest: sha-256=:", "X-Request-Id: ", "Authorization: ",
		"Access-Control-Request-Method: ", "X-Http-Method-Override: ",
	} {
		for _, secret := range []string{word, key} {
			if secret == word && header == "X-Forwarded-Host: " {
				continue // the answer reports an invalid value
			}
			tried(own.bad("GET", "/resources/"+f.ids["ResourceId"]+"/data", nil, header+secret))
			tried(own.bad("PUT", "/sets/"+f.ids["SetId"], raw{"", []byte(`{"title": "x"}`)}, header+secret))
			tried(own.bad("POST", "/resources", raw{"", []byte("--x\r\n")}, "Content-Type: multipart/form-data; boundary=x", header+secret))
		}
	}
	// In URLs and bodies, where the value looks like a key.
	for _, path := range []string{
		"/sets?key=" + word, "/sets?" + key, "/sets?state=" + key, "/sets?" + key + "=1", "/sets/" + key, "/" + key, "/sets/" + f.ids["SetId"] + "/" + key,
		"/sets/query/results/" + key, "/sets/query/results/" + word, "/users/me/keys/" + key, "/resources?name=x" + key + "x", "/sets?%zz" + key, "/resources/" + key + "/data?disposition=" + key,
		"/sets?x" + key + "=1", "/sets/x" + key, "/" + chosen, "/sets/" + chosen, "/users/me/" + chosen + "/x", "/admin/blobs/" + chosen,
	} {
		for _, method := range []string{"GET", "DELETE", "OPTIONS", "PATCH"} {
			tried(own.bad(method, path, nil))
		}
	}
	_, reader := own.dial("%s /v1/sets HTTP/1.1\r\nHost: localhost\r\n\r\n", key)
	tried(own.readRaw(reader, key, "/sets"))
	for _, body := range []any{object{key: 1}, object{"x" + key: 1}, object{"name": object{key: "x"}}, object{"dataspaceId": key}, object{"role": key}} {
		for _, path := range []string{"/sets", "/dataspaces", "/users", "/privileges"} {
			tried(own.bad("POST", path, body))
		}
	}
	for _, parts := range [][]part{{text(key, "x")}, {text("setId", key)}, {text("setId", f.ids["SetId"]), text("sha256", key), file("a", "x")}, {text("setId", f.ids["SetId"]), file("a", "x", "Content-Digest: sha-256=:"+key+":")}} {
		tried(own.bad("POST", "/resources", form(parts...)))
	}

	shown := own.get(own.server.URL + "/metrics").want(http.StatusOK)
	same(t, "the routes are measured", strings.Count(string(shown.body), "http_request_duration_seconds_count{") > 50, true)
	tried(shown)
	clean("the metrics", string(shown.body))
	same(t, "the requests were slow", strings.Contains(own.log.String(), "slow request"), true)
	clean("the log", own.log.String())
	err := filepath.WalkDir(own.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		clean(path, string(content))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPanicLogsNoSecret tests that the log of a panic does not contain the request.
func TestPanicLogsNoSecret(t *testing.T) {
	t.Parallel()
	log, key := &journal{}, auth.NewKey()
	handler := handlers.Middleware(handlers.Config{Log: zerolog.New(log)}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.Header.Values("Cookie")[len(r.URL.RawQuery)] // a typical programming error
	}))
	request, got := httptest.NewRequest("GET", "/v1/sets?key="+key, nil), httptest.NewRecorder()
	request.Header.Set("Authorization", key)
	handler.ServeHTTP(got, request)
	same(t, "status", got.Code, http.StatusInternalServerError)
	same(t, "the log has the fault", strings.Contains(log.String(), "index out of range"), true)
	if leak := keyForm.FindString(log.String() + got.Body.String()); leak != "" {
		t.Errorf("%s in %s\n%s", leak, log, got.Body)
	}
}

// TestKeyForm tests that the pattern finds a key at any position, and does not match a random
// token.
func TestKeyForm(t *testing.T) {
	t.Parallel()
	key := auth.NewKey()
	for text, want := range map[string]bool{
		key: true, "Bearer " + key: true, `{"key":"` + key[:10] + `"}`: true, `a\n` + key: true, "/" + auth.SessionPrefix + "abcdefg": true,
		"AQQBAQ" + key: false, key[:8]: false, "-" + key: false,
	} {
		same(t, text, keyForm.MatchString(text), want)
	}
}

// leaks returns an error for each secret in a log.
func leaks(text []byte) error {
	var found []error
	for _, form := range []*regexp.Regexp{keyForm, tokenForm} {
		if at := form.FindIndex(text); at != nil {
			found = append(found, errors.New(string(text)))
		}
	}
	return errors.Join(found...)
}
