package handlers_test

import (
	"encoding/base32"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"labshelf/formats/audit"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
)

// loggedRequest is the expected audit log of a route.
type loggedRequest struct {
	first string // entries of a good request on a new fixture
	again string // entries of the same request repeated
	why   string // why a good request has no entry
}

// loggedRequests returns the expected entries of each route that is not a GET.
func loggedRequests() map[string]loggedRequest {
	const empty = "the folders of the fixture have no files; the files of a folder get the entries of copies, moves and deletions"
	const upload = "starting or continuing an upload is not a change; the created resource has an entry"
	return map[string]loggedRequest{
		"POST /session":   {"session.begin", "session.begin", ""},
		"DELETE /session": {"session.end", "", ""},

		"POST /dataspaces":               {"dataspace.create privilege.grant", "", ""},
		"PUT /dataspaces/{id}":           {"dataspace.update", "", ""},
		"DELETE /dataspaces/{id}":        {"dataspace.delete set.delete resource.delete", "", ""},
		"POST /dataspaces/{id}/restore":  {"dataspace.restore set.restore resource.restore", "", ""},
		"POST /sets":                     {"set.create", "", ""},
		"PUT /sets/{id}":                 {"set.update", "", ""},
		"DELETE /sets/{id}":              {"set.delete resource.delete", "", ""},
		"POST /sets/{id}/restore":        {"set.restore resource.restore", "", ""},
		"POST /sets/{id}/metadata":       {"edit.begin resource.edit", "", ""},
		"POST /sets/{id}/folder":         {"", "", "a folder is a row without a stamp, so clients that follow changes do not receive it"},
		"POST /sets/{id}/folder/copy":    {"", "", empty},
		"POST /sets/{id}/folder/move":    {"", "", empty},
		"POST /sets/{id}/folder/delete":  {"", "", empty},
		"POST /sets/{id}/folder/restore": {"", "", empty},
		"POST /sets/{id}/many":           {"resource.edit", "", ""},
		"POST /edits/{id}/undo":          {"", "", "the edit of the fixture has changed nothing; TestMetadataCSV undoes an edit"},

		"POST /resources":                                {"resource.create", "resource.create", ""},
		"PUT /resources/{id}":                            {"resource.replace", "resource.replace", ""},
		"PATCH /resources/{id}":                          {"resource.edit", "", ""},
		"DELETE /resources/{id}":                         {"resource.delete", "", ""},
		"POST /resources/{id}/restore":                   {"resource.restore", "", ""},
		"POST /resources/{id}/copy":                      {"resource.copy", "resource.copy", ""},
		"POST /resources/{id}/move":                      {"resource.edit", "", ""},
		"DELETE /resources/{id}/versions/{number}/data":  {"version.erase", "", ""},
		"PUT /resources/{id}/versions/{number}/label":    {"version.label", "", ""},
		"POST /resources/{id}/versions/{number}/restore": {"version.restore", "", ""},
		"DELETE /audit/entries/{number}/texts":           {"audit.erase", "", ""},

		"POST /uploads":        {"", "", upload},
		"PATCH /uploads/{id}":  {"resource.create", "", ""},
		"POST /uploads/{id}":   {"resource.create", "", ""},
		"DELETE /uploads/{id}": {"", "", upload},

		"POST /users":                     {"user.create", "", ""},
		"PUT /users/{id}":                 {"user.update", "", ""},
		"DELETE /users/{id}":              {"user.delete key.revoke", "", ""},
		"POST /users/{id}/restore":        {"user.restore", "", ""},
		"POST /users/{id}/keys":           {"key.create", "key.create", ""},
		"PUT /users/{id}/keys/{keyId}":    {"key.update", "", ""},
		"DELETE /users/{id}/keys/{keyId}": {"key.revoke", "", ""},
		"POST /privileges":                {"privilege.grant", "", ""},
		"DELETE /privileges/{id}":         {"privilege.revoke", "", ""},

		"POST /dataspaces/{id}/schemas": {"schema.create", "", ""},
		"PUT /schemas/{id}":             {"schema.update", "", ""},
		"DELETE /schemas/{id}":          {"schema.delete", "", ""},
		"POST /schemas/{id}/restore":    {"schema.restore", "", ""},

		"POST /links":                                    {"link.create", "link.create", ""},
		"PUT /links/{id}":                                {"link.update", "", ""},
		"DELETE /links/{id}":                             {"link.revoke", "", ""},
		"POST /links/{id}/take":                          {"", "", "the link of the fixture is the caller's already; TestLinksAreTakenOver has one that is not"},
		"DELETE /links/{id}/uploads":                     {"", "", "unfinished uploads have no entries"},
		"POST /webhooks":                                 {"webhook.create", "webhook.create", ""},
		"PUT /webhooks/{id}":                             {"webhook.update", "", ""},
		"DELETE /webhooks/{id}":                          {"webhook.delete", "", ""},
		"POST /webhooks/{id}/rotate":                     {"webhook.rotate", "webhook.rotate", ""},
		"POST /webhooks/{id}/resume":                     {"", "", "the webhook of the fixture is not paused; TestPauses of repository/hooks has some that are"},
		"POST /webhooks/{id}/skip":                       {"webhook.skip", "", ""},
		"POST /webhooks/{id}/deliveries/{number}/repeat": {"", "", "sending a message again changes nothing"},

		"POST /admin/check":         {"", "", "it changes nothing"},
		"POST /admin/index/rebuild": {"", "", "the index is a cache, built from logged changes"},
		"POST /admin/purge":         {"purge.run", "purge.run", ""},
	}
}

