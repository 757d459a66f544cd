package handlers_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"labshelf/auth"
	"labshelf/handlers"
	"labshelf/internal/servers"
	"labshelf/repository"
	"labshelf/repository/folders"
)

// propfindOf returns a PROPFIND body for properties, which are given as elements.
func propfindOf(elements string) string {
	return `<D:propfind xmlns:D="DAV:"><D:prop>` + elements + `</D:prop></D:propfind>`
}

func proppatchOf(elements string) string {
	return `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>` + elements + `</D:prop></D:set></D:propertyupdate>`
}

func lockOf(scope, owner string) string {
	return `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:` + scope + `/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>` + owner + `</D:owner></D:lockinfo>`
}

// elements returns n elements with different names in a namespace.
func elements(n, length int, space string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `<%s%d xmlns=%q/>`, strings.Repeat("n", length), i, space)
	}
	return text.String()
}

// TestDriveBoundsRequests tests that a request that would produce a large or malformed answer is
// refused with the violated rule, and changes nothing.
func TestDriveBoundsRequests(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	d.dav("PUT", "/a.txt", "content").want(http.StatusCreated)
	long := strings.Repeat("s", 1000)
	nested := strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40)
	attributes := func(n int) string {
		text := "<p xmlns='x:'"
		for i := range n {
			text += fmt.Sprintf(" a%d=''", i)
		}
		return text + "/>"
	}
	inherited := `<p xmlns="x:` + strings.Repeat("s", 500) + `">` + strings.Repeat("<a/>", 1000) + `</p>`
	prefixed := `<p xmlns="x:" xmlns:q="y:` + strings.Repeat("s", 500) + `">` + strings.Repeat("<a q:b=''/>", 1000) + `</p>`
	for _, tc := range []struct {
		method, body string
		want         int
		says         string
	}{
		{"PROPFIND", propfindOf(elements(990, 1, long)), 400, "a namespace must be"},
		{"PROPFIND", propfindOf(strings.Repeat(" ", 64<<10)), 413, "bytes, the maximum here"},
		{"PROPFIND", propfindOf(elements(1, 1, long)), 400, "a namespace must be"},
		{"PROPFIND", propfindOf(elements(129, 1, "x:")), 413, "128 properties"},
		{"PROPFIND", propfindOf(elements(30, 200, "x:")), 413, "4096 bytes"},
		{"PROPFIND", propfindOf(elements(1, 256, "x:")), 400, "NCName"},
		{"PROPFIND", propfindOf(nested), 413, "nested"},
		{"PROPFIND", propfindOf(attributes(33)), 413, "attributes"},
		{"PROPFIND", strings.ReplaceAll(propfindOf(elements(129, 1, "x:")), "prop>", "include>"), 413, "128 properties"},
		{"PROPPATCH", proppatchOf(elements(129, 1, "x:")), 413, "128 properties"},
		{"PROPPATCH", proppatchOf(`<p xmlns="x:">` + strings.Repeat("'", 5000) + `</p>`), 413, "8192 bytes"},
		{"PROPPATCH", proppatchOf(inherited), 413, "8192 bytes"},
		{"PROPPATCH", proppatchOf(prefixed), 413, "8192 bytes"},
		{"LOCK", lockOf("exclusive", strings.Repeat("'", 1<<20)), 413, "2048 bytes"},
		{"LOCK", lockOf("exclusive", strings.Repeat("<a/>", 20_000)), 413, "2048 bytes"},
		{"LOCK", lockOf("exclusive", strings.Repeat("'", 500)), 413, "2048 bytes"},
		{"LOCK", lockOf("exclusive", inherited), 413, "2048 bytes"},
		{"LOCK", lockOf("exclusive", nested), 413, "nested"},
		{"LOCK", lockOf("exclusive", "<:a/>"), 400, "NCName"},
	} {
		a := d.dav(tc.method, "/a.txt", tc.body, "Depth: 0")
		if a.status != tc.want || !strings.Contains(string(a.body), tc.says) {
			t.Errorf("%s %.80s: want %d with %q, got %s", tc.method, tc.body, tc.want, tc.says, a.short())
		}
	}
	d.dav("PUT", "/a.txt", "more", "If: "+strings.Repeat("(<urn:a>)", 201)).want(http.StatusBadRequest)
	if text := string(d.dav("PROPFIND", "/a.txt", "", "Depth: 0").body); strings.Contains(text, "activelock") || strings.Contains(text, `"x:`) {
		t.Errorf("a refused property is stored:\n%s", text)
	}
}

