package handlers_test

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// onDrive is a client of the drive with a set and its path.
type onDrive struct {
	*client
	set, folder string // id of the set; path of the set, as clients see it
}

func (c *client) newDrive(fields object) *onDrive {
	c.t.Helper()
	s := c.newSpace(fields)
	set := s.newSet()
	space := s.get("/dataspaces/" + s.dataspace).object().text("name")
	return &onDrive{client: c, set: set, folder: "/dav/" + space + "/" + s.get("/sets/"+set).object().text("name")}
}

// as returns the drive for another client.
func (d *onDrive) as(c *client) *onDrive { return &onDrive{client: c, set: d.set, folder: d.folder} }

// dav sends a request to a path in the set, or to a URL.
func (d *onDrive) dav(method, path, body string, headers ...string) *answer {
	d.t.Helper()
	if !strings.HasPrefix(path, "/dav") {
		path = d.folder + path
	}
	address := d.server.URL + (&url.URL{Path: path}).EscapedPath()
	request, err := http.NewRequestWithContext(d.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if d.key != "" {
		request.SetBasicAuth("whoever", d.key)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, strings.ReplaceAll(value, "$", d.server.URL+d.folder))
	}
	response, err := httpClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return &answer{t: d.t, what: method + " " + path, status: response.StatusCode, header: response.Header, body: got}
}

const (
	lockBody  = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`
	patchBody = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><colour xmlns="x:">blue</colour></D:prop></D:set></D:propertyupdate>`
)

// requests are the rows of the drive's permission table, in order. They use a file a.txt and a
// folder sub.
var requests = []struct {
	method, path, body string
	headers            []string
	writes             bool
}{
	{"PROPFIND", "", "", []string{"Depth: 1"}, false}, {"PROPFIND", "/a.txt", "", []string{"Depth: 0"}, false}, {"GET", "/a.txt", "", nil, false}, {"HEAD", "/a.txt", "", nil, false},
	{"PUT", "/new.txt", "new", nil, true}, {"PUT", "/a.txt", "next", nil, true}, {"MKCOL", "/made", "", nil, true}, {"PROPPATCH", "/a.txt", patchBody, nil, true},
	{"COPY", "/a.txt", "", []string{"Destination: $/copy.txt"}, true}, {"MOVE", "/copy.txt", "", []string{"Destination: $/moved.txt"}, true},
	{"COPY", "/sub", "", []string{"Destination: $/sub2"}, true}, {"MOVE", "/sub2", "", []string{"Destination: $/sub3"}, true},
	{"LOCK", "/locked", lockBody, nil, true}, {"UNLOCK", "/locked", "", nil, true}, {"DELETE", "/a.txt", "", nil, true}, {"DELETE", "/sub", "", nil, true},
}

// driveServes reports whether a caller may send the request.
func driveServes(caller string, writes bool) bool {
	return slices.Contains([]string{"editor", "admin", "sysadmin"}, caller) || !writes && slices.Contains([]string{"public", "member"}, caller)
}

// driveTable returns the table of the drive for docs/reference/permissions.md.
func driveTable(columns []string) string {
	var page strings.Builder
	page.WriteString("\n## Drive\n\nRequests below `/dav/` always need a key. 404 is the answer for a missing dataspace; creations there are 403 or 409.\n\n" +
		"| request | no key | no key, open | no role, private | no role, public | member | editor | admin | sysadmin |\n" + strings.Repeat("|---", len(columns)+1) + "|\n")
	seen := map[string]bool{}
	for _, r := range requests {
		if seen[r.method] {
			continue
		}
		seen[r.method] = true
		page.WriteString("| `" + r.method + "` |")
		for _, column := range columns {
			cell := "403"
			switch {
			case driveServes(column, r.writes):
				cell = "yes"
			case column == "nobody", column == "anonymous":
				cell = "401"
			case column == "none":
				cell = "404"
			}
			page.WriteString(" " + cell + " |")
		}
		page.WriteString("\n")
	}
	return page.String()
}

