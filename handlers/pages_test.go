package handlers_test

import (
	"bytes"
	"compress/gzip"
	stdhtml "html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"labshelf/docs"
	"labshelf/handlers"
	"labshelf/web"
)

const pagesPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; media-src 'self'; " +
	"frame-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// TestPages tests that every page path answers with the shell, even without a key, and without
// reading a record.
func TestPages(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	first := c.get(c.server.URL + "/").want(http.StatusOK)
	for _, at := range []string{"/", "/dataspaces/x", "/sets/x/", "/trash", "/account", "/users", "/usage", "/docs/interface", "/docs/guide/uploads", "/signin?to=%2Fsets%2Fx"} {
		a := c.get(c.server.URL + at).want(http.StatusOK)
		same(t, at+" is the shell", string(a.body), string(first.body))
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": pagesPolicy, "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "ETag": first.header.Get("ETag"),
		} {
			same(t, at+" "+name, strings.Join(a.header.Values(name), "|"), want)
		}
	}
	c.get(c.server.URL+"/sets/x", "If-None-Match: "+first.header.Get("ETag")).want(http.StatusNotModified)
	same(t, "the length of an answer to HEAD", len(c.send("HEAD", c.server.URL+"/sets/x", nil).want(http.StatusOK).body), 0)
	for _, at := range []string{"/other.html", "/favicon.ico", "/docs/a.md", "/assets/", "/assets/app.js", "/assets/../manifest.json", "/manifest.json", "/v1/docs", "/metrics", "/metrics/", "/debug/pprof/", "/assets/a/b.js", "/assets/%2e%2e%2fmanifest.json", "//v1/sets", "/x//v1/sets"} {
		c.bad("GET", c.server.URL+at, nil).problem(http.StatusNotFound, "not_found", "")
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		a := c.bad(method, c.server.URL+"/sets/x", nil).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
		same(t, "Allow", a.header.Get("Allow"), "GET, HEAD, OPTIONS")
	}
	same(t, "Allow", c.bad("OPTIONS", c.server.URL+"/sets/x", nil).want(http.StatusNoContent).header.Get("Allow"), "GET, HEAD, OPTIONS")
	same(t, "Allow", c.bad("OPTIONS", c.server.URL+"/", nil).want(http.StatusOK).header.Get("Allow"), "OPTIONS, GET, HEAD, PROPFIND")
	c.bad("GET", c.server.URL+"/?key=x", nil).problem(http.StatusBadRequest, "key_in_url", "key")
	for _, at := range []string{"/v1", "/v1/"} {
		same(t, at, strings.HasPrefix(string(c.get(c.server.URL+at).want(http.StatusOK).body), "labshelf"), true)
	}
	c.bad("POST", c.server.URL+"/v1", nil).problem(http.StatusMethodNotAllowed, "method_not_allowed", "")
}

// TestManual gets every page of the manual without a key, as a file and as a page without a script,
// also below a base path.
func TestManual(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, c := range map[string]*client{"": sysadmin(t), "/shelf": sysadmin(t).configured(handlers.Config{BaseURL: base})} {
		c = c.withKey("")
		site := c.server.URL + prefix + "/docs"
		for _, name := range docs.Published() {
			want, err := docs.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			a := c.get(site + "/" + name).want(http.StatusOK)
			same(t, name, string(a.body), string(want))
			same(t, name+" Content-Type", a.header.Get("Content-Type"), "text/plain; charset=utf-8")
			c.get(site+"/"+name, "If-None-Match: "+a.header.Get("ETag")).want(http.StatusNotModified)
		}
		help := string(c.get(site).want(http.StatusOK).body)
		same(t, "the manual and the help without a script", string(c.get(site+"/manual").want(http.StatusOK).body), help)
		for _, p := range docs.Pages() {
			at := prefix + "/docs/" + p.Name()
			same(t, "the help lists "+at, strings.Contains(help, `<a href="`+at+`">`), true)
			a := c.get(c.server.URL + at).want(http.StatusOK)
			line := stdhtml.EscapeString(strings.SplitN(p.Text(), "\n", 2)[0])
			same(t, at+" has its text", strings.Contains(string(a.body), line), true)
			same(t, at+" Content-Security-Policy", a.header.Get("Content-Security-Policy"), pagesPolicy)
		}
		c.bad("GET", site+"/nosuch.md", nil).problem(http.StatusNotFound, "not_found", "")
		c.bad("GET", site+"/docs.go", nil).problem(http.StatusNotFound, "not_found", "")
	}
}