// goodBodies returns bodies for operations whose standard good request would change nothing.
func goodBodies(f *fixture) map[string]any {
	content := headed{raw{"application/offset+octet-stream", []byte("content")}, []string{"Upload-Offset: 0", inTus}}
	override := content
	override.headers = append(slices.Clone(content.headers), "X-HTTP-Method-Override: PATCH")
	return map[string]any{
		"continueUpload": content, "overrideUpload": override,
		"signOut": headed{raw{}, []string{"Cookie: " + f.session()}},
	}
}

// session signs in and returns the cookie.
func (f *fixture) session() string {
	f.t.Helper()
	token, _, _ := strings.Cut(f.send("POST", "/session", object{"key": f.key}).want(http.StatusOK).header.Get("Set-Cookie"), ";")
	return token
}

// prepare brings the object of an operation into a state that the operation can change.
func (f *fixture) prepare(op string) {
	f.t.Helper()
	path, ok := map[string]string{
		"restoreDataspace": "/dataspaces/" + f.dataspace, "restoreSet": "/sets/" + f.ids["SetId"],
		"restoreResource": "/resources/" + f.ids["ResourceId"], "restoreUser": "/users/" + f.ids["UserId"],
		"restoreSchema": "/schemas/" + f.ids["SchemaId"],
	}[op]
	if ok {
		f.send("DELETE", path, nil).want(http.StatusNoContent)
	}
}