// TestDrivePermissions tries every method of the drive as every caller. A caller without read
// permission gets the answer of an unknown dataspace.
func TestDrivePermissions(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	for name := range callers() {
		t.Run(name, func(t *testing.T) {
			fields := object{}
			if name == "public" {
				fields["visibility"] = "public"
			}
			f := own.on(t).newFixture(fields)
			d := own.on(t).newDriveIn(f)
			caller := d.as(callers()[name](f))
			other := *caller
			other.folder = "/dav/no-such-space/no-such-set"
			token := "<none>"
			for _, r := range requests {
				before := d.dump()
				if r.method == "UNLOCK" {
					r.headers = []string{"Lock-Token: " + token}
				}
				a := caller.dav(r.method, r.path, r.body, r.headers...)
				token = cmp.Or(a.header.Get("Lock-Token"), token)
				if after := d.dump(); a.status >= 300 && after != before {
					t.Errorf("%s: refused, but something has changed", a.what)
				}
				served := driveServes(name, r.writes)
				switch {
				case served && a.status >= 300:
					t.Errorf("%s: refused with %s", a.what, a.short())
				case served:
				case name == "nobody":
					same(t, a.what, a.status, http.StatusUnauthorized)
					same(t, "WWW-Authenticate", a.header.Get("WWW-Authenticate"), `Basic realm="labshelf", charset="UTF-8"`)
				case slices.Contains([]string{"public", "member"}, name):
					same(t, a.what, a.status, http.StatusForbidden)
				default:
					same(t, a.what, a.status, other.dav(r.method, r.path, r.body, r.headers...).status)
				}
			}
		})
	}
}

// newDriveIn is like newDrive, in the dataspace of a fixture, with the objects of the requests.
func (c *client) newDriveIn(f *fixture) *onDrive {
	c.t.Helper()
	set := c.send("POST", "/sets", object{"name": c.name("set"), "dataspaceId": f.dataspace}).want(http.StatusCreated).object()
	space := c.get("/dataspaces/" + f.dataspace).object().text("name")
	d := &onDrive{client: c, set: set.text("id"), folder: "/dav/" + space + "/" + set.text("name")}
	d.dav("PUT", "/a.txt", "content").want(http.StatusCreated)
	d.dav("MKCOL", "/sub", "").want(http.StatusCreated)
	d.dav("PUT", "/sub/b.txt", "content").want(http.StatusCreated)
	return d
}

// TestDriveAnswers tests the answers of the drive to unusual requests.
func TestDriveAnswers(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	d.dav("PUT", "/a.txt", "content").want(http.StatusCreated)
	d.dav("MKCOL", "/f", "").want(http.StatusCreated)
	space := d.folder[:strings.LastIndexByte(d.folder, '/')]
	tag := d.dav("HEAD", "/a.txt", "").header.Get("ETag")
	for _, tc := range []struct {
		method, path, body, headers string
		want                        int
	}{
		{"PROPFIND", "", "", "Depth: infinity", 403}, {"PROPFIND", "", "<", "Depth: 0", 400}, {"PROPFIND", "", strings.Repeat("<a>", 200), "Depth: 0", 400},
		{"PROPFIND", space, "", "Depth: 1", 207}, {"PROPFIND", "/dav", "", "Depth: 1", 207}, {"PROPFIND", "/dav//x", "", "Depth: 1", 404},
		{"PROPFIND", "/a.txt", "", "Depth: infinity", 207}, {"PROPFIND", "/none", "", "Depth: 0", 404},
		{"MKCOL", "/dav/new-space", "", "", 403}, {"MKCOL", space + "/new-set", "", "", 403}, {"DELETE", space, "", "", 403}, {"DELETE", d.folder, "", "", 403},
		{"MOVE", d.folder, "", "Destination: $2", 403}, {"MOVE", "/a.txt", "", "Destination: " + d.server.URL + space + "/x", 403}, {"PUT", d.folder, "x", "", 403},
		{"PUT", "/f", "x", "", 405}, {"MKCOL", "/f", "", "", 405}, {"MKCOL", "/g", "x", "", 415}, {"PUT", "/none/x", "x", "", 409}, {"MKCOL", "/none/x", "", "", 409},
		{"PUT", "/f/..", "x", "", 400}, {"PUT", "/f//x", "x", "", 400}, {"GET", "/f/../a.txt", "", "", 404}, {"GET", "/./a.txt", "", "", 404},
		{"COPY", "/a.txt", "", "Destination: https://elsewhere.example/x", 502}, {"COPY", "/a.txt", "", "Destination: /v1/x", 502}, {"COPY", "/a.txt", "", "", 400},
		{"COPY", "/a.txt", "", "Destination: $/a.txt", 403}, {"MOVE", "/f", "", "Destination: $/f/g", 403}, {"COPY", "/a.txt", "", "Destination: $/none/x", 409},
		{"PUT", "/a.txt", "x", "If-None-Match: *", 412}, {"PUT", "/a.txt", "x", `If-Match: "other"`, 412}, {"PUT", "/b.txt", "x", "If-Match: *", 412},
		{"PUT", "/a.txt", "content", "If-Match: " + tag, 204}, {"DELETE", "/a.txt", "", `If-Match: "other"`, 412}, {"GET", "/a.txt", "", "If-None-Match: " + tag, 304},
		{"PUT", "/a.txt", "x", "OC-Checksum: SHA1:" + strings.Repeat("0", 40), 400}, {"PUT", "/a.txt", "x", "OC-Checksum: MD5:9dd4e461268c8034f5c8564e155c67a6", 204},
		{"PUT", "/a.txt", "x", "OC-Checksum: SHA256:" + sha256Hex("x"), 204}, {"PUT", "/a.txt", "x", "OC-Checksum: ADLER32:00790079", 204}, {"PUT", "/a.txt", "x", "OC-Checksum: NEW:1", 204},
		{"PUT", "/a.txt", "x", "OC-Checksum: MD5:1", 400}, {"PUT", "/a.txt", "x", "Content-Digest: sha-256=:AAAA:", 400}, {"PUT", "/a.txt", "x", "Content-Range: bytes 0-0/2", 400},
		{"PUT", "/a.txt", "x", "Content-Encoding: gzip", 415}, {"POST", "/a.txt", "x", "", 405}, {"OPTIONS", "/a.txt", "", "", 200}, {"GET", "/a.txt", "", "Range: bytes=0-0", 206},
		{"LOCK", "/a.txt", "<", "", 400}, {"LOCK", "/a.txt", "", "If: (<urn:none>)", 412}, {"UNLOCK", "/a.txt", "", "Lock-Token: <urn:none>", 409}, {"LOCK", "/none/x", lockBody, "", 409},
		{"PUT", "/._a.txt", "x", "", 201}, {"GET", "/._a.txt", "", "", 404}, {"DELETE", "/.DS_Store", "", "", 204}, {"PUT", "/f/thumbs.DB", "x", "", 201}, {"GET", "/f", "", "", 200},
		{"PROPPATCH", "/a.txt", "<x/>", "", 400}, {"PROPPATCH", "/none", patchBody, "", 404},
	} {
		var headers []string
		if tc.headers != "" {
			headers = []string{tc.headers}
		}
		if a := d.dav(tc.method, tc.path, tc.body, headers...); a.status != tc.want {
			t.Errorf("%s %q, %s: %d, want %d\n%s", tc.method, tc.path, tc.headers, a.status, tc.want, a.short())
		}
	}
	if names := d.get("/sets/" + d.set + "/resources").data(); len(names) != 1 {
		t.Errorf("there are %d files, want only a.txt", len(names))
	}
}

