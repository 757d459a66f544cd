package handlers_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	stdhtml "html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"labshelf/handlers"
	"labshelf/repository"
)

// page gets a page like a browser without scripts.
func (c *client) page(at string, headers ...string) *answer {
	c.t.Helper()
	return c.withKey("").bad("GET", c.server.URL+at, nil, append(headers, "Accept: text/html")...)
}

var jsonLD = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

// dataset returns the JSON-LD of a page.
func (a *answer) dataset() object {
	a.t.Helper()
	found := jsonLD.FindSubmatch(a.body)
	if found == nil {
		a.t.Fatalf("%s: no JSON-LD in %s", a.what, a.short())
	}
	return (&answer{t: a.t, what: a.what, body: found[1]}).object()
}

// hostile is a string that tries to break out of HTML and JSON.
const hostile = `</script><script>alert(1)</script>"&<!-- {{.}} javascript:alert(1)`

// TestOpenPages tests that the HTML contains open data: title, metadata, files and JSON-LD, with
// any names.
func TestOpenPages(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://data.example.org/shelf/v1")
	if err != nil {
		t.Fatal(err)
	}
	f := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{}).newFixture(object{"visibility": "open", "title": "Ice " + hostile})
	c := f.configured(handlers.Config{BaseURL: base})
	set, file := f.ids["SetId"], f.ids["ResourceId"]
	f.send("PUT", "/sets/"+set, object{"title": "Cores & drills", "description": "What the drill brought up.\nSecond line " + hostile, "metadata": object{
		"creators":  []object{{"name": "Lovelace, Ada", "givenName": "Ada", "familyName": "Lovelace", "type": "person", "orcid": "0000-0002-1825-0097", "affiliations": []string{"Institute"}}},
		"publisher": "Ice lab", "publicationYear": 2025, "licence": "CC-BY-4.0", "keywords": []string{"ice"}, "tags": []string{"deep"},
		"related":    []object{{"identifier": "10.1000/182", "type": "DOI", "relation": "IsSupplementTo"}},
		"dates":      []object{{"date": "2024-01-01/2024-02-01", "type": "Coverage"}},
		"funding":    []object{{"funder": "Fund", "award": "12", "uri": "https://fund.example.org/12"}},
		"places":     []object{{"name": "Dome C", "latitude": -75.1, "longitude": 123.3}},
		"properties": object{"temperature": object{"value": -20, "unit": "°C"}},
	}}).want(http.StatusOK)
	pages := map[string][]string{
		"/shelf/sets/" + set: {"<title>Cores &amp; drills · labshelf</title>", `<link rel="canonical" href="https://data.example.org/shelf/sets/` + set + `">`,
			"Lovelace, Ada", "https://orcid.org/0000-0002-1825-0097", "Ice lab", "2025", "CC-BY-4.0", "a.txt", "/v1/resources/" + file + "/data", "/v1/sets/" + set + "/archive",
			"temperature", "-20 °C", "https://doi.org/10.1000/182", "7 B", "Dome C", `<meta name="description" content="What the drill brought up. Second line`},
		"/shelf/resources/" + file:           {"<title>a.txt · labshelf</title>", "Download 7 B", sha256Hex("content"), "/shelf/sets/" + set, "Cores &amp; drills"},
		"/shelf/dataspaces/" + f.dataspace:   {"<title>Ice &lt;/script&gt;", "Cores &amp; drills", "/shelf/sets/" + set},
		"/shelf/sets/" + set + "?order=name": {"a.txt"},
	}
	for at, wanted := range pages {
		a := c.page(at).want(http.StatusOK)
		for _, text := range wanted {
			if !strings.Contains(string(a.body), text) {
				t.Errorf("%s lacks %q:\n%s", at, text, a.short())
			}
		}
		same(t, at+": scripts", strings.Count(string(a.body), "<script"), 2)
		same(t, at+": no string becomes a script", strings.Contains(string(a.body), "<script>"), false)
		for name, want := range map[string]string{"Cache-Control": "public, no-cache", "Content-Security-Policy": pagesPolicy, "Content-Type": "text/html; charset=utf-8"} {
			same(t, at+": "+name, a.header.Get(name), want)
		}
		same(t, at+": Vary", strings.Join(a.header.Values("Vary"), ", "), "Accept, Authorization, Cookie")
		same(t, at+": is still the same", c.page(at, "If-None-Match: "+a.header.Get("ETag")).status, http.StatusNotModified)
		signedIn := c.page(at, "Cookie: labshelf_session=x").want(http.StatusOK)
		same(t, at+": with a cookie", strings.Contains(string(signedIn.body), "<main"), false)
		same(t, at+": Cache-Control with a cookie", signedIn.header.Get("Cache-Control"), "private, no-cache")
	}
	d := c.page("/shelf/sets/" + set).dataset()
	address := "https://data.example.org/shelf/sets/" + set
	for name, want := range map[string]any{"@type": "Dataset", "@context": "https://schema.org/", "@id": address, "url": address, "name": "Cores & drills",
		"license": "https://spdx.org/licenses/CC-BY-4.0.html", "datePublished": "2025", "temporalCoverage": "2024-01-01/2024-02-01", "isAccessibleForFree": true} {
		same(t, name, d[name], want)
	}
	same(t, "the description", strings.HasPrefix(d.text("description"), "What the drill brought up.\nSecond line "+hostile), true)
	same(t, "creator, catalogue and files", fmt.Sprint(d["creator"], d["includedInDataCatalog"], len(d["distribution"].([]any))),
		fmt.Sprintf("[map[@id:https://orcid.org/0000-0002-1825-0097 @type:Person affiliation:[map[@type:Organization name:Institute]] familyName:Lovelace givenName:Ada name:Lovelace, Ada]]"+
			" map[@type:DataCatalog name:Ice %s url:https://data.example.org/shelf/dataspaces/%s] 2", hostile, f.dataspace))
	for at := range pages {
		d := c.page(at).dataset()
		if n := len([]rune(d.text("description"))); n < 50 || n > 5000 || d.text("name") == "" {
			t.Errorf("%s: a description of %d characters, %v", at, n, d["name"])
		}
	}
}

