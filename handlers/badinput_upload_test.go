package handlers_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/oklog/ulid/v2"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

// badForms returns uploads that must be refused, both new files and replacements. good contains the
// parts that every form needs.
func badForms(good ...part) []bad {
	const invalid, field, missing = errs.CodeInvalidBody, errs.CodeInvalidField, errs.CodeMissingField
	var cases []bad
	add := func(what string, body any, code errs.Code, blamed string, headers ...string) {
		cases = append(cases, bad{what, "", "", body, http.StatusBadRequest, code, blamed, headers})
	}
	with := func(parts ...part) raw { return form(append(append([]part{}, good...), parts...)...) }
	whole := with(file("a.txt", "content"))
	ok := file("a", "content")
	own, other := sha256Hex("content"), sha256Hex("other")

	add("no boundary", raw{"multipart/form-data", whole.body}, invalid, "")
	add("another boundary", raw{"multipart/form-data; boundary=other", whole.body}, invalid, "")
	add("no body", raw{whole.contentType, nil}, invalid, "")
	add("not multipart", raw{whole.contentType, []byte("content")}, invalid, "")
	for _, left := range []int{1, 2, 4, 10, len(whole.body) / 2, len(whole.body) - 10} {
		add(fmt.Sprintf("cut off %d bytes before the end", left), raw{whole.contentType, whole.body[:len(whole.body)-2-left]}, invalid, "")
	}
	add("no file", with(text("name", "n")), missing, "file")
	add("no file chosen", with(file("", "")), missing, "file")
	add("two files", with(ok, ok), field, "file")
	add("two names", with(text("name", "a"), text("name", "a"), ok), field, "name")
	add("unknown part", with(ok, text("color", "red")), errs.CodeUnknownField, "color")
	add("unknown part before the file", with(text("Name", "x"), ok), errs.CodeUnknownField, "Name")
	many := []part{ok}
	for range 1000 {
		many = append(many, text("description", "d"))
	}
	add("1,000 parts", with(many...), field, "description")
	add("a part without a name", with(part{disposition: `filename="x"`, body: "x"}, ok), invalid, "")
	add("a part that is no form-data", with(part{disposition: `x"; name="`, body: "x"}, ok), invalid, "")
	add("16 KiB of part header", with(file("a", "x", "X-Long: "+strings.Repeat("x", 16<<10))), invalid, "")
	add("1,000 headers of a part", with(file("a", "x", strings.Split(strings.Repeat("X-Many: xxxxxxxxxxxxxxxx\n", 1000), "\n")[:1000]...)), invalid, "")
	add("an encoded file", with(file("a", "Y29udGVudA==", "Content-Transfer-Encoding: base64")), field, "file")
	add("a quoted-printable file", with(file("a", "con=\r\ntent", "Content-Transfer-Encoding: quoted-printable")), field, "file")
	add("an encoded text", with(part{disposition: `name="name"`, headers: []string{"Content-Transfer-Encoding: base64"}, body: "eA=="}, ok), field, "name")

	for _, character := range append([]string{"\n", "\r", "\t"}, hidden...) {
		add("name", with(text("name", "a"+character), ok), field, "name")
		add("format", with(text("format", character+"a"), ok), field, "format")
		if character != "\n" && character != "\r" {
			add("file name", with(file("a"+character+".txt", "x")), headerCode(character), headerField(character))
		}
		if !strings.ContainsAny(character, "\n\r\t") {
			add("description", with(text("description", "a"+character+"b"), ok), field, "description")
		}
	}
	for name, longest := range map[string]string{"name": texts["name"].longest, "format": texts["format"].longest, "description": texts["description"].longest} {
		add("too long a "+name, with(text(name, longest+"x"), ok), field, name)
		add("far too long a "+name, with(text(name, strings.Repeat("x", 100_000)), ok), field, name)
		add("no UTF-8 in "+name, with(text(name, "a\xff"), ok), field, name)
	}
	add("a file name of 10 KB", with(file(strings.Repeat("x", 10_000), "x")), field, "file")
	add("a file name that is no UTF-8", with(file("a\xff", "x")), field, "file")
	for _, nothing := range []string{".", "..", "a/", "/", "a/..", `C:\.`} {
		add("the file name "+nothing, with(file(nothing, "x")), missing, "name")
	}
	add("neither file name nor name", with(part{disposition: `name="file"`, body: "x"}), missing, "name")
	add("no type", with(file("a", "x", "Content-Type: nonsense")), field, "file")
	add("too long a type", with(file("a", "x", "Content-Type: text/"+strings.Repeat("x", 300))), field, "file")
	add("a charset of a text", with(part{disposition: `name="name"`, headers: []string{"Content-Type: text/plain; charset=utf-16"}, body: "x"}, ok), field, "name")

	add("sha256 of something else", with(ok, text("sha256", other)), "digest_mismatch", "file")
	add("sha256 before the file", with(text("sha256", other), ok), "digest_mismatch", "file")
	for _, nonsense := range []string{"", "x", own[1:], own + "0", "g" + own[1:]} {
		add("no sha256", with(text("sha256", nonsense), ok), field, "sha256")
	}
	for _, header := range []string{"Content-Digest", "Repr-Digest"} {
		add(header+" of a part", with(file("a", "content", header+": sha-256=:"+digest64("other")+":")), "digest_mismatch", "file")
		add(header+" of the body", whole, "digest_mismatch", "", header+": sha-256=:"+digest64("content")+":")
		for _, nonsense := range []string{"sha-256=", "sha-256=::", "sha-256=:!:", "sha-256=:AAAA:", "sha-256=" + digest64("content")} {
			add(header+" of a part", with(file("a", "content", header+": "+nonsense)), field, "file")
			add(header+" of the body", whole, field, "", header+": "+nonsense)
		}
	}
	for _, contentType := range []string{"", "application/json", "text/plain", "multipart/mixed; boundary=" + boundary, "multipart/form-data boundary=x; y", "application/octet-stream"} {
		cases = append(cases, bad{"type " + contentType, "", "", raw{contentType, whole.body}, http.StatusUnsupportedMediaType, "unsupported_media_type", "", nil})
	}
	return append(cases, bad{"encoding", "", "", whole, http.StatusUnsupportedMediaType, "unsupported_media_type", "", []string{"Content-Encoding: gzip"}})
}