// TestProgramsGetNoPage tests that a program that requests a wrong path gets an error, not a
// page.
func TestProgramsGetNoPage(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	for accept, status := range map[string]int{
		"": http.StatusOK, "*/*": http.StatusOK, "text/html": http.StatusOK, "application/json": http.StatusNotFound,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": http.StatusOK, "application/json, text/plain, */*": http.StatusOK,
		"application/json;q=0.9, application/problem+json": http.StatusNotFound, "image/png": http.StatusNotFound,
	} {
		for _, at := range []string{"/resources/x", "/sets/x", "/"} {
			a := c.bad("GET", c.server.URL+at, nil, "Accept: "+accept)
			same(t, at+" for "+accept, a.status, status)
			same(t, "Vary", strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Accept"), true)
		}
	}
}

// TestLongerPathIsNotBelowTheBase tests that a path is not below the base path if it only begins
// with the same characters.
func TestLongerPathIsNotBelowTheBase(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	c := sysadmin(t).configured(handlers.Config{BaseURL: base}).withKey("")
	for at, status := range map[string]int{
		"/shelf": http.StatusOK, "/shelf/": http.StatusOK, "/shelf/sets/x": http.StatusOK, "/shelf/sets": http.StatusNotFound, "/shelfish": http.StatusNotFound,
		"/shelfish/sets": http.StatusNotFound, "/": http.StatusNotFound, "/sets": http.StatusNotFound,
	} {
		same(t, at, c.bad("GET", c.server.URL+at, nil).status, status)
	}
}

// TestPageOfAResource tests that the page of viewDataUrl links the record and the file without a
// script, and is the same for every id.
func TestPageOfAResource(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	there, missing := sysadmin(t).newSpace(nil).newResource(), strings.Repeat("0", 26)
	view := c.get(c.server.URL + "/resources/" + there).want(http.StatusOK)
	other := c.get(c.server.URL + "/resources/" + missing).want(http.StatusOK)
	same(t, "the page of every id", strings.ReplaceAll(string(view.body), there, missing), string(other.body))
	same(t, "it names the record and the file", strings.Contains(string(view.body), c.base+"/resources/"+there+"/data"), true)
	same(t, "tags differ", view.header.Get("ETag") == other.header.Get("ETag"), false)
	hostile := c.get(c.server.URL + "/resources/%3Cscript%3Ealert(1)%22%27").want(http.StatusOK)
	same(t, "a hostile id is harmless", strings.Contains(string(hostile.body), "<script>"), false)
	same(t, "the policy", hostile.header.Get("Content-Security-Policy"), pagesPolicy)
}

var assetLink = regexp.MustCompile(`(?:href|src)="([^"]*/assets/[^"]+)"`)

// TestAssetsAreCached tests that the assets of the shell exist below the base path, may be
// cached forever, and are compressed for clients that accept it.
func TestAssetsAreCached(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, c := range map[string]*client{"": sysadmin(t), "/shelf": sysadmin(t).configured(handlers.Config{BaseURL: base})} {
		c = c.withKey("")
		shell := string(c.get(c.server.URL + prefix + "/sets/x").want(http.StatusOK).body)
		same(t, "the base path", strings.Contains(shell, `data-base="`+prefix+`"`), true)
		links := assetLink.FindAllStringSubmatch(shell, -1)
		same(t, "a script and a style, at least", len(links) >= 2, true)
		for _, link := range links {
			same(t, link[1]+" is below the base path", strings.HasPrefix(link[1], prefix+"/assets/"), true)
			testAsset(c.on(t), c.server.URL+link[1])
		}
	}
	if _, err := fs.Stat(web.Files(), "manifest.json"); err != nil {
		t.Error(err)
	}
}

// TestFramesAndDecodersHaveNoOrigin tests that the PDF document, and the workers that read files,
// have no origin and no network access. Only the files that the PDF document loads may be loaded
// without an origin.
func TestFramesAndDecodersHaveNoOrigin(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	names, err := fs.Glob(web.Files(), "assets/*")
	if err != nil {
		t.Fatal(err)
	}
	frames, decoders := 0, 0
	for _, name := range names {
		at := c.server.URL + "/" + name
		if strings.HasSuffix(name, ".gz") {
			continue
		}
		header := c.get(at).want(http.StatusOK).header
		want := "same-origin"
		if strings.HasPrefix(name, "assets/pdf-") {
			want = "cross-origin"
		}
		same(t, name+" Cross-Origin-Resource-Policy", header.Get("Cross-Origin-Resource-Policy"), want)
		if strings.HasPrefix(name, "assets/decode-") { // a worker that reads files
			decoders++
			same(t, name+" Content-Security-Policy", header.Get("Content-Security-Policy"), "sandbox allow-scripts; default-src 'none'")
		}
		if path.Ext(name) != ".html" {
			continue
		}
		frames++
		same(t, "Content-Type", header.Get("Content-Type"), "text/html; charset=utf-8")
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"sandbox allow-scripts;", "default-src 'none';", "frame-ancestors 'self'"} {
			same(t, part, strings.Contains(policy, part), true)
		}
		for _, part := range []string{"connect-src", "allow-same-origin", "unsafe-inline", "'unsafe-eval'"} {
			same(t, part, strings.Contains(policy, part), false)
		}
	}
	same(t, "documents of frames", frames, 1)
	same(t, "decoders exist", decoders > 0, true)
}

func testAsset(c *client, at string) {
	c.t.Helper()
	want, err := fs.ReadFile(web.Files(), path.Join("assets", path.Base(at)))
	if err != nil {
		c.t.Fatal(err)
	}
	plain := c.get(at).want(http.StatusOK)
	same(c.t, at, bytes.Equal(plain.body, want), true)
	same(c.t, "Content-Encoding", plain.header.Get("Content-Encoding"), "")
	for _, offer := range []string{"gzip", "br, GZIP;q=0.5", "deflate, gzip; q=1.0"} {
		packed := c.get(at, "Accept-Encoding: "+offer).want(http.StatusOK)
		same(c.t, "Content-Encoding with "+offer, packed.header.Get("Content-Encoding"), "gzip")
		unpacked, err := gzip.NewReader(bytes.NewReader(packed.body))
		if err != nil {
			c.t.Fatal(err)
		}
		if got, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(got, want) {
			c.t.Errorf("%s packed: %v", at, err)
		}
		same(c.t, "another tag", packed.header.Get("ETag") != plain.header.Get("ETag"), true)
		c.get(at, "Accept-Encoding: "+offer, "If-None-Match: "+packed.header.Get("ETag")).want(http.StatusNotModified)
	}
	for _, offer := range []string{"", "br", "gzip;q=0", "gzip; q=0.00, br"} {
		same(c.t, "Content-Encoding with "+offer, c.get(at, "Accept-Encoding: "+offer).want(http.StatusOK).header.Get("Content-Encoding"), "")
	}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	for name, want := range map[string]string{
		"Content-Type": kinds[path.Ext(at)], "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
	} {
		same(c.t, at+" "+name, plain.header.Get(name), want)
	}
	c.bad("GET", at+".gz", nil).problem(http.StatusNotFound, "not_found", "")
}

// pageRow matches one row of the table of pages.
var pageRow = regexp.MustCompile(`\{ path: "([^"]+)"`)

// pagesOfTable returns a path for each page in web/src/app.tsx.
func pagesOfTable(t *testing.T) (addresses []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "web", "src", "app.tsx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range pageRow.FindAllStringSubmatch(string(source), -1) {
		addresses = append(addresses, regexp.MustCompile(`:\w+`).ReplaceAllString(row[1], "01ARZ3NDEKTSV4RRFFQ69G5FAV"))
	}
	if len(addresses) < 10 {
		t.Fatalf("the table of pages was not found: %v", addresses)
	}
	return append(addresses, "/signin")
}

// TestEveryPageIsTheShell tests that every page of the table answers with the shell, with any types
// that a client without a key accepts in addition to HTML.
func TestEveryPageIsTheShell(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	for _, at := range pagesOfTable(t) {
		for _, headers := range [][]string{nil, {"Accept: */*"}, {"Accept: text/html"}} {
			a := c.get(c.server.URL+at, headers...).want(http.StatusOK)
			same(t, at, a.header.Get("Content-Type"), "text/html; charset=utf-8")
		}
	}
}

// TestPathWithoutVersion tests that a path without /v1 gets 404 with the correct
// path, and not a page.
func TestPathWithoutVersion(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]bool{"/dataspaces/:id": true, "/sets/:id": true, "/resources/:id": true, "/resources/:id/versions/:number": true,
		"/dataspaces/:id/history": true, "/sets/:id/history": true, "/resources/:id/history": true, "/audit": true, "/users": true, "/usage": true,
		"/webhooks": true, "/webhooks/:id": true, "/schemas/:id": true, "/search": true, "/links": true}
	for name, c := range map[string]*client{"plain": sysadmin(t), "below a base path": sysadmin(t).configured(handlers.Config{BaseURL: base})} {
		root, want := c.server.URL, c.base
		if name != "plain" {
			root, want = root+"/shelf", base.String()
		}
		anonymous := c.withKey("")
		for _, route := range handlers.Routes() {
			path := strings.NewReplacer("{id}", "x", "{keyId}", "y", "{digest}", "z", "{token}", "t", "{number}", "3").Replace(route.Path)
			for _, headers := range [][]string{nil, {"Accept: */*"}, {"Accept: text/html"}} {
				with := c.bad(route.Method, root+path, nil, headers...).problem(http.StatusNotFound, "not_found", "")
				if !strings.Contains(with.object().text("detail"), " "+want+path) {
					t.Errorf("%s, %s %s: %s", name, route.Method, path, with.object().text("detail"))
				}
				if shared[strings.NewReplacer("{", ":", "}", "").Replace(route.Path)] {
					continue
				}
				without := anonymous.bad(route.Method, root+path, nil, headers...).problem(http.StatusNotFound, "not_found", "")
				same(t, name+" "+path, without.object().text("detail"), with.object().text("detail"))
			}
		}
	}
}

// TestPathWithoutVersionIsBounded tests that the path in the answer is escaped, bounded in length
// and without a key, and that unknown paths are not repeated.
func TestPathWithoutVersionIsBounded(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	detail := func(path string) string {
		t.Helper()
		return c.bad("GET", c.server.URL+path, nil).problem(http.StatusNotFound, "not_found", "").object().text("detail")
	}
	same(t, "escaped", strings.HasSuffix(detail("/resources/%3Cb%3E%0a/data"), "/v1/resources/%3Cb%3E%0A/data"), true)
	same(t, "cut", len(detail("/resources/query/results/"+strings.Repeat("a", 500))) < 400, true)
	for _, path := range []string{"/nowhere", "/v1/nowhere", "/v1/v1/sets", "/sets/x/nowhere", "/nowhere/query/results/t"} {
		same(t, path, detail(path), "there is nothing at this address")
	}
	for _, path := range []string{"/nowhere/query/results/t", "/dataspaces/x/query/results/t", "/sets/query/results/t/"} {
		c.withKey("").bad("GET", c.server.URL+path, nil).problem(http.StatusNotFound, "not_found", "")
	}
}