// TestOpenHome tests that the home page lists only open data. Without open data, the service
// returns its usual home page.
func TestOpenHome(t *testing.T) {
	t.Parallel()
	g := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	same(t, "a list without open data", strings.Contains(string(g.page("/").want(http.StatusOK).body), "<main"), false)
	b, a := g.newSpace(object{"visibility": "open", "title": "B " + hostile}), g.newSpace(object{"visibility": "open", "title": "A lab"})
	closed, gone := g.newSpace(object{"title": "Secret"}), g.newSpace(object{"visibility": "open", "title": "Gone"})
	gone.send("DELETE", "/dataspaces/"+gone.dataspace, nil).want(http.StatusNoContent)
	page := g.page("/").want(http.StatusOK)
	var listed []string
	for _, found := range regexp.MustCompile(`<li><a href="[^"]*/dataspaces/(\w+)">`).FindAllSubmatch(page.body, -1) {
		listed = append(listed, string(found[1]))
	}
	same(t, "the listed objects", fmt.Sprint(listed), fmt.Sprint([]string{a.dataspace, b.dataspace}))
	same(t, "no string becomes a script", strings.Contains(string(page.body), "<script>"), false)
	same(t, "closed objects", strings.Contains(string(page.body), closed.dataspace), false)
	same(t, "Cache-Control", page.header.Get("Cache-Control"), "public, no-cache")
	same(t, "a list with a cookie", strings.Contains(string(g.page("/", "Cookie: labshelf_session=x").body), "<main"), false)
}

// TestOpenPagesAreBounded tests that a long list continues on a linked page, and that each
// object is on exactly one page.
func TestOpenPagesAreBounded(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	s := c.newSpace(object{"visibility": "open"})
	set := s.newSet()
	var names []string
	for n := range 130 {
		names = append(names, fmt.Sprintf("file-%03d", n))
		s.upload(set, names[n], "x")
	}
	row := regexp.MustCompile(`<li><a href="[^"]*/resources/[^"]*">(file-\d+)</a>`)
	next := regexp.MustCompile(`<a href="[^"]*(/sets/[^"]*\?page=[^"]*)">Next page</a>`)
	var seen []string
	for at := "/sets/" + set; at != ""; {
		a := c.page(at).want(http.StatusOK)
		for _, found := range row.FindAllSubmatch(a.body, -1) {
			seen = append(seen, string(found[1]))
		}
		link := next.FindSubmatch(a.body)
		if at = ""; link != nil {
			at = string(link[1])
		}
	}
	same(t, "all files, once", slices.Equal(seen, names), true)
	c.page("/sets/"+set+"?page=nonsense").problem(http.StatusBadRequest, "invalid_page_token", "")
}