// TestDriveFoldersOntoFolders tests that a folder copied onto another folder replaces it, and that
// a moved folder is merged with it. A file in both keeps its id.
func TestDriveFoldersOntoFolders(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{"COPY": "from/both from/new to/both to/new", "MOVE": "to/both to/new to/old"} {
		d := sysadmin(t).newDrive(nil)
		for _, folder := range []string{"/from", "/to"} {
			d.dav("MKCOL", folder, "").want(http.StatusCreated)
			d.dav("PUT", folder+"/both", folder).want(http.StatusCreated)
		}
		d.dav("PUT", "/from/new", "new").want(http.StatusCreated)
		d.dav("PUT", "/to/old", "old").want(http.StatusCreated)
		of := func(name string) string {
			return d.get("/sets/" + d.set + "/resources?name=" + name).data()[0].text("id")
		}
		before := of("to/both")
		d.dav(method, "/from", "", "Destination: $/to", "Overwrite: F").want(http.StatusPreconditionFailed)
		d.dav(method, "/from", "", "Destination: $/to").want(http.StatusNoContent)
		var names []string
		for _, r := range d.get("/sets/" + d.set + "/resources?order=name").data() {
			names = append(names, r.text("name"))
		}
		same(t, method, strings.Join(names, " "), want)
		same(t, method+": the id of a file in both", of("to/both"), before)
		same(t, method+": its content", string(d.dav("GET", "/to/both", "").body), "/from")
	}
}

// TestDriveAddresses tests that the addresses in a listing are valid XML and lead to the files.
func TestDriveAddresses(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	for _, name := range []string{"amp&amp;.xml", "<a>", "a+b;c", "100%", "q?#", "ü \"'"} {
		d.dav("PUT", "/"+name, name).want(http.StatusCreated)
	}
	var listing struct {
		Response []struct {
			Href string `xml:"href"`
			Name string `xml:"propstat>prop>displayname"`
		} `xml:"response"`
	}
	if err := xml.Unmarshal(d.dav("PROPFIND", "", "", "Depth: 1").body, &listing); err != nil || len(listing.Response) != 7 {
		t.Fatalf("%d entries, %v", len(listing.Response), err)
	}
	for _, r := range listing.Response[1:] {
		path, err := url.PathUnescape(r.Href)
		if got := d.dav("GET", path, ""); err != nil || string(got.body) != r.Name {
			t.Errorf("%q leads to %s, want %q", r.Href, got.short(), r.Name)
		}
	}
}

