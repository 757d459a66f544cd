package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestStoredFilesAreNotCode tests that no stored file is served as a script, style sheet or worker,
// because the policy of the pages trusts their own origin. Assets are still served.
func TestStoredFilesAreNotCode(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	l := c.on(t).newLinked()
	const active = "Text/JavaScript; charset=utf-8"
	file := l.newFile("evil.js", "top.evil = 1", "Content-Type: "+active)
	id := strings.TrimPrefix(file, "/resources/")
	drive := l.newDrive(nil)
	drive.dav("PUT", "/evil.js", "top.evil = 1", "Content-Type: "+active).want(http.StatusCreated)
	for _, dest := range []string{"script", "style", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "json", "xslt", "Script"} {
		header := "Sec-Fetch-Dest: " + dest
		for _, path := range []string{file + "/data", file + "/versions/0/data", file, "/sets", "/openapi.json", "/openapi.yaml"} {
			l.send("GET", path, nil, header).problem(http.StatusForbidden, "forbidden", "")
		}
		l.get(l.server.URL+"/sets/x", header).want(http.StatusForbidden)
		drive.dav("GET", "/evil.js", "", header).want(http.StatusForbidden)
		l.newLink(object{"kind": "share", "setId": l.set}).ask("GET", "", nil, header).want(http.StatusForbidden)
		l.withKey("").get(l.server.URL+"/assets/nothing.js", header).want(http.StatusNotFound)
	}
	for _, dest := range []string{"empty", "document", "image", "iframe", "video"} {
		same(t, dest, l.get(file+"/data", "Sec-Fetch-Dest: "+dest).want(http.StatusOK).header.Get("Content-Type"), active)
	}

	// Over plain HTTP browsers omit Sec-Fetch-Dest. So only requests with a key, which browsers
	// never add themselves, get the type.
	same(t, "with a key", l.get(file+"/data").want(http.StatusOK).header.Get("Content-Type"), active)
	session := l.withKey("").send("POST", "/session", object{"key": l.key}).want(http.StatusOK).header.Get("Set-Cookie")
	cookie, _, _ := strings.Cut(session, ";")
	for _, kind := range []string{active, "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript", "text/css", "TEXT/CSS ; x=1", "text/livescript"} {
		at := l.newFile("f", "top.evil = 1", "Content-Type: "+kind) + "/data"
		a := l.withKey("").get(at, "Cookie: "+cookie).want(http.StatusOK)
		same(t, kind, a.header.Get("Content-Type"), "text/plain; charset=utf-8")
	}
	a := l.withKey("").get(file+"/data", "Cookie: "+cookie, "Range: bytes=0-2").want(http.StatusPartialContent)
	same(t, "a part", a.header.Get("Content-Type"), "text/plain; charset=utf-8")
	same(t, "the record", l.get("/resources/"+id).object().text("mimetype"), active)
}