// badProperties are elements that cannot be names or values of properties.
var badProperties = []string{
	`<:a xmlns="x:"/>`, `<a: xmlns="x:"/>`, `<a:b:c xmlns:a="x:"/>`, `<u:a/>`, `<a xmlns="http://www.w3.org/XML/1998/namespace"/>`,
	`<a xmlns="http://www.w3.org/2000/xmlns/"/>`, `<xml:a/>`, `<a xmlns="x:&#10;y"/>`, `<a xmlns="x y"/>`, `<a xmlns="x:&#x85;"/>`, `<a xmlns="x:"><:b/></a>`,
	`<a xmlns="x:"><b c="1" c="2"/></a>`, `<a xmlns="x:"><b :c="1"/></a>`, `<a xmlns="x:" xmlns:p="y:" xmlns:q="y:"><b p:c="1" q:c="2"/></a>`, `<a xmlns="x:"><u:b/></a>`,
	`<a xmlns="x:">&#1;</a>`, `<a xmlns="x:"><b c="&#1;"/></a>`, `<a xmlns="x:" xmlns:xml="y:"/>`, `<a xmlns="x:" xmlns:xmlns="y:"/>`, `<a xmlns="x:" xmlns="y:"/>`, `<a xmlns="x:"></b>`,
	`<1a xmlns="x:"/>`, `<-a xmlns="x:"/>`,
}

// TestDriveAnswersAreXML tests that all answers are valid XML for two parsers, with any properties
// and lock owners that clients can set, also if an older version stored them.
func TestDriveAnswersAreXML(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	answers := map[string][]byte{}
	for _, p := range badProperties {
		d.dav("PROPPATCH", "", proppatchOf(p)).want(http.StatusBadRequest)
		d.dav("PROPFIND", "", propfindOf(p), "Depth: 0").want(http.StatusBadRequest)
		d.dav("LOCK", "/locked", lockOf("shared", p)).want(http.StatusBadRequest)
	}
	for i, good := range []string{
		`<a/>`, `<a xmlns=""/>`, `<é.-_1 xmlns="http://example.org/é?a=1&amp;b='"/>`, `<a xmlns="x:" b="1" xml:lang="de"><b xml:lang="en" c="&lt;&quot;'&#10;">]]&gt;&amp;</b></a>`,
		`<p:a xmlns:p="y:"><p:b p:c="1" c="2"/><c xmlns=""/></p:a>`, `<D:ours>x</D:ours>`,
	} {
		path := fmt.Sprintf("/good %d", i)
		d.dav("PUT", path, "content").want(http.StatusCreated)
		answers["patched "+good] = d.dav("PROPPATCH", path, proppatchOf(good)).want(http.StatusMultiStatus).body
		answers["absent "+good] = d.dav("PROPFIND", "", propfindOf(good+`<D:none/><D:getetag/><D:getetag/>`), "Depth: 1").want(http.StatusMultiStatus).body
		answers["locked "+good] = d.dav("LOCK", path, lockOf("shared", good)).want(http.StatusOK).body
	}
	admin, err := d.repo.Credentials.Authenticate(t.Context(), d.key, auth.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimPrefix(d.folder, "/dav/"), "/")
	for i, stored := range []map[string]string{
		{"s": "x:", "l": ":a", "v": ""}, {"s": "x:\x01", "l": "a", "v": ""}, {"s": "http://www.w3.org/2000/xmlns/", "l": "a", "v": ""}, {"s": "x:", "l": "a", "v": "<:b></:b>"},
		{"s": "x:", "l": "a", "v": `<b c="1" c="2"></b>`}, {"s": "x:", "l": "a b", "v": ""}, {"s": "x:", "l": "a", "v": "</a>"}, {"s": "x:", "l": "a", "v": "<b>"},
	} {
		path := fmt.Sprintf("bad %d", i)
		d.dav("PUT", "/"+path, "content").want(http.StatusCreated)
		text, err := json.Marshal([]map[string]string{stored, {"s": "x:", "l": "kept", "v": "<i xmlns=\"\">yes</i>"}})
		if err == nil {
			err = d.repo.Drive.ChangeProperties(t.Context(), admin, folders.DrivePath{Dataspace: parts[0], Set: parts[1], Path: path},
				func(e *folders.DriveEntry) error {
					e.Properties = string(text)
					return nil
				})
		}
		if err != nil {
			t.Fatal(err)
		}
		answers["stored "+string(text)] = d.dav("PROPFIND", "/"+path, "", "Depth: 0").want(http.StatusMultiStatus).body
		if !strings.Contains(string(answers["stored "+string(text)]), `kept xmlns="x:"`) {
			t.Errorf("%s also removes a valid property", text)
		}
	}
	answers["all"] = d.dav("PROPFIND", "", "", "Depth: 1").want(http.StatusMultiStatus).body
	answers["names"] = d.dav("PROPFIND", "", `<propfind xmlns="DAV:"><propname/></propfind>`, "Depth: 1").want(http.StatusMultiStatus).body
	wellFormed(t, answers)
}