// TestDriveKeys tests that the password is a key, accepted only over HTTPS or on this machine, and
// that a cookie does not authenticate. A wrong password counts as a failed attempt. A missing
// password does not.
func TestDriveKeys(t *testing.T) {
	oneNode(t)
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c := ownGateway(t, repository.Config{}, handlers.Config{FailedKeys: 3, TrustedProxies: proxies})
	d := c.newDrive(nil)
	d.dav("PROPFIND", "", "", "Depth: 0").want(http.StatusMultiStatus)
	away := "X-Forwarded-For: 192.0.2.7"
	d.dav("PROPFIND", "", "", "Depth: 0", away).want(http.StatusForbidden)
	d.dav("PROPFIND", "", "", "Depth: 0", away, "X-Forwarded-Proto: http").want(http.StatusForbidden)
	d.dav("PROPFIND", "", "", "Depth: 0", away, "X-Forwarded-Proto: https").want(http.StatusMultiStatus)
	// the destination has the scheme http
	d.dav("COPY", "/a", "", away, "X-Forwarded-Proto: https", "Destination: $/b").want(http.StatusBadGateway)
	session := c.send("POST", "/session", object{"key": c.key}).want(http.StatusOK).header.Get("Set-Cookie")
	nobody := d.as(c.withKey(""))
	for range 10 {
		nobody.dav("PROPFIND", "", "", "Depth: 0", "Cookie: "+session).want(http.StatusUnauthorized)
	}
	wrong := d.as(c.withKey("lsk_wrong"))
	for n := range 5 {
		want := http.StatusUnauthorized
		if n >= 3 {
			want = http.StatusTooManyRequests
		}
		wrong.dav("PROPFIND", "", "", "Depth: 0").want(want)
	}
	d.dav("PROPFIND", "", "", "Depth: 0").want(http.StatusMultiStatus)
}

// TestSaves replays how programs save a file, and tests whether the file keeps its id.
// docs/how-to/drive.md has the same results. testdata/saves contains the requests that
// verify/e2e/drive recorded. The requests of Microsoft Word are not recorded but written by hand.
func TestSaves(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob("testdata/saves/*.txt")
	if err != nil || len(recordings) < 10 {
		t.Fatal(recordings, err)
	}
	for _, path := range recordings {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			replaySave(t, string(text))
		})
	}
}

// replaySave sends the requests of a recording, and compares each answer with the recorded one.
func replaySave(t *testing.T, text string) {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), ": "); ok && line[0] == '#' {
			said[name] = value
		}
	}
	d, name := sysadmin(t).newDrive(nil), said["file"]
	d.dav("PUT", "/"+name, "old").want(http.StatusCreated)
	before := d.get("/sets/" + d.set + "/resources").data()[0]
	var tokens []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "401 ") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), " | ")
		asked := strings.SplitN(parts[0], " ", 3)
		path, err := url.PathUnescape(asked[2])
		if err != nil {
			t.Fatal(err)
		}
		body := map[string]string{"PUT": "new " + line, "LOCK": lockBody}[asked[1]]
		if last := len(parts) - 1; parts[last] == "Content-Length: 0" {
			parts, body = parts[:last], ""
		}
		for n := range parts {
			if strings.Contains(parts[n], `"TAG"`) {
				parts[n] = strings.ReplaceAll(parts[n], `"TAG"`, d.dav("HEAD", path, "").header.Get("Etag"))
			}
			for i, token := range tokens {
				parts[n] = strings.ReplaceAll(parts[n], fmt.Sprintf("TOKEN%d>", i+1), token+">")
			}
		}
		a := d.dav(asked[1], path, body, parts[1:]...)
		if strconv.Itoa(a.status) != asked[0] {
			t.Fatalf("%s: %s", line, a.short())
		}
		if token := a.header.Get("Lock-Token"); asked[1] == "LOCK" && token != "" {
			tokens = append(tokens, strings.Trim(token, "<>"))
		}
	}
	files := d.get("/sets/" + d.set + "/resources").data()
	if len(files) != 1 || files[0].text("name") != name || !strings.HasPrefix(string(d.dav("GET", "/"+name, "").body), "new") {
		t.Fatalf("it leaves %v", files)
	}
	same(t, "it has the id that it had", files[0].text("id") == before.text("id"), said["keeps its id"] == "yes")
	if version := said["version"]; version != "" {
		same(t, "its version", fmt.Sprint(files[0]["version"]), version)
	}
}
