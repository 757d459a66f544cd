package handlers_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"labshelf/handlers"
)

// pageRow is one row of the table of pages.
var pageRow = regexp.MustCompile(`\{ path: "([^"]+)"`)

// pagesOfTable returns an address of each page of web/src/app.tsx.
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
		t.Fatalf("the table of pages is not where it was: %v", addresses)
	}
	return append(addresses, "/signin")
}

// TestPagesStayPages: every page of the table answers with the shell, whatever a client without a key accepts beside HTML.
func TestPagesStayPages(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	for _, at := range pagesOfTable(t) {
		for _, headers := range [][]string{nil, {"Accept: */*"}, {"Accept: text/html"}} {
			a := c.get(c.server.URL+at, headers...).want(http.StatusOK)
			same(t, at, a.header.Get("Content-Type"), "text/html; charset=utf-8")
		}
	}
}

// TestForgottenVersion: whoever leaves out the /v1 gets 404 that names the address, and no page in place of an answer.
func TestForgottenVersion(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]bool{"/dataspaces/:id": true, "/sets/:id": true, "/resources/:id": true, "/users": true, "/usage": true}
	for name, c := range map[string]*client{"plain": sysadmin(t), "below a base path": sysadmin(t).configured(handlers.Config{BaseURL: base})} {
		root, want := c.server.URL, c.base
		if name != "plain" {
			root, want = root+"/shelf", base.String()
		}
		anonymous := c.withKey("")
		for _, route := range handlers.Routes() {
			path := strings.NewReplacer("{id}", "x", "{keyId}", "y", "{digest}", "z", "{token}", "t").Replace(route.Path)
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

// TestForgottenVersionOfOddAddresses: what is named in the answer is escaped, of bounded length and without a key, and what is nowhere is
// not named.
func TestForgottenVersionOfOddAddresses(t *testing.T) {
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
