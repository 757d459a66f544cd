package handlers_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// jsonOperations returns the operations with a JSON body, each with a good body and its path.
func (f *fixture) jsonOperations() (cases []bad) {
	for _, op := range someOperations() {
		if op.body == nil || op.self {
			continue
		}
		if fields, ok := op.body(f).(object); ok {
			route := routeOf(op.id)
			cases = append(cases, bad{what: op.id, method: route.Method, path: f.path(route, f.ids), body: fields})
		}
	}
	return cases
}

// TestBadJSONIsRefused sends bodies that no operation accepts.
func TestBadJSONIsRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	const invalid = errs.CodeInvalidBody
	deep := func(levels int) string { // including the outermost object
		return `{"deep": ` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	}
	var cases []bad
	for _, good := range f.jsonOperations() {
		text, err := json.Marshal(good.body)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.Min(slices.Collect(maps.Keys(good.body.(object))))
		twice := string(text[:len(text)-1]) + `, "` + first + `": "again"}`
		as := func(what, contentType, body string, status int, code errs.Code, field string, headers ...string) {
			cases = append(cases, bad{good.what + ": " + what, good.method, good.path, raw{contentType, []byte(body)}, status, code, field, headers})
		}
		for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "multipart/form-data; boundary=x", "nonsense", "*/*"} {
			as("type", contentType, string(text), http.StatusUnsupportedMediaType, "unsupported_media_type", "")
		}
		as("encoding", "application/json", string(text), http.StatusUnsupportedMediaType, "unsupported_media_type", "", "Content-Encoding: gzip")
		for _, body := range []string{
			`{`, `}`, `[]`, `null`, `true`, `"text"`, `1`, `nonsense`, `{} {}`, `{}x`, `{},`, `[{}]`, `{"a": 1,}`, `{"a" 1}`, `{'a': 1}`, `{a: 1}`, `{"a": 01}`, `{"a": NaN}`,
			`{"a": "` + "\n" + `"}`, `{"a": "\x"}`, `{"a": "\u12"}`, `{"a": 1]`, `{"a": [1,]}`, "{\"a\": \"\xff\"}", "{\"\xc3\": 1}", "\x00", " ",
			`{"a": "\ud800"}`, `{"a": "\udc00"}`, `{"a": "\ud800\ud800"}`, `{"\uD83D": 1}`, `{"a": "\ud83dx\ude00"}`, `{"a": "\\\ud800"}`, string(text[:len(text)-1]),
		} {
			as("body "+body, "application/json", body, http.StatusBadRequest, invalid, "")
		}
		as("duplicate", "application/json", twice, http.StatusBadRequest, invalid, first)
		as("duplicate within", "application/json", `{"x": {"y": 1, "y": 2}}`, http.StatusBadRequest, invalid, "x")
		as("too deep", "application/json", deep(17), http.StatusBadRequest, invalid, "deep")
		as("far too deep", "application/json", deep(100_000), http.StatusBadRequest, invalid, "deep")
		as("too long", "application/json", string(text)+strings.Repeat(" ", 1<<20), http.StatusRequestEntityTooLarge, "too_large", "")
		as("no digest", "application/json", string(text), http.StatusBadRequest, "invalid_field", "", "Content-Digest: sha-256=nonsense")
		as("digest", "application/json", string(text), http.StatusBadRequest, "digest_mismatch", "", "Repr-Digest: sha-256=:"+digest64("other")+":")
		chunked := func() any { return io.MultiReader(strings.NewReader(string(text) + strings.Repeat(" ", 1<<20))) }
		cases = append(cases, bad{good.what + ": too long, chunked", good.method, good.path, chunked(), http.StatusRequestEntityTooLarge, "too_large", "", nil})
		if good.what != "createUserKey" && good.what != "check" && good.what != "skipWebhook" {
			cases = append(cases, bad{good.what + ": nothing", good.method, good.path, nil, http.StatusBadRequest, invalid, "", nil})
		}
	}
	c.refuses(cases)

	set := "/sets/" + f.ids["SetId"]
	for body, title := range map[string]string{
		`{"title": "\\ud800"}`: `\ud800`, `{"title": "\ud83d\ude00 \uD83D\uDE00"}`: "😀 😀", `{"title": "<>&"}`: "<>&",
		`{"title": "padded"}` + strings.Repeat(" ", 1<<20-19): "padded", " \r\n\t{\"title\"\n:\"spaced\"} ": "spaced",
	} {
		o := c.bad("PUT", set, raw{"application/json; charset=utf-8", []byte(body)}).want(http.StatusOK).object()
		same(t, "title", o.text("title"), title)
	}
	c.bad("PUT", set, raw{"application/json", []byte(deep(16))}).problem(http.StatusBadRequest, "unknown_field", "deep")
	c.bad("PUT", set, raw{"", []byte(`{"title": "no type"}`)}).want(http.StatusOK)
	c.bad("PUT", set, raw{"APPLICATION/JSON", []byte(`{"title": "loud type"}`)}).want(http.StatusOK)
}

