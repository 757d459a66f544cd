package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"labshelf/handlers"
)

const friend = "https://app.example.org"

// TestOnlyConfiguredOriginsRead tests that only scripts of the configured pages may use the
// service.
func TestOnlyConfiguredOriginsRead(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	c := s.configured(handlers.Config{AllowedOrigins: []string{"http://localhost:5173", friend}})
	preflight := func(c *client, origin string) *answer {
		return c.withKey("").send("OPTIONS", "/sets/"+set, nil, "Origin: "+origin, "Access-Control-Request-Method: PUT",
			"Access-Control-Request-Headers: authorization,content-type,if-match").want(http.StatusNoContent)
	}
	cors := func(a *answer) (names []string) {
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				names = append(names, name)
			}
		}
		return names
	}
	a := preflight(c, friend)
	same(t, "origin", a.header.Get("Access-Control-Allow-Origin"), friend)
	same(t, "Vary", a.header.Get("Vary"), "Origin")
	for header, words := range map[string]string{
		"Access-Control-Allow-Methods": "GET HEAD POST PUT PATCH DELETE",
		"Access-Control-Allow-Headers": "Authorization Content-Type If-Match If-None-Match If-Range Range Content-Digest Repr-Digest " +
			"Tus-Resumable Upload-Length Upload-Metadata Upload-Offset Upload-Checksum Labshelf-SHA256 X-HTTP-Method-Override X-Request-Id",
	} {
		for word := range strings.FieldsSeq(words) {
			same(t, header+" "+word, strings.Contains(a.header.Get(header)+",", word+","), true)
		}
	}
	for _, a := range []*answer{
		c.get("/sets/"+set, "Origin: "+friend).want(200),
		c.withKey("x").get("/sets", "Origin: "+friend).want(401),
		c.get("/sets/nothing", "Origin: "+friend).want(404),
		c.send("POST", "/dataspaces", object{"name": c.name("cors")}, "Origin: "+friend).want(201),
	} {
		same(t, a.what, a.header.Get("Access-Control-Allow-Origin"), friend)
		same(t, "Vary", a.header.Get("Vary"), "Origin")
		same(t, "headers", len(cors(a)), 2)
		for word := range strings.FieldsSeq("ETag Location Link Content-Range Repr-Digest X-Request-Id Retry-After " +
			"Tus-Resumable Tus-Version Tus-Extension Tus-Max-Size Tus-Checksum-Algorithm Upload-Offset Upload-Length Upload-Metadata Upload-Expires Labshelf-Resource") {
			same(t, "readable: "+word, strings.Contains(a.header.Get("Access-Control-Expose-Headers")+",", word+","), true)
		}
	}
	for _, origin := range []string{
		"https://evil.example.org", "null", "*", "https://app.example.org.evil.example", "http://app.example.org",
		"https://app.example.org:8443", "https://APP.example.org", "https://app.example.org/", "app.example.org", "",
		"http://localhost:5173, https://app.example.org",
	} {
		for _, a := range []*answer{preflight(c, origin), c.get("/sets/"+set, "Origin: "+origin).want(200)} {
			same(t, a.what+" "+origin, len(cors(a)), 0)
			same(t, "Vary", a.header.Get("Vary"), "Origin")
		}
	}
	same(t, "no Origin", len(cors(c.get("/sets/"+set).want(200))), 0)
	same(t, "two", len(cors(c.get("/sets/"+set, "Origin: "+friend, "Origin: "+friend).want(200))), 0)
	for _, a := range []*answer{preflight(s.client, friend), s.get("/sets/"+set, "Origin: "+friend).want(200)} {
		same(t, "off by default", len(cors(a)), 0)
		same(t, "Vary", a.header.Get("Vary"), "")
	}
}
