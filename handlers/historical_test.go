package handlers_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
)

// These tests replay requests from clients of the historical service.

func TestHistoricalKey(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	for _, value := range []string{c.key, "Bearer " + c.key, "bearer " + c.key, c.key + " "} {
		c.withKey("").get("/users/me", "Authorization: "+value).want(http.StatusOK)
	}
}

// TestHistoricalSlash tests that every address works with a trailing slash, for every method,
// without a redirect.
func TestHistoricalSlash(t *testing.T) {
	t.Parallel()
	f := sysadmin(t).newFixture(nil)
	f.filed()
	for _, op := range operations() {
		if op.self {
			continue
		}
		var body any
		if op.body != nil {
			body = op.body(f)
		}
		route := routeOf(op.id)
		if a := f.send(route.Method, f.path(route, f.ids)+"/", body); a.status >= 300 {
			t.Errorf("%s: %s", op.id, a.short())
		}
	}
	f.get("/sets/?dataspaceId=" + f.dataspace).want(http.StatusOK)
}

// TestHistoricalHarvest lists all dataspaces, and then the resources of each, page by page.
func TestHistoricalHarvest(t *testing.T) {
	t.Parallel()
	shelf := newShelf(t)
	harvester, want := shelf.newMember("member"), map[string]string{shelf.a: "1", shelf.c: "3", shelf.other: "4"}
	second := shelf.newSpace(nil)
	second.send("POST", "/privileges", object{"userId": harvester.id, "dataspaceId": second.dataspace, "role": "member"}).want(http.StatusCreated)
	set := second.newSet()
	for _, content := range []string{"five", "six", "seven"} {
		want[second.upload(set, content, content).text("id")] = content
	}
	got := map[string]string{}
	for _, dataspace := range harvester.get("/dataspaces/").data() {
		if id := dataspace.text("id"); id != shelf.dataspace && id != second.dataspace {
			continue // a public dataspace of another test
		}
		url := dataspace.text("resources") + "/?limit=2"
		for {
			page := harvester.get(url).want(http.StatusOK).object()
			if page["end"].(bool) {
				same(t, "members of the last page", len(page), 1)
				break
			}
			for _, item := range page["data"].([]any) {
				resource := object(item.(map[string]any))
				got[resource.text("id")] = string(harvester.get(resource.text("dataUrl")).want(http.StatusOK).body)
			}
			url = page["nextPage"].(string)
		}
	}
	same(t, "number of files", len(got), len(want))
	for id, content := range want {
		same(t, "file "+id, got[id], content)
	}
}

// TestHistoricalLines tests that JSON has one member per line, in the order of the documented
// tables, because one client reads it line by line.
func TestHistoricalLines(t *testing.T) {
	t.Parallel()
	f := sysadmin(t).newFixture(nil)
	// the latter alternative matches the items of a list
	line := regexp.MustCompile(`^ +"([A-Za-z0-9_.]+)": (".*"|-?[0-9]+|true|false|\[\]|[[{]),?$|^ +"[A-Za-z0-9.*/]+",?$`)
	orders := map[string]string{
		"resource": "id url dataUrl viewDataUrl name description format mimetype size created created_epoch modified modified_epoch setId state " +
			"bytes sha256 filename dataspaceId createdBy modifiedBy version",
		"set":  "id url name title description dataspaceId dataspaceUrl resources state created created_epoch modified modified_epoch createdBy modifiedBy extract",
		"page": "nextPage currentPage data end",
	}
	for _, op := range operations() {
		route := routeOf(op.id)
		if route.Method != http.MethodGet || op.self || op.allow() == handlers.Everybody || slices.Contains([]string{"downloadResource", "downloadVersion", "downloadArchive", "exportMetadata", "getBlob", "getSnapshot", "exportAudit", "getAuditProof", "followEvents"}, op.id) {
			continue
		}
		body := f.get(f.path(route, f.ids)).want(http.StatusOK).body
		lines := bufio.NewScanner(bytes.NewReader(body))
		for lines.Scan() {
			if text := lines.Text(); !line.MatchString(text) && strings.Trim(text, " {}[],") != "" {
				t.Errorf("%s: the line %q", op.id, text)
			}
		}
		if !bytes.HasSuffix(body, []byte("\n}\n")) {
			t.Errorf("%s ends with %q", op.id, body[len(body)-5:])
		}
	}
	order := func(what string, body []byte) {
		t.Helper()
		same(t, what, strings.Join(members(body), " "), orders[what])
	}
	order("resource", f.get("/resources/"+f.ids["ResourceId"]).body)
	order("set", f.get("/sets/"+f.ids["SetId"]).body)
	page := f.get("/sets/" + f.ids["SetId"] + "/resources").body
	order("page", page)
	var decoded struct{ Data []json.RawMessage }
	if err := json.Unmarshal(page, &decoded); err != nil {
		t.Fatal(err)
	}
	order("resource", decoded.Data[0])
}