// headerCode returns the error code for a character in a part's header. A control character makes
// the header invalid. Another hidden character makes the file name invalid.
func headerCode(character string) errs.Code {
	if character < "\u0080" && character != "\t" {
		return errs.CodeInvalidBody
	}
	return errs.CodeInvalidField
}

func headerField(character string) string {
	if headerCode(character) == errs.CodeInvalidBody {
		return ""
	}
	return "file"
}

func TestBadUploadsAreRefused(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	f := c.newFixture(nil)
	set, resource := text("setId", f.ids["SetId"]), "/resources/"+f.ids["ResourceId"]
	var cases []bad
	for _, b := range badForms(set) {
		b.method, b.path = "POST", "/resources"
		cases = append(cases, b)
	}
	for _, b := range badForms() {
		b.method, b.path = "PUT", resource
		cases = append(cases, b)
	}
	ok := file("a", "content")
	elsewhere := f.newSet()
	member := f.newMember("member")
	c.refuses(append(cases,
		bad{"no set", "POST", "/resources", form(ok), 400, "missing_field", "setId", nil},
		bad{"no set", "POST", "/resources", form(text("setId", ""), ok), 400, "missing_field", "setId", nil},
		bad{"neither set nor file", "POST", "/resources", form(text("name", "x")), 400, "missing_field", "setId", nil},
		bad{"nothing", "POST", "/resources", form(), 400, "missing_field", "setId", nil},
		bad{"nothing", "PUT", resource, form(), 400, "missing_field", "file", nil},
		bad{"two sets", "POST", "/resources", form(set, set, ok), 400, "invalid_field", "setId", nil},
		bad{"a set as long as a book", "POST", "/resources", form(text("setId", strings.Repeat("x", 100_000)), ok), 400, "invalid_field", "setId", nil},
		bad{"move", "PUT", resource, form(text("setId", elsewhere), ok), 409, "resource_cannot_move", "setId", nil},
		bad{"move", "PATCH", resource, object{"setId": elsewhere}, 409, "resource_cannot_move", "setId", nil},
		bad{"not this version", "PUT", resource, form(ok), 412, "precondition_failed", "", []string{`If-Match: "x"`}},
		bad{"found before it is read", "PUT", "/resources/" + ulid.Make().String(), form(text("color", "red")), 404, "resource_not_found", "", nil},
	))
	member.refuses([]bad{
		{"refused before it is read", "PUT", resource, form(text("color", "red")), 403, "forbidden", "", nil},
		{"refused at the set", "POST", "/resources", form(set, text("color", "red")), 403, "forbidden", "", nil},
		{"refused after the file", "POST", "/resources", form(ok, set), 403, "forbidden", "", nil},
		{"the first error in the body is reported", "POST", "/resources", form(text("color", "red"), set), 400, "unknown_field", "color", nil},
	})
}