// wellFormed parses documents strictly, with Go and with Python.
func wellFormed(t *testing.T, texts map[string][]byte) {
	t.Helper()
	folder, n := t.TempDir(), 0
	names := map[string]string{}
	for name, text := range texts {
		for decoder := xml.NewDecoder(strings.NewReader(string(text))); ; {
			if _, err := decoder.Token(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v\n%s", name, err, text)
				}
				break
			}
		}
		path := filepath.Join(folder, fmt.Sprint(n))
		names[path] = name
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if _, err := exec.LookPath("python3"); err != nil {
		servers.Missing(t, err)
	}
	const script = "import sys, xml.etree.ElementTree as e\nfor p in sys.argv[1:]:\n try: e.parse(p)\n except e.ParseError as x: print(p, x, sep='\\t')"
	command := exec.CommandContext(t.Context(), "python3", "-c", script)
	for path := range names {
		command.Args = append(command.Args, path)
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		path, said, _ := strings.Cut(line, "\t")
		t.Errorf("%s: %s%s", names[path], said, texts[names[path]])
	}
}

// TestDriveListingMemory tests the largest listing request, below a thousand locks with the
// longest owners. It allocates a bounded amount of memory for any number of entries.
func TestDriveListingMemory(t *testing.T) {
	const files = 2000
	d := ownGateway(t, repository.Config{HoldUpTo: 1 << 10}, handlers.Config{}).newDrive(nil)
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for n := worker; n < files; n += 16 {
				d.dav("PUT", fmt.Sprintf("/file %d", n), "content").want(http.StatusCreated)
			}
		})
	}
	group.Wait()
	owner := strings.Repeat("'", 400) // 2,000 bytes after escaping
	for range 990 {
		d.dav("LOCK", "", lockOf("shared", owner)).want(http.StatusOK)
	}
	for n := range 10 {
		d.dav("LOCK", fmt.Sprintf("/file %d", n), lockOf("shared", owner)).want(http.StatusOK)
	}
	space := strings.Repeat("s", 400)
	names := elements(100, 36, "x:"+space) + strings.Repeat("<D:lockdiscovery/>", 100)
	body := propfindOf(names)
	list := func() (read int64) {
		request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", d.server.URL+d.folder, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Depth", "1")
		request.SetBasicAuth("", d.key)
		response, err := httpClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		read, err = io.Copy(io.Discard, response.Body)
		if err != nil || response.StatusCode != http.StatusMultiStatus {
			t.Fatal(response.Status, err)
		}
		return read
	}
	list()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read := list()
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d bytes of answer, %d bytes allocated", read, allocated)
	if most := int64(files * 8_000); read > most {
		t.Errorf("the answer has %d bytes, want at most %d", read, most)
	}
	if allocated > 32<<20 {
		t.Errorf("it allocated %d bytes", allocated)
	}
}