// logged returns the entries since a number. It omits entries that count refused requests, which
// are written once a minute.
func (c *client) logged(from uint64) (size uint64, entries []audit.Entry) {
	c.t.Helper()
	err := c.meta.View(c.t.Context(), func(tx *metadata.Tx) error {
		state, err := tx.Audit.State()
		for size = state.Size; err == nil && from < size; from++ {
			var row metadata.AuditEntry
			var e audit.Entry
			if row, err = tx.Audit.Get(from); err == nil {
				e, err = row.Entry()
			}
			if e.Action != audit.Refuse {
				entries = append(entries, e)
			}
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return size, entries
}

// wantLogged compares the entries of a request with the expected ones.
func (c *client) wantLogged(from uint64, a *answer, what, want string) {
	c.t.Helper()
	size, entries := c.logged(from)
	first := size - uint64(len(entries))
	var words []string
	for _, e := range entries {
		words = append(words, e.Action.String())
		id := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(e.Request[:])
		if consequence := e.Cause == first; id != a.header.Get("X-Request-Id") && !consequence {
			c.t.Errorf("%s: %s names the request %s and the cause %d; it was %s, its first entry %d", what, e.Action, id, e.Cause, a.header.Get("X-Request-Id"), first)
		}
		if e.User == (ulid.ULID{}) {
			c.t.Errorf("%s: %s does not name the user", what, e.Action)
		}
	}
	if got := strings.Join(words, " "); got != want {
		c.t.Errorf("%s: logged %q, want %q; the status was %d", what, got, want, a.status)
	}
}

// TestRoutesAreLogged sends each operation with each outcome, and compares the audit log with the
// table.
func TestRoutesAreLogged(t *testing.T) {
	t.Parallel()
	table, own := loggedRequests(), ownGateway(t, repository.Config{}, handlers.Config{})
	for _, route := range handlers.Routes() {
		if entry, ok := table[route.Method+" "+route.Path]; route.Method != http.MethodGet && (!ok || (entry.first == "") != (entry.why != "")) {
			t.Errorf("%s %s is missing in the table, or has neither entries nor a reason", route.Method, route.Path)
		}
	}
	tried := map[string]bool{}
	for _, op := range someOperations() {
		t.Run(fmt.Sprint(op.id, " ", op.self), func(t *testing.T) {
			path := routeOf(op.id).Method + " " + routeOf(op.id).Path
			tried[path] = true
			own.on(t).tryLogged(op, path, table[path])
		})
	}
	for _, route := range handlers.Routes() {
		if !tried[route.Method+" "+route.Path] && !testing.Short() {
			t.Errorf("%s %s was not tried", route.Method, route.Path)
		}
	}
}

// tryLogged sends an operation without permission, with an error, correctly, and repeated.
func (c *client) tryLogged(op operation, path string, want loggedRequest) {
	f := c.newFixture(nil)
	if op.id == "eraseAudit" {
		f.ids["Number"] = "2"
	}
	f.prepare(op.id)
	stranger, nobody := f.newUser(nil), f.newUser(nil).withKey("")
	var body any
	if op.body != nil {
		body = op.body(f)
	}
	if special, ok := goodBodies(f)[op.id]; ok {
		body = special
	}
	route := routeOf(op.id)
	address := f.path(route, f.ids)
	unknown := address
	for _, id := range f.ids {
		unknown = strings.ReplaceAll(unknown, id, ulid.Make().String())
	}
	for what, try := range map[string]func() *answer{
		"without a key":           func() *answer { return nobody.bad(route.Method, address, body) },
		"with a wrong key":        func() *answer { return f.withKey("lsk_wrong").bad(route.Method, address, body) },
		"as a stranger":           func() *answer { return stranger.bad(route.Method, address, body) },
		"with an unknown query":   func() *answer { return f.bad(route.Method, address+"?nonsense=1", body) },
		"with a body of nonsense": func() *answer { return f.bad(route.Method, address, raw{"application/json", []byte(`{"nonsense":1}`)}) },
		"on an unknown object":    func() *answer { return f.bad(route.Method, unknown, body) },
		"on another state":        func() *answer { return f.bad(route.Method, address, body, `If-Match: "another"`) },
	} {
		before, _ := f.logged(1 << 62)
		if a := try(); a.status >= 300 {
			f.wantLogged(before, a, path+" "+what, "")
		}
	}
	f.send("DELETE", "/webhooks/"+f.ids["WebhookId"], nil) // a service has at most 256
	f = c.newFixture(nil)
	f.prepare(op.id)
	if op.body != nil {
		body = op.body(f)
	}
	if special, ok := goodBodies(f)[op.id]; ok {
		body = special
	}
	address = f.path(route, f.ids)
	for i, expected := range []string{want.first, want.again} {
		before, _ := f.logged(1 << 62)
		a := f.bad(route.Method, address, body)
		if i == 0 && a.status >= 300 {
			f.t.Fatalf("%s: refused with %s", path, a.short())
		}
		f.wantLogged(before, a, fmt.Sprint(path, " done ", i, " times before"), expected)
	}
}