// TestUploadLimitIsCheckedEarly tests that a file that is too large is refused as early as
// possible.
func TestUploadLimitIsCheckedEarly(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	c := ownGateway(t, repository.Config{MaxUpload: limit}, handlers.Config{})
	f := c.newFixture(nil)
	set, resource := text("setId", f.ids["SetId"]), "/resources/"+f.ids["ResourceId"]
	large, huge := form(set, file("a", strings.Repeat("x", limit+1))), form(set, file("a", strings.Repeat("x", limit+2<<20)))
	var cases []bad
	for _, to := range []string{"POST /resources", "PUT " + resource} {
		method, path, _ := strings.Cut(to, " ")
		for _, body := range []raw{large, huge} {
			chunked := io.MultiReader(strings.NewReader(string(body.body)))
			cases = append(cases,
				bad{"of known length", method, path, body, http.StatusRequestEntityTooLarge, "too_large", "file", nil},
				bad{"chunked", method, path, chunked, http.StatusRequestEntityTooLarge, "too_large", "file", []string{"Content-Type: " + body.contentType}})
		}
	}
	c.refuses(cases)
	c.upload(f.ids["SetId"], "b", strings.Repeat("x", limit))

	// The service does not wait for a body whose announced length is too large.
	_, reader := c.dial("POST /v1/resources HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: %s\r\nContent-Length: 1000000000000\r\n\r\n", c.key, large.contentType)
	c.readRaw(reader, "POST", "/resources").problem(http.StatusRequestEntityTooLarge, "too_large", "file")
}

// TestFullDiskLeavesNothing tests that an upload without enough disk space leaves nothing, and that
// other requests still succeed.
func TestFullDiskLeavesNothing(t *testing.T) {
	oneNode(t)
	t.Parallel()
	disk := blobstest.NewFaultFS(directory.OS{})
	g, err := openGateway(t.TempDir(), disk, repository.Config{})
	if err != nil {
		t.Fatal(err)
	}
	g.serve(handlers.Config{})
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	})
	c := &client{gateway: g, t: t, key: g.admin}
	f := c.newFixture(nil)
	resource := "/resources/" + f.ids["ResourceId"]
	body := form(text("setId", f.ids["SetId"]), file("a", "more"))
	for _, op := range []blobstest.Op{blobstest.Create, blobstest.Write, blobstest.Sync} {
		disk.Arm(blobstest.Fault{Op: op, N: 1, Sticky: true, Err: syscall.ENOSPC})
		c.refuses([]bad{
			{fmt.Sprint(op), "POST", "/resources", body, http.StatusInsufficientStorage, "no_space", "", nil},
			{fmt.Sprint(op), "PUT", resource, form(file("a", "more")), http.StatusInsufficientStorage, "no_space", "", nil},
		})
		same(t, "the file", string(c.get(resource+"/data").want(http.StatusOK).body), "content")
		c.send("PATCH", resource, object{"description": fmt.Sprint(op)}).want(http.StatusOK)
	}
	cookie, browser := c.signIn()
	disk.Arm(blobstest.Fault{Op: blobstest.Sync, N: 1, Err: errors.New("I/O error")})
	c.bad("POST", "/resources", body).problem(http.StatusInternalServerError, "read_only", "")
	same(t, "status", c.get("/status").object().text("status"), "READ-ONLY")
	a := c.bad("PATCH", resource, object{"name": "x"}).problem(http.StatusServiceUnavailable, "read_only", "")
	same(t, "Retry-After", a.header.Get("Retry-After"), "1")
	same(t, "the file", string(c.get(resource+"/data").want(http.StatusOK).body), "content")
	a = browser.send("DELETE", "/session", nil, cookie).problem(http.StatusServiceUnavailable, "read_only", "")
	same(t, "the browser forgets", strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0"), true)
}

// TestStatusWithoutMetadata tests the status of a service that cannot read its metadata.
func TestStatusWithoutMetadata(t *testing.T) {
	t.Parallel()
	g, err := openGateway(t.TempDir(), directory.OS{}, repository.Config{})
	if err != nil {
		t.Fatal(err)
	}
	g.serve(handlers.Config{})
	c := &client{gateway: g, t: t, key: g.admin}
	path := c.newSpace(nil).newFile("a", "b")
	if err := g.close(); err != nil {
		t.Fatal(err)
	}
	g.serve(handlers.Config{})
	defer g.server.Close()
	same(t, "status", c.get("/status").want(http.StatusServiceUnavailable).object().text("status"), "FAILING")
	for _, path := range []string{"/resources", path, path + "/data"} {
		c.get(path).problem(http.StatusServiceUnavailable, "unavailable", "")
	}
	c.send("DELETE", path, nil).problem(http.StatusServiceUnavailable, "unavailable", "")
}