// TestOpenFolders tests that the page of an open set shows one level of folders, each with its own
// address and a link back.
func TestOpenFolders(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	s := c.newSpace(object{"visibility": "open"})
	set := s.newSet()
	for _, name := range []string{"plan.txt", "raw & old/2026/a.txt", "raw & old/notes.txt"} {
		s.upload(set, "f.txt", name, text("name", name))
	}
	for n := range 101 {
		s.upload(set, "f.txt", "x", text("name", fmt.Sprintf("many/%03d", n)))
	}
	row := regexp.MustCompile(`<li><a href="([^"]*)">([^<]*)</a> <span class="dim">([a-z ]*)`)
	shows := func(at string, want ...string) (addresses map[string]string) {
		t.Helper()
		addresses = map[string]string{}
		var got []string
		for _, found := range row.FindAllStringSubmatch(string(c.page(at).want(http.StatusOK).body), -1) {
			got = append(got, strings.TrimSpace(stdhtml.UnescapeString(found[2])+" "+found[3]))
			_, addresses[stdhtml.UnescapeString(found[2])], _ = strings.Cut(stdhtml.UnescapeString(found[1]), "/sets/")
		}
		same(t, at, strings.Join(got, "|"), strings.Join(want, "|"))
		return addresses
	}
	top := shows("/sets/"+set, "many/ folder", "raw & old/ folder", "plan.txt text")
	in := shows("/sets/"+top["raw & old/"], "All files the folder above", "2026/ folder", "notes.txt text")
	below := shows("/sets/"+in["2026/"], "raw & old/ the folder above", "a.txt text")
	same(t, "the folder above", below["raw & old/"], top["raw & old/"])
	same(t, "the set", in["All files"], set)
	next := regexp.MustCompile(`<a href="[^"]*(/sets/[^"]*page=[^"]*)">Next page</a>`).FindSubmatch(c.page("/sets/" + top["many/"]).want(http.StatusOK).body)
	shows(stdhtml.UnescapeString(string(next[1])), "All files the folder above", "100 text")
	nowhere := c.page("/sets/" + set + "?folder=Call+0900%2F").want(http.StatusOK)
	same(t, "words of an address", strings.Contains(string(nowhere.body), "0900"), false)
	token := regexp.MustCompile(`page=[^&]*`).FindString(stdhtml.UnescapeString(string(next[1])))
	c.page("/sets/"+set+"?folder=raw+%26+old%2F&"+token).problem(http.StatusBadRequest, "invalid_page_token", "page")
}

// TestPagesOfDeletedObjects tests that the page of a deleted open object reports the deletion and
// its time.
func TestPagesOfDeletedObjects(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	f := c.newFixture(object{"visibility": "open"})
	set, file := "/sets/"+f.ids["SetId"], "/resources/"+f.ids["ResourceId"]
	gone := func(at string) {
		t.Helper()
		a := c.page(at).want(http.StatusGone)
		same(t, at, regexp.MustCompile(`This was deleted on \d+ \w+ 20\d\d\.`).Match(a.body), true)
		same(t, at+" has no other content", strings.Contains(string(a.body), "Download") || strings.Contains(string(a.body), "ld+json"), false)
	}
	f.send("DELETE", file, nil).want(http.StatusNoContent)
	gone(file)
	c.page(set).want(http.StatusOK)
	f.send("POST", file+"/restore", nil).want(http.StatusOK)
	c.page(file).want(http.StatusOK)
	f.send("DELETE", set, nil).want(http.StatusNoContent)
	gone(set)
	gone(file)
	f.send("POST", set+"/restore", nil).want(http.StatusOK)
	f.send("DELETE", "/dataspaces/"+f.dataspace, nil).want(http.StatusNoContent)
	for _, at := range []string{"/dataspaces/" + f.dataspace, set, file} {
		gone(at)
	}
}

