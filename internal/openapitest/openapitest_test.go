package openapitest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/internal/openapitest"
)

func load(t *testing.T) *openapitest.Document {
	t.Helper()
	document, err := openapitest.Load(filepath.Join("testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestFind: a path without parameters precedes a template that also matches.
func TestFind(t *testing.T) {
	t.Parallel()
	document := load(t)
	for request, want := range map[string]string{
		"GET /items/x": "getItem x", "HEAD /items/x/": "getItem x", "PUT /items/first": "putItem first", "GET /items/first": "getFirst ",
		"POST /items/x": "", "GET /items": "", "GET /items/x/y": "", "GET /other/x": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := ""
		if operation, values := document.Find(method, path); operation != nil {
			got = operation.ID + " " + values["id"]
		}
		if got != want {
			t.Errorf("%s finds %q, not %q", request, got, want)
		}
	}
	if component := document.Operation("getItem").PathParameters[0].Component; component != "ItemId" || document.Operation("none") != nil {
		t.Errorf("the parameter is the component %q", component)
	}
}

// TestNodes: nodes follow references, and a node that the document lacks validates nothing.
func TestNodes(t *testing.T) {
	t.Parallel()
	item := load(t).Operation("putItem").Get("requestBody", "content", "application/json", "schema")
	if names := item.Get("properties").Names(); !slices.Equal(names, []string{"a/b~c", "word"}) || item.Get("additionalProperties").Value() != false {
		t.Errorf("the item has the properties %q", names)
	}
	word := item.Get("properties", "word")
	if word.Get("description").Text() != "A word." || !slices.Equal(word.Get("examples").Strings(), []string{"short"}) {
		t.Errorf("the word is %v", word.Get("description"))
	}
	date, required := item.Get("properties", "a/b~c"), item.Get("required")
	for _, c := range []struct {
		node  openapitest.Node
		value any
		valid bool
	}{
		{word, "short", true}, {word, "longer", false}, {word, "", false}, {word, 1, false}, {date, "2024-02-29", true}, {date, "2023-02-29", false},
		{word.Get("none"), "short", false}, {required.Get("0"), "short", false}, {required.Get("1"), "short", false}, {openapitest.Node{}, "short", false},
	} {
		if err := c.node.Validate(c.value); (err == nil) != c.valid {
			t.Errorf("%v: %v", c.value, err)
		}
	}
}

// TestValidateRequest violates each rule for requests. The error names the rule.
func TestValidateRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ target, offset, err string }{
		"good":                 {"/items/é?sort=age&limit=1&full=true&tag=a&tag=b", "0", ""},
		"path":                 {"/items/A?sort=age", "0", `path parameter "id"`},
		"required query":       {"/items/a", "0", `query parameter "sort": is required`},
		"required header":      {"/items/a?sort=age", "", `header parameter "Offset": is required`},
		"unknown":              {"/items/a?sort=age&colour=red", "0", `query parameter "colour" is unknown`},
		"repeated":             {"/items/a?sort=age&limit=1&limit=2", "0", `query parameter "limit": must be sent once`},
		"integer":              {"/items/a?sort=age&limit=x", "0", `query parameter "limit"`},
		"empty integer":        {"/items/a?sort=age&limit=", "0", `query parameter "limit"`},
		"range":                {"/items/a?sort=age&limit=0", "0", `query parameter "limit"`},
		"boolean":              {"/items/a?sort=age&full=1", "0", `query parameter "full": must be true or false`},
		"schema without type":  {"/items/a?sort=size", "0", `query parameter "sort"`},
		"items":                {"/items/a?sort=age&tag=longer", "0", `query parameter "tag"`},
		"number of items":      {"/items/a?sort=age&tag=a&tag=b&tag=c", "0", `query parameter "tag"`},
		"header":               {"/items/a?sort=age", "-1", `header parameter "Offset"`},
		"query that is broken": {"/items/a?sort=age&limit=%zz", "0", "query: "},
	} {
		r := httptest.NewRequest(http.MethodGet, c.target, nil)
		if c.offset != "" {
			r.Header.Set("Offset", c.offset)
		}
		expect(t, name, validate(t, r, ""), c.err)
	}
	body := httptest.NewRequest(http.MethodGet, "/items/a?sort=age", nil)
	body.Header.Set("Offset", "0")
	expect(t, "unexpected body", validate(t, body, "x"), "body: the operation takes no body")
}

// TestValidateBody violates each rule for bodies. The error names the rule.
func TestValidateBody(t *testing.T) {
	t.Parallel()
	part := func(header, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + content + "\r\n"
	}
	form := func(parts ...string) string { return strings.Join(parts, "") + "--b--\r\n" }
	file := part(`name=file; filename=x`+"\r\nContent-Type: image/png\r\nDigest: sha-256", "\x00\xff")
	const multipart = "multipart/form-data; boundary=b"
	for name, c := range map[string]struct{ media, body, err string }{
		"JSON":                  {"application/json; charset=utf-8", `{"word": "a"}`, ""},
		"missing field":         {"application/json", `{}`, "word"},
		"broken JSON":           {"application/json", `{`, "body: "},
		"missing":               {"application/json", "", "body: is required"},
		"other media type":      {"text/html", "x", `content type "text/html" is not in the document`},
		"no media type":         {"", "x", "content type"},
		"bytes without schema":  {"application/octet-stream", "x", ""},
		"CSV":                   {"text/csv", "a,b\n1,2\n", ""},
		"broken CSV":            {"text/csv", "a,b\n1\n", "wrong number of fields"},
		"form":                  {multipart, form(file, part("name=word", "a"), part("name=more\r\nContent-Type: application/json", "{}")), ""},
		"form without file":     {multipart, form(part("name=word", "a")), "file"},
		"unknown part":          {multipart, form(file, part("name=other", "a")), "other"},
		"invalid part":          {multipart, form(file, part("name=word", "longer")), "word"},
		"repeated part":         {multipart, form(file, part("name=word", "a"), part("name=word", "a")), `part "word" must be sent once`},
		"media type of a part":  {multipart, form(file, part("name=word\r\nContent-Type: image/png", "a")), `part "word": content type "image/png"`},
		"header of a part":      {multipart, form(part("name=file\r\nDigest: md5", "a")), `part "file": header Digest`},
		"form that is cut off":  {multipart, file, "body: "},
		"form without boundary": {"multipart/form-data", form(file), "body: "},
	} {
		r := httptest.NewRequest(http.MethodPut, "/items/a", nil)
		r.Header.Set("Content-Type", c.media)
		expect(t, name, validate(t, r, c.body), c.err)
	}
}

// TestValidateResponse violates each rule for responses. The error names the rule.
func TestValidateResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ method, status, age, media, body, err string }{
		"good":             {"GET", "200", "9", "application/json", `{"word": "a"}`, ""},
		"HEAD":             {"HEAD", "200", "9", "application/json", "", ""},
		"body":             {"GET", "200", "9", "application/json", `{"word": 1}`, "word"},
		"missing header":   {"GET", "200", "", "application/json", `{"word": "a"}`, "header Age: is required"},
		"header":           {"HEAD", "200", "10", "application/json", "", "header Age"},
		"header of a type": {"HEAD", "200", "old", "application/json", "", "header Age"},
		"media type":       {"GET", "200", "9", "text/plain", "a", `content type "text/plain" is not in the document`},
		"lines":            {"GET", "206", "", "application/jsonl", "1\n2\n", ""},
		"line":             {"GET", "206", "", "application/jsonl", "1\n\"2\"\n", "/1"},
		"cut off line":     {"GET", "206", "", "application/jsonl", "1\n2", "line"},
		"default":          {"GET", "404", "", "image/png", "ab", ""},
		"of any type":      {"GET", "404", "", "image/png", "a", "minLength"},
	} {
		r := &http.Response{Request: httptest.NewRequest(c.method, "/items/a", nil), Header: http.Header{"Content-Type": {c.media}}, Body: io.NopCloser(nil)}
		if c.age != "" {
			r.Header.Set("Age", c.age)
		}
		expect(t, name, load(t).Operation("getItem").Response(c.status).ValidateResponse(r, []byte(c.body)), c.err)
	}
	r := &http.Response{StatusCode: http.StatusTeapot}
	expect(t, "unknown status", load(t).Operation("putItem").Response("418").ValidateResponse(r, nil), "the document has no status 418")
}

func validate(t *testing.T, r *http.Request, body string) error {
	t.Helper()
	operation, values := load(t).Find(r.Method, r.URL.Path)
	return operation.ValidateRequest(r, values, []byte(body))
}

// expect compares an error with a part of its message, which is "" for no error.
func expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, not %q", name, err, want)
	}
}