// TestHistoricalContentType tests that a Content-Type without a body is ignored.
func TestHistoricalContentType(t *testing.T) {
	t.Parallel()
	f := sysadmin(t).newFixture(nil)
	f.filed()
	for _, op := range operations() {
		route := routeOf(op.id)
		if op.body != nil && op.id != "createUserKey" || op.self || op.id == "deleteWebhook" { // possible only once
			continue
		}
		for _, contentType := range []string{"application/json", "text/plain", "multipart/form-data", "nonsense"} {
			if a := f.send(route.Method, f.path(route, f.ids), nil, "Content-Type: "+contentType); a.status >= 300 {
				t.Errorf("%s with %s: %s", op.id, contentType, a.short())
			}
		}
	}
}

// TestHistoricalCharsets tests that text parts are decoded with their declared character set.
func TestHistoricalCharsets(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for _, tc := range []struct{ contentType, sent, want string }{
		{"text/plain; charset=ISO-8859-1", "Gr\xfc\xdfe \xa4", "Grüße ¤"},
		{"text/plain; charset=iso-8859-1", "\xe9", "é"},
		{`text/plain; charset="latin1"`, "\xe9", "é"},
		{"text/plain;charset=windows-1252", "\x80 \x93x\x94", "€ “x”"},
		{"text/plain; charset=CP1252", "\x80", "€"},
		{"text/plain; charset=UTF-8", "Grüße €", "Grüße €"},
		{"text/plain; charset=utf8", "€", "€"},
		{"text/plain; charset=us-ascii", "plain", "plain"},
		{"text/plain", "Grüße €", "Grüße €"},
		{"application/octet-stream", "Grüße", "Grüße"},
	} {
		coded := func(name string) part {
			return part{disposition: `name="` + name + `"`, headers: []string{"Content-Type: " + tc.contentType, "Content-Transfer-Encoding: 8bit"}, body: tc.sent}
		}
		id := part{disposition: `name="setId"`, headers: []string{"Content-Type: " + tc.contentType}, body: set}
		o := s.bad("POST", "/resources", form(id, coded("name"), coded("description"), coded("format"), file("a", "x"))).want(http.StatusCreated).object()
		for _, field := range []string{"name", "description", "format"} {
			same(t, tc.contentType+": "+field, o.text(field), tc.want)
		}
	}
}

// TestHistoricalPutBack tests that a record from GET may be sent back unchanged. A changed value of
// a read-only field is refused with a clear message.
func TestHistoricalPutBack(t *testing.T) {
	t.Parallel()
	f := sysadmin(t).newFixture(nil)
	for _, tc := range []struct {
		method, path string
		editable     []string
	}{
		{"PUT", "/dataspaces/" + f.dataspace, []string{"title", "description", "visibility", "origin", "retention"}},
		{"PUT", "/sets/" + f.ids["SetId"], []string{"title", "description", "extract"}},
		{"PATCH", "/resources/" + f.ids["ResourceId"], []string{"name", "description", "format"}},
		{"PUT", "/users/" + f.ids["UserId"], []string{"fullname", "about", "sysadmin"}},
	} {
		got := f.get(tc.path).want(http.StatusOK)
		back := f.send(tc.method, tc.path, raw{"application/json", got.body}).want(http.StatusOK)
		same(t, tc.path+" sent back", string(back.body), string(got.body))
		same(t, "its tag", back.header.Get("ETag"), got.header.Get("ETag"))
		for field, value := range got.object() {
			if slices.Contains(tc.editable, field) {
				continue
			}
			null := got.object()
			null[field] = nil
			f.bad(tc.method, tc.path, null).problem(http.StatusBadRequest, errs.CodeInvalidField, field)
			for _, other := range []any{"other", 77, []any{value}} {
				code := "read_only_field"
				switch {
				case strings.HasPrefix(tc.path, "/sets") && field == "dataspaceId":
					code = "set_cannot_move"
				case strings.HasPrefix(tc.path, "/resources") && (field == "setId" || field == "dataspaceId"):
					code = "resource_cannot_move"
				}
				changed := got.object()
				changed[field] = other
				f.bad(tc.method, tc.path, changed).problem(http.StatusConflict, errs.Code(code), field)
			}
		}
		edited := got.object()
		edited["description"], edited["about"] = "edited", "edited"
		delete(edited, map[bool]string{true: "description", false: "about"}[strings.HasPrefix(tc.path, "/users")])
		after := f.send(tc.method, tc.path, edited).want(http.StatusOK).object()
		same(t, "the edited fields", after.text("description")+after.text("about"), "edited")
	}
}