// TestSitemap tests that the sitemap lists open, active objects if anonymous reading is enabled,
// and that robots.txt names it.
func TestSitemap(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		c := ownGateway(t, repository.Config{Anonymous: on}, handlers.Config{})
		open, gone := c.newFixture(object{"visibility": "open"}), c.newFixture(object{"visibility": "open"})
		others := []*fixture{c.newFixture(nil), c.newFixture(object{"visibility": "public"}), gone}
		gone.send("DELETE", "/dataspaces/"+gone.dataspace, nil).want(http.StatusNoContent)
		robots := string(c.page("/robots.txt").want(http.StatusOK).body)
		same(t, "robots.txt", strings.Contains(robots, "Sitemap: "+c.server.URL+"/sitemap.xml\n"), on)
		same(t, "robots.txt forbids all", strings.Contains(robots, "Disallow: /\n"), !on)
		for _, other := range others {
			c.page("/sitemap/"+other.dataspace+".xml").problem(http.StatusNotFound, "not_found", "")
		}
		c.page("/sitemap/"+ulid.Make().String()+".xml").problem(http.StatusNotFound, "not_found", "")
		if !on {
			c.page("/sitemap.xml").problem(http.StatusNotFound, "not_found", "")
			c.page("/sitemap/"+open.dataspace+".xml").problem(http.StatusNotFound, "not_found", "")
			continue
		}
		same(t, "the index", fmt.Sprint(c.locations("/sitemap.xml")), "["+c.server.URL+"/sitemap/"+open.dataspace+".xml]")
		same(t, "its part", fmt.Sprint(c.locations("/sitemap/"+open.dataspace+".xml")),
			"["+c.server.URL+"/dataspaces/"+open.dataspace+" "+c.server.URL+"/sets/"+open.ids["SetId"]+"]")
	}
}

// locations returns the URLs in a sitemap file.
func (c *client) locations(at string) (list []string) {
	c.t.Helper()
	var file struct {
		Of []struct {
			Loc string `xml:"loc"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(c.page(at).want(http.StatusOK).body, &file); err != nil {
		c.t.Fatal(err)
	}
	for _, entry := range file.Of {
		list = append(list, entry.Loc)
	}
	return list
}

// TestAnonymousLearnsNothing tests a visitor without a key who requests every URL with every id.
// The visitor learns nothing about a dataspace that is not open. Each answer equals the answer for
// an unknown id.
func TestAnonymousLearnsNothing(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	c.newFixture(object{"visibility": "open"})
	const secret = "secret"
	for _, visibility := range []string{"private", "public"} {
		f := c.newFixture(object{"visibility": visibility, "title": secret, "description": secret, "origin": secret})
		f.send("PUT", "/sets/"+f.ids["SetId"], object{"title": secret, "metadata": object{"tags": []string{secret}}}).want(http.StatusOK)
		f.send("PATCH", "/resources/"+f.ids["ResourceId"], object{"name": secret}).want(http.StatusOK)
		var own []string // ids that only answers to requests with the same id may contain
		for name, id := range f.ids {
			if len(id) == ulid.EncodedSize && name != "UserId" {
				own = append(own, id)
			}
		}
		for name, id := range f.ids {
			unknown := ulid.Make().String()
			if len(id) != ulid.EncodedSize {
				continue
			}
			for _, at := range f.addressesOf(id) {
				real, none := c.page(at), c.page(strings.ReplaceAll(at, id, unknown))
				same(t, at+": the status", real.status, none.status)
				same(t, at+" of "+name, withoutID(real), strings.ReplaceAll(withoutID(none), unknown, id))
				text := strings.ReplaceAll(string(real.body), id, "")
				for _, of := range append(own, secret) {
					if strings.Contains(text, of) {
						t.Errorf("%s tells %q:\n%s", at, of, text)
					}
				}
				for header := range real.header {
					if header != "X-Request-Id" && header != "Date" && header != "Etag" {
						same(t, at+": "+header, strings.Join(real.header[header], "|"), strings.ReplaceAll(strings.Join(none.header[header], "|"), unknown, id))
					}
				}
			}
		}
		for _, at := range []string{"/", "/sitemap.xml", "/robots.txt", "/v1", "/v1/status", "/v1/openapi.json", "/search?q=" + secret, "/v1/search?q=" + secret} {
			text, _ := json.Marshal(string(c.page(at).body))
			for _, of := range own {
				same(t, at+" tells "+of, strings.Contains(string(text), of), false)
			}
		}
	}
}

// addressesOf returns the URLs of everything readable, with id instead of every id.
func (f *fixture) addressesOf(id string) (list []string) {
	for _, route := range handlers.Routes() {
		if route.Method == http.MethodGet && route.Audience.Word != "everybody" {
			list = append(list, "/v1"+regexp.MustCompile(`\{(id|keyId)\}`).ReplaceAllString(strings.ReplaceAll(route.Path, "{number}", "1"), id))
		}
	}
	for _, kind := range []string{"dataspaces", "sets", "resources", "schemas", "webhooks"} {
		list = append(list, "/"+kind+"/"+id)
	}
	return append(list, "/v1/resources?setId="+id, "/v1/sets?dataspaceId="+id, "/sets/"+id+"?page=x", "/resources/"+id+"/versions/1", "/sitemap/"+id+".xml")
}