// texts are the rules of string fields: the longest accepted value, and whether it may have several
// lines.
var texts = map[string]struct {
	longest string
	lines   bool
}{
	"title": {strings.Repeat("é", 500), false}, "fullname": {strings.Repeat("é", 500), false}, "origin": {strings.Repeat("漢", 500), false},
	"format": {strings.Repeat("é", 100), false}, "label": {strings.Repeat("é", 100), false}, "description": {strings.Repeat("é", 8192), true},
	"about": {strings.Repeat("é", 8192), true}, "name": {strings.Repeat("é", 2048), false},
}

// hidden are characters that strings must not contain: control characters, and characters that
// change the direction of writing.
var hidden = []string{"\x00", "\x01", "\x1f", "\x7f", "\u0080", "\u009f", "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"}

// fixedField returns the error code for a changed value of a read-only field, or "" for other
// fields.
func fixedField(operation, field string) errs.Code {
	may := map[string][]string{
		"updateDataspace": {"title", "description", "visibility", "origin", "retention", "quota", "metadata"}, "updateSet": {"title", "description", "extract", "metadata"},
		"editResource": {"name", "description", "format", "metadata"}, "updateUser": {"fullname", "about", "sysadmin", "quota"},
		"updateLink":    {"label", "expires", "password", "maxUses", "maxBytes", "maxFileBytes", "types", "hidesPeople"},
		"updateUserKey": {"label", "expires", "scope", "dataspaceId", "setId", "networks"},
		"updateWebhook": {"url", "label", "events"}, "updateSchema": {"name", "title", "description", "types", "enforce", "schema"},
	}
	switch fields, changes := may[operation]; {
	case !changes || slices.Contains(fields, field):
		return ""
	case operation == "updateSet" && field == "dataspaceId":
		return errs.CodeSetCannotMove
	case operation == "editResource" && (field == "setId" || field == "dataspaceId"):
		return errs.CodeResourceMove
	}
	return errs.CodeReadOnlyField
}

// TestBadFieldsAreRefused sends invalid values for each field of each JSON body.
func TestBadFieldsAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	var cases, fine []bad
	for _, good := range f.jsonOperations() {
		with := func(field string, value any) object {
			fields := maps.Clone(good.body.(object))
			fields[field] = value
			return fields
		}
		add := func(field string, value any) {
			cases = append(cases, bad{good.what, good.method, good.path, with(field, value), http.StatusBadRequest, "invalid_field", field, nil})
		}
		cases = append(cases,
			bad{good.what, good.method, good.path, with("unknown", "x"), 400, "unknown_field", "unknown", nil},
			bad{good.what, good.method, good.path, with("Title", "x"), 400, "unknown_field", "Title", nil},
			bad{good.what, good.method, good.path, with("", "x"), 400, "unknown_field", "", nil})
		properties := routeOf(good.what).Get("requestBody", "content", "application/json", "schema", "properties")
		for _, field := range properties.Names() {
			// derived fields accept any value
			changing := slices.Contains([]string{"updateWebhook", "updateLink", "updateUserKey"}, good.what) && !properties.Get(field, "type").Exists()
			// their names are unknown fields in requests
			if slices.Contains([]string{"purged", "damaged", "movedTo", "linkId"}, field) || changing || good.what == "updateUserKey" && field == "madeWith" {
				continue
			}
			if code := fixedField(good.what, field); code != "" {
				cases = append(cases, bad{good.what, good.method, good.path, with(field, "another value"), http.StatusConflict, code, field, nil})
				continue
			}
			wrong := []any{1, 1.5, []string{"x"}, nil, object{}}
			switch field {
			case "metadata": // merged: null removes it
				wrong = wrong[:3]
			case "schema": // an object is valid
				wrong = wrong[:4]
			case "quota", "version", "maxUses", "maxBytes", "maxFileBytes": // a number is valid
				wrong[0] = -1
			case "types", "networks", "ids", "addTags", "removeTags", "resourceIds":
				wrong[2] = []any{"x", 1}
			}
			for _, value := range wrong {
				add(field, value)
			}
			if slices.Contains([]string{"sysadmin", "dryRun", "noData", "all", "enforce", "hidesPeople"}, field) {
				add(field, "true")
				continue
			}
			if field != "schema" {
				add(field, true)
			}
			rule, ok := texts[field]
			if !ok || field == "name" && good.what != "editResource" {
				continue
			}
			add(field, rule.longest+"x")
			for _, character := range hidden {
				add(field, "a"+character+"b")
			}
			for _, character := range []string{"\n", "\r", "\t"} {
				if !rule.lines {
					add(field, "a"+character)
				} else {
					fine = append(fine, bad{good.what, good.method, good.path, with(field, "a"+character), 0, "", "", nil})
				}
			}
			fine = append(fine, bad{good.what, good.method, good.path, with(field, rule.longest), 0, "", "", nil})
			if field != "name" {
				fine = append(fine, bad{good.what, good.method, good.path, with(field, ""), 0, "", "", nil})
			}
		}
	}
	c.refuses(cases)
	for i, ok := range fine {
		fields := ok.body.(object)
		for _, unique := range []string{"name", "username"} {
			if _, sent := fields[unique]; sent && ok.method == "POST" {
				fields[unique] = c.name("fine")
			}
		}
		if a := c.send(ok.method, ok.path, fields); a.status >= 300 {
			t.Errorf("%d: %s: %s", i, ok.what, a.short())
		}
	}
}

func TestBadNamesAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	user := c.get("/users/" + f.ids["UserId"]).object().text("username")
	taken := map[string]string{"/sets": c.get("/sets/" + f.ids["SetId"]).object().text("name"), "/dataspaces": c.get("/dataspaces/" + f.dataspace).object().text("name")}
	var cases []bad
	for path, code := range map[string]errs.Code{"/sets": "set_name_taken", "/dataspaces": "dataspace_name_taken"} {
		with := func(name any) object {
			fields := object{"name": name}
			if path == "/sets" {
				fields["dataspaceId"] = f.dataspace
			}
			return fields
		}
		for _, name := range []string{"", "a", strings.Repeat("a", 101), "Upper", "a b", "a.b", "a/b", "ä-ä", "a\u200eb", "a\x00b", "a\n", "٣٣", "ａａ"} {
			cases = append(cases, bad{"name", "POST", path, with(name), 400, "invalid_field", "name", nil})
		}
		missing := with("")
		delete(missing, "name")
		cases = append(cases, bad{"no name", "POST", path, missing, 400, "missing_field", "name", nil},
			bad{"taken", "POST", path, with(taken[path]), 409, code, "name", nil})
		for _, name := range []string{"ab", strings.Repeat("z", 100), "0-_9", "--", "__"} {
			c.send("POST", path, with(name)).want(http.StatusCreated)
			cases = append(cases, bad{"taken", "POST", path, with(name), 409, code, "name", nil})
		}
	}
	for _, name := range []string{"", strings.Repeat("a", 101), "a b", "a/b", "ü", "a\x00", "a+b"} {
		cases = append(cases, bad{"username", "POST", "/users", object{"username": name}, 400, "invalid_field", "username", nil})
	}
	c.send("POST", "/users", object{"username": strings.Repeat("U", 100)}).want(http.StatusCreated)
	c.send("POST", "/users", object{"username": "x"}).want(http.StatusCreated)
	privilege := func(role any) object {
		return object{"userId": f.ids["UserId"], "dataspaceId": f.dataspace, "role": role}
	}
	cases = append(cases,
		bad{"no username", "POST", "/users", object{}, 400, "missing_field", "username", nil},
		bad{"taken", "POST", "/users", object{"username": user}, 409, "username_taken", "username", nil},
		bad{"already used in capitals", "POST", "/users", object{"username": strings.ToUpper(user)}, 409, "username_taken", "username", nil},
		bad{"used by the first one", "POST", "/users", object{"username": "ADMIN"}, 409, "username_taken", "username", nil},
		bad{"no dataspace", "POST", "/sets", object{"name": "name"}, 400, "missing_field", "dataspaceId", nil},
		bad{"no user", "POST", "/privileges", object{"dataspaceId": f.dataspace, "role": "admin"}, 400, "missing_field", "userId", nil},
		bad{"no dataspace", "POST", "/privileges", object{"userId": "me", "role": "admin"}, 400, "missing_field", "dataspaceId", nil},
		bad{"no role", "POST", "/privileges", object{"userId": "me", "dataspaceId": f.dataspace}, 400, "missing_field", "role", nil},
		bad{"role", "POST", "/privileges", privilege("owner"), 400, "invalid_field", "role", nil},
		bad{"role", "POST", "/privileges", privilege(""), 400, "invalid_field", "role", nil},
		bad{"role", "POST", "/privileges", privilege("Admin"), 400, "invalid_field", "role", nil},
		bad{"visibility", "PUT", "/dataspaces/" + f.dataspace, object{"visibility": "all"}, 400, "invalid_field", "visibility", nil},
		bad{"visibility", "POST", "/dataspaces", object{"name": "name", "visibility": ""}, 400, "invalid_field", "visibility", nil},
		bad{"expires", "POST", "/users/me/keys", object{"expires": "tomorrow"}, 400, "invalid_field", "expires", nil},
		bad{"expires", "POST", "/users/me/keys", object{"expires": ""}, 400, "invalid_field", "expires", nil},
		bad{"expired", "POST", "/users/me/keys", object{"expires": "2001-01-01"}, 400, "invalid_field", "expires", nil},
		bad{"expired", "POST", "/users/me/keys", object{"expires": "1901"}, 400, "invalid_field", "expires", nil},
		bad{"no name", "PATCH", "/resources/" + f.ids["ResourceId"], object{"name": ""}, 400, "invalid_field", "name", nil},
	)
	c.refuses(cases)
}
